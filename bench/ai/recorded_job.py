# SPDX-License-Identifier: BSD-3-Clause
"""A PyTorch job that counts its own traffic, for `topoloom record`.

torchrun passes a folder; every rank writes counts_RANK.json there. Bytes of a call
follow the profile: the buffer of an allreduce or bcast, all input of a
reduce_scatter, and one rank's part for other collectives.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

import torch
import torch.distributed as dist
from torch.distributed._functional_collectives import all_reduce, wait_tensor
from torch.nn.parallel import DistributedDataParallel

WORLD = (0, 1, 2, 3)
GROUPS = ((0, 1), (2, 3), (0, 2), (1, 3))
STEPS = 3


class Counts:
    """Counts of calls by operation, members, bytes and root."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.calls: dict[str, int] = {}

    def call(
        self, operation: str, members: tuple[int, ...], size: int, root: int = -1
    ) -> None:
        """Count a collective, but only on its first member."""
        if self.rank == members[0]:
            self._add(operation, members, size, root)

    def send(self, kind: str, target: int, size: int) -> None:
        """Count a message sent by this rank."""
        self._add(kind, (self.rank, target), size, -1)

    def _add(self, *key: object) -> None:
        text = json.dumps(key)
        self.calls[text] = self.calls.get(text, 0) + 1


def call_collectives(counts: Counts, members: tuple[int, ...], group: object) -> None:
    """Call every collective that gloo supports."""
    n, place = len(members), members.index(counts.rank)
    part, whole = torch.ones(24), torch.ones(24 * n)
    for _ in range(n):
        dist.all_reduce(torch.ones(10, dtype=torch.bfloat16), group=group)
        counts.call("allreduce", members, 20)
    wait_tensor(all_reduce(torch.ones(11), "sum", group))
    counts.call("allreduce", members, 44)
    dist.all_gather_into_tensor(whole, part, group=group)
    counts.call("allgather", members, 96)
    dist.all_gather([torch.ones(5) for _ in members], torch.ones(5), group=group)
    counts.call("allgather", members, 20)
    dist.reduce_scatter_tensor(part, whole, group=group)
    counts.call("reduce_scatter", members, 96 * n)
    even = torch.ones(6 * n, dtype=torch.float64)
    dist.all_to_all_single(torch.empty_like(even), even, group=group)
    counts.call("alltoall", members, 48)
    for at, root in enumerate(members):
        dist.broadcast(torch.ones(7), root, group=group)
        counts.call("bcast", members, 28, at)
        dist.reduce(torch.ones(8), root, group=group)
        counts.call("reduce", members, 32, at)
        is_root = counts.rank == root
        parts = [torch.ones(9) for _ in members] if is_root else None
        dist.gather(torch.ones(9), parts, root, group=group)
        counts.call("gather", members, 36, at)
        dist.scatter(torch.ones(9), parts, root, group=group)
        counts.call("scatter", members, 36, at)
    dist.barrier(group=group)
    counts.call("barrier", members, 0)
    call_uneven_collectives(counts, members, place, group)


def call_uneven_collectives(
    counts: Counts, members: tuple[int, ...], place: int, group: object
) -> None:
    """Exchange rows of three numbers, with a different number of rows per pair."""
    n = len(members)
    rows = [[1 + (s + 2 * t) % 5 for t in range(n)] for s in range(n)]
    rows[0] = [2] * n  # rank 0 sends equal numbers of rows
    come = [row[place] for row in rows]
    given, taken = torch.ones(sum(rows[place]), 3), torch.ones(sum(come), 3)
    dist.all_to_all_single(taken, given, come, rows[place], group=group)
    for peer, count in zip(members, rows[place], strict=True):
        if peer != counts.rank:
            counts.send("direct", peer, 12 * count)


def call_messages(counts: Counts, members: tuple[int, ...], group: object) -> None:
    """Send around a ring, with a different size per rank."""
    place, size = members.index(counts.rank), 100 + counts.rank
    to, source = members[(place + 1) % len(members)], members[place - 1]
    taken = torch.ones(100 + source)
    for _ in range(2):
        sent = dist.isend(torch.ones(size), to, group=group)
        dist.recv(taken, source, group=group)
        sent.wait()
        counts.send("send", to, 4 * size)
    both = [
        dist.P2POp(dist.isend, torch.ones(size), to, group),
        dist.P2POp(dist.irecv, taken, source, group),
    ]
    for work in dist.batch_isend_irecv(both):
        work.wait()
    counts.send("send", to, 4 * size)


def data_parallel(counts: Counts) -> None:
    """Train a few steps with DDP; one bucket contains all gradients."""
    layer = torch.nn.Linear(50, 30)
    copies = DistributedDataParallel(layer)
    # The constructor compares the number, sizes and strides of the three parameters,
    # and copies rank 0's parameters. The first step broadcasts the buckets.
    size = sum(4 * one.numel() for one in layer.parameters())
    counts.call("allgather", WORLD, 8)
    for bytes in (3 * 2 * 8, size, (2 + 1) * 4, 4):
        counts.call("bcast", WORLD, bytes, 0)
    for _ in range(STEPS):
        copies(torch.ones(4, 50)).sum().backward()
        counts.call("allreduce", WORLD, size)


def main(folder: Path) -> None:
    """Run one rank of the job."""
    dist.init_process_group("gloo")
    counts = Counts(dist.get_rank())
    groups = {members: dist.new_group(list(members)) for members in GROUPS}
    for members, group in ((WORLD, dist.group.WORLD), *groups.items()):
        if counts.rank in members:
            call_collectives(counts, members, group)
            call_messages(counts, members, group)
    data_parallel(counts)
    text = json.dumps({"release": torch.__version__, "counts": counts.calls})
    (folder / f"counts_{counts.rank}.json").write_text(text)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
