# SPDX-License-Identifier: BSD-3-Clause
"""A PyTorch job on four gloo ranks that counts its own traffic.

Runs in a Python that has PyTorch. Writes a Kineto trace and a flight recorder dump per
rank, and the job's own counts (job.json), to a folder. Bytes are those of one call: the
buffer of an allreduce, a rank's part of an allgather, the block per peer of an
alltoall.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from pathlib import Path

os.environ.setdefault("TORCH_FR_BUFFER_SIZE", "2000")
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

import torch
import torch.distributed as dist

RANKS = 4
WORLD = (0, 1, 2, 3)
PAIRS = ((0, 1), (2, 3), (0, 2), (1, 3))

#: Number of calls by operation, members and bytes.
Counts = dict[str, int]


def count(counts: Counts, *key: object) -> None:
    """Count a call."""
    text = json.dumps(key)
    counts[text] = counts.get(text, 0) + 1


def call_collectives(members: tuple[int, ...], group: dist.ProcessGroup) -> Counts:
    """Call all collectives that traces describe fully; count one member's calls."""
    n = len(members)
    counts: Counts = {}
    part, whole = torch.ones(24), torch.ones(24 * n)
    halves = torch.ones(10 * n, dtype=torch.bfloat16)
    for _ in range(n):
        dist.all_reduce(halves, group=group)
        count(counts, "allreduce", members, 10 * n * 2)
        dist.all_gather_into_tensor(whole, part, group=group)
        count(counts, "allgather", members, 24 * 4)
    # gloo implements a reduce_scatter by an allreduce, and records the latter.
    dist.reduce_scatter_tensor(part, whole, group=group)
    count(counts, "allreduce", members, 24 * n * 4)
    even = torch.ones(6 * n, dtype=torch.float64)
    dist.all_to_all_single(torch.empty_like(even), even, group=group)
    count(counts, "alltoall", members, 6 * 8)
    dist.barrier(group=group)
    count(counts, "barrier", members, 0)
    return counts


def call_incomplete(rank: int) -> None:
    """Make calls that a flight recorder describes only in part: no roots, no splits."""
    dist.broadcast(torch.ones(5), 1)
    dist.reduce(torch.ones(5), 3)
    rows = [[1 + (s + 2 * t) % 5 for t in range(RANKS)] for s in range(RANKS)]
    come = [row[rank] for row in rows]
    dist.all_to_all_single(
        torch.ones(sum(come), 3), torch.ones(sum(rows[rank]), 3), come, rows[rank]
    )


def exchange_on_ring(
    rank: int, members: tuple[int, ...], group: dist.ProcessGroup
) -> Counts:
    """Send around a ring, with a different size per rank."""
    counts: Counts = {}
    place = members.index(rank)
    to, source = members[(place + 1) % len(members)], members[place - 1]
    sent = dist.isend(torch.ones(100 + rank), to, group=group)
    dist.recv(torch.ones(100 + source), source, group=group)
    sent.wait()
    count(counts, "send", (rank, to), (100 + rank) * 4)
    return counts


def run(rank: int, folder: Path) -> None:
    """Run one rank of the job."""
    store = f"file://{folder}/store"
    dist.init_process_group("gloo", store, rank=rank, world_size=RANKS)
    groups = {members: dist.new_group(list(members)) for members in PAIRS}
    everyone = [(WORLD, dist.group.WORLD), *groups.items()]
    counts: Counts = {}
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU]
    ) as profile:
        for members, group in everyone:
            if rank in members:
                done = call_collectives(members, group)
                if rank == members[0]:  # only one member counts collectives
                    counts.update(done)
                for key, calls in exchange_on_ring(rank, members, group).items():
                    counts[key] = counts.get(key, 0) + calls
        call_incomplete(rank)
    profile.export_chrome_trace(str(folder / "kineto" / f"trace_{rank}.json"))
    dump = torch._C._distributed_c10d._dump_fr_trace(True, False, False)
    (folder / "flight-recorder" / f"nccl_trace_rank_{rank}").write_bytes(dump)
    (folder / f"counts_{rank}.json").write_text(json.dumps(counts))
    dist.barrier()
    dist.destroy_process_group()


def main(folder: Path) -> None:
    """Run the ranks, and sum their counts."""
    for kind in ("kineto", "flight-recorder"):
        (folder / kind).mkdir(parents=True)
    fork = multiprocessing.get_context("fork")  # ranks reuse the imported PyTorch
    ranks = [fork.Process(target=run, args=(rank, folder)) for rank in range(RANKS)]
    for one in ranks:
        one.start()
    for one in ranks:
        one.join()
    if any(one.exitcode for one in ranks):
        raise SystemExit("a rank has failed")
    counts: Counts = {}
    for rank in range(RANKS):
        for key, calls in json.loads(
            (folder / f"counts_{rank}.json").read_text()
        ).items():
            counts[key] = counts.get(key, 0) + calls
    about = {"release": torch.__version__, "counts": counts}
    (folder / "job.json").write_text(json.dumps(about))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
