#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Compiles one Triton kernel of this file to PTX, without a GPU: kernels.py KERNEL CAPABILITY -o FILE (pip install triton)."""

import argparse
import pathlib

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(source, target, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(source + row * columns + at, mask=inside, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(target + row * columns + at, values / tl.sum(values, axis=0), mask=inside)


@triton.jit
def split_sum(source, partial, ticket, target, BLOCK: tl.constexpr):
    """Each program adds up a part; the last one, by an acquire-release ticket, adds up the parts."""
    part = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(partial + part, tl.sum(tl.load(source + part * BLOCK + at), axis=0))
    tl.debug_barrier()
    if tl.atomic_add(ticket, 1, sem="acq_rel", scope="gpu") == tl.num_programs(0) - 1:
        tl.debug_barrier()
        total = 0.0
        for i in range(tl.num_programs(0)):
            total += tl.load(partial + i, cache_modifier=".cg")
        tl.store(target, total)


@triton.jit
def ticket_lock(lock, counter, BLOCK: tl.constexpr):
    """Adds to a vector under a lock."""
    while tl.atomic_cas(lock, 0, 1, sem="acquire", scope="gpu") == 1:
        pass
    tl.debug_barrier()
    at = counter + tl.arange(0, BLOCK)
    tl.store(at, tl.load(at) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="release", scope="gpu")


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALISE: tl.constexpr):
    """Tiles by tensor copies, several stages, products by wgmma or tcgen05; SPECIALISE: warps with roles."""
    map_a = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    map_b = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    map_c = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    tiles_n = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tiles_n, tl.num_programs(0), warp_specialize=SPECIALISE):
        m, n = tile // tiles_n * BM, tile % tiles_n * BN
        sums = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            sums = tl.dot(map_a.load([m, k]), map_b.load([n, k]).T, sums)
        map_c.store([m, n], sums.to(tl.float16))


FLOATS = {"source": "*fp32", "target": "*fp32"}
MATRICES = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
KERNELS = {
    "softmax": (softmax, {**FLOATS, "columns": "i32"}, {"BLOCK": 1024}, {}),
    "split_sum": (split_sum, {**FLOATS, "partial": "*fp32", "ticket": "*i32"}, {"BLOCK": 1024}, {}),
    "ticket_lock": (ticket_lock, {"lock": "*i32", "counter": "*i32"}, {"BLOCK": 128}, {}),
    "matmul": (matmul, MATRICES, {"BM": 128, "BN": 128, "BK": 64, "SPECIALISE": False}, {"num_stages": 3}),
    "matmul_specialised": (matmul, MATRICES, {"BM": 128, "BN": 128, "BK": 64, "SPECIALISE": True}, {"num_stages": 3}),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", choices=sorted(KERNELS))
    parser.add_argument("capability", type=int, help="90, 100")
    parser.add_argument("-o", dest="output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    function, signature, constants, settings = KERNELS[options.kernel]
    names = {name: signature.get(name, "constexpr") for name in function.arg_names}
    # Sizes and pointers of real calls are multiples of 16; the compiler needs to know it to use tensor copies.
    attributes = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(function.arg_names) if name in signature}
    source = ASTSource(fn=function, signature=names, constexprs=constants, attrs=attributes)
    made = triton.compile(source, target=GPUTarget("cuda", options.capability, 32), options=settings)
    options.output.write_text(made.asm["ptx"])


if __name__ == "__main__":
    main()
