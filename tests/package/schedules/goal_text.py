# SPDX-License-Identifier: BSD-3-Clause
"""A strict reader of GOAL text, and an interpreter."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field


@dataclass
class GoalOperation:
    """A send, a receive, or computation in nanoseconds."""

    kind: str
    size: int
    peer: int  # -1: none
    requires: list[str] = field(default_factory=list)


_FORMS = (
    (re.compile(r"(l\d+): (send) (\d+)b to (\d+) tag 0"), "message"),
    (re.compile(r"(l\d+): (recv) (\d+)b from (\d+) tag 0"), "message"),
    (re.compile(r"(l\d+): (calc) (\d+)"), "work"),
)


def read_operations(text: str) -> list[dict[str, GoalOperation]]:
    """Read the operations of all ranks, by label."""
    head, *parts = text.split("\n\n")
    found = re.fullmatch(r"num_ranks (\d+)", head)
    assert found
    assert len(parts) == int(found[1])
    return [_read_rank(part.rstrip("\n"), rank) for rank, part in enumerate(parts)]


def _read_rank(part: str, rank: int) -> dict[str, GoalOperation]:
    first, *lines, last = part.split("\n")
    assert (first, last) == (f"rank {rank} {{", "}")
    operations: dict[str, GoalOperation] = {}
    for line in lines:
        if waits := re.fullmatch(r"(l\d+) requires (l\d+)", line):
            assert waits[2] in operations, "an operation waits for a later operation"
            operations[waits[1]].requires.append(waits[2])
            continue
        matches = [found for form, _ in _FORMS if (found := form.fullmatch(line))]
        assert len(matches) == 1, line
        label, kind, size, *peer = matches[0].groups()
        assert label not in operations
        operations[label] = GoalOperation(kind, int(size), int(peer[0]) if peer else -1)
    return operations


def run_operations(ranks: list[dict[str, GoalOperation]]) -> list[tuple[int, int, int]]:
    """Execute all operations; return source, target and bytes of all messages."""
    wires: dict[tuple[int, int], deque[int]] = {}
    done: list[set[str]] = [set() for _ in ranks]
    sent = []
    going = True
    while going:
        going = False
        for me, operations in enumerate(ranks):
            for label, one in operations.items():
                if label in done[me] or not done[me].issuperset(one.requires):
                    continue
                if one.kind == "send":
                    wires.setdefault((me, one.peer), deque()).append(one.size)
                    sent.append((me, one.peer, one.size))
                elif one.kind == "recv":
                    wire = wires.get((one.peer, me))
                    if not wire:
                        continue
                    assert wire.popleft() == one.size
                done[me].add(label)
                going = True
    assert all(map(len, done)) or all(not one for one in ranks)
    assert [len(one) for one in done] == [len(one) for one in ranks], "ranks hang"
    assert not any(wires.values())
    return sent
