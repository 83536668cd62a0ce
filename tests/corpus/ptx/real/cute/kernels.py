#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""Compiles one CuTe DSL kernel of this file to PTX, without a GPU: kernels.py KERNEL ARCH -o FILE (pip install nvidia-cutlass-dsl)."""

import argparse
import os
import pathlib
import tempfile

SCRATCH = tempfile.TemporaryDirectory()
os.environ["CUTE_DSL_DUMP_DIR"] = SCRATCH.name  # where the compiler keeps its files; it reads this when it is imported

import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
from cutlass.cute.nvgpu import cpasync
from cutlass.cute.runtime import make_fake_compact_tensor
from cutlass.memory import SmemAllocator

ROWS, COLUMNS, STAGES, TILES = 64, 32, 3, 8


def barriers(stages):
    return cute.struct.MemRange[cutlass.Int64, 2 * stages]


def group(threads):
    return pipeline.CooperativeGroup(pipeline.Agent.Thread, threads)


@cute.kernel
def scale_by_tensor_copies(load: cute.CopyAtom, source: cute.Tensor, target: cute.Tensor):
    """One warp copies tiles into a ring by tensor copies; four others read, scale and store them."""
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())

    @cute.struct
    class Shared:
        bars: barriers(STAGES)
        ring: cute.struct.Align[cute.struct.MemRange[cutlass.Float32, ROWS * COLUMNS * STAGES], 128]

    shared = SmemAllocator().allocate(Shared)
    ring = shared.ring.get_tensor(cute.make_layout((ROWS, COLUMNS, STAGES), stride=(COLUMNS, 1, ROWS * COLUMNS)))
    pipe = pipeline.PipelineTmaAsync.create(
        num_stages=STAGES,
        producer_group=group(1),
        consumer_group=group(4),
        tx_count=ROWS * COLUMNS * 4,
        barrier_storage=shared.bars.data_ptr(),
        cta_layout_vmnk=cute.make_layout((1, 1, 1, 1)),
    )
    tiles = cute.zipped_divide(source, (ROWS, COLUMNS))
    to_shared, from_global = cpasync.tma_partition(load, 0, cute.make_layout(1), cute.group_modes(ring, 0, 2), tiles)
    if warp == 4:
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, STAGES)
        for tile in range(TILES):
            pipe.producer_acquire(state)
            cute.copy(
                load,
                from_global[(None, (tile, 0))],
                to_shared[(None, state.index)],
                tma_bar_ptr=pipe.producer_get_barrier(state),
            )
            pipe.producer_commit(state)
            state.advance()
        pipe.producer_tail(state)
    if warp < 4:
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
        for tile in range(TILES):
            pipe.consumer_wait(state)
            for i in range(ROWS * COLUMNS // 128):
                at = i * 128 + thread
                row, column = at // COLUMNS, at % COLUMNS
                target[tile * ROWS + row, column] = ring[row, column, state.index] * 2.0
            cute.arch.fence_proxy("async.shared", space="cta")
            pipe.consumer_release(state)
            state.advance()


@cute.kernel
def hand_over(source: cute.Tensor, target: cute.Tensor):
    """One warp fills a ring by plain stores, another reads it: full and empty barriers, no copy engine."""
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())

    @cute.struct
    class Shared:
        bars: barriers(2)
        ring: cute.struct.MemRange[cutlass.Float32, 32 * 2]

    shared = SmemAllocator().allocate(Shared)
    ring = shared.ring.get_tensor(cute.make_layout((32, 2)))
    pipe = pipeline.PipelineAsync.create(
        num_stages=2, producer_group=group(32), consumer_group=group(32), barrier_storage=shared.bars.data_ptr()
    )
    lane = thread % 32
    if warp == 0:
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, 2)
        for round in range(16):
            pipe.producer_acquire(state)
            ring[lane, state.index] = source[round * 32 + lane]
            pipe.producer_commit(state)
            state.advance()
        pipe.producer_tail(state)
    if warp == 1:
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, 2)
        for round in range(16):
            pipe.consumer_wait(state)
            target[round * 32 + lane] = ring[31 - lane, state.index]
            pipe.consumer_release(state)
            state.advance()


@cute.jit
def launch_scale(source: cute.Tensor, target: cute.Tensor):
    layout = cute.make_layout((ROWS, COLUMNS), stride=(COLUMNS, 1))
    load, view = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), source, layout, (ROWS, COLUMNS))
    scale_by_tensor_copies(load, view, target).launch(grid=[1, 1, 1], block=[160, 1, 1])


@cute.jit
def launch_hand_over(source: cute.Tensor, target: cute.Tensor):
    hand_over(source, target).launch(grid=[1, 1, 1], block=[64, 1, 1])


KERNELS = {
    "scale_by_tensor_copies": (launch_scale, (ROWS * TILES, COLUMNS)),
    "hand_over": (launch_hand_over, (512,)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", choices=sorted(KERNELS))
    parser.add_argument("arch", help="sm_90a, sm_100a")
    parser.add_argument("-o", dest="output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    launch, shape = KERNELS[options.kernel]
    stride = tuple(range(len(shape)))[::-1]
    tensors = [make_fake_compact_tensor(cutlass.Float32, shape, stride_order=stride, assumed_align=16) for _ in range(2)]
    made = cute.compile(launch, *tensors, options=f"--gpu-arch={options.arch} --keep-ptx --generate-line-info")
    options.output.write_text(str(made.__ptx__).rstrip("\0"))


if __name__ == "__main__":
    main()
