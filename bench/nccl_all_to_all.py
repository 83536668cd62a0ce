#!/usr/bin/env python3
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
"""NCCL's all-to-all through PyTorch between two GPUs, as a yardstick: rows of 7168 bf16 that go to the peer.

Prints one JSON object; where PyTorch, NCCL or a second GPU is missing it says so in one and exits with 0.
"""

import argparse
import json
import os
import socket
import statistics
import sys

HIDDEN = 7168


def report(**fields):
    print(json.dumps({"benchmark": "nccl_all_to_all", **fields}, indent=2))


def measure(rank, port, rows, warmups, runs, results):
    import torch
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2, device_id=torch.device("cuda", rank))
    for count in rows:
        # Half of what a rank sends goes to itself, as in an even routing; only the other half crosses the link.
        source = torch.randn(2 * count, HIDDEN, dtype=torch.bfloat16, device="cuda")
        target = torch.empty_like(source)
        times = []
        for run in range(warmups + runs):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            dist.barrier()
            torch.cuda.synchronize()
            begin.record()
            dist.all_to_all_single(target, source)
            end.record()
            torch.cuda.synchronize()
            if run >= warmups:
                times.append(begin.elapsed_time(end) * 1000)
        if rank == 0:
            middle = statistics.median(times)
            results.put({"rows": count, "bytes_peer": count * HIDDEN * 2, "median_us": middle, "runs_us": times,
                         "peer_gb_per_s": count * HIDDEN * 2 / middle / 1000})
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: [int(n) for n in text.split(",")], default=[128, 512, 2048, 8192])
    parser.add_argument("--warmups", type=int, default=5)
    parser.add_argument("--runs", type=int, default=20)
    args = parser.parse_args()
    try:
        import torch
        import torch.multiprocessing as mp
    except ImportError as missing:
        return report(missing=f"PyTorch: {missing}")
    if not torch.distributed.is_available() or not torch.distributed.is_nccl_available():
        return report(missing="NCCL in PyTorch")
    if torch.cuda.device_count() < 2:
        return report(missing=f"a second GPU: {torch.cuda.device_count()} found")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    results = mp.get_context("spawn").SimpleQueue()
    mp.spawn(measure, (port, args.rows, args.warmups, args.runs, results), nprocs=2)
    cases = []
    while not results.empty():
        cases.append(results.get())
    report(torch=torch.__version__, nccl=".".join(map(str, torch.cuda.nccl.version())), cases=cases)


if __name__ == "__main__":
    sys.exit(main())
