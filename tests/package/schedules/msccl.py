# SPDX-License-Identifier: BSD-3-Clause
"""A reference MSCCL: runs the steps of an XML file in any permitted order.

Written from the documentation of MSCCL, not from our export. A thread block runs its
steps in order, and a step waits for the step on which it depends. Messages between two
GPUs on a channel arrive in order. Each place in a buffer contains a set of shares. A
copy replaces a set; a reduction unites two sets and fails if they overlap.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from xml.etree import ElementTree

Share = tuple[int, int]  # GPU of origin, and chunk
Buffers = dict[str, list[frozenset[Share]]]

#: Number of messages that a GPU can send before the peer receives them.
SLOTS = 2


class GpuSimulator:
    """All GPUs of a file, and the messages between them."""

    def __init__(self, text: str) -> None:
        self.algo = ElementTree.fromstring(text)
        assert self.algo.tag == "algo"
        self.buffers: dict[int, Buffers] = {}
        self._blocks: list[tuple[int, ElementTree.Element]] = []
        self._done: dict[tuple[int, int], int] = {}
        self._wires: dict[tuple[int, int, int], deque[list[frozenset[Share]]]] = {}
        for gpu in self.algo:
            self._add_gpu(gpu)
        assert sorted(self.buffers) == list(range(int(self.algo.get("ngpus", 0))))

    def _add_gpu(self, gpu: ElementTree.Element) -> None:
        me = _read_number(gpu, "id")
        own = [frozenset({(me, i)}) for i in range(_read_number(gpu, "i_chunks"))]
        empty: frozenset[Share] = frozenset()
        self.buffers[me] = {
            "i": own,
            "o": [empty] * _read_number(gpu, "o_chunks"),
            "s": [empty] * _read_number(gpu, "s_chunks"),
        }
        assert [_read_number(block, "id") for block in gpu] == list(range(len(gpu)))
        ends = [(block.get(end), block.get("chan"), end)
                for block in gpu for end in ("send", "recv")
                if block.get(end) != "-1"]  # fmt: skip
        assert len(ends) == len(set(ends)), "two thread blocks share a connection"
        for block in gpu:
            self._blocks.append((me, block))
            self._done[me, _read_number(block, "id")] = 0
            self._check_block(gpu, block)

    def _check_block(
        self, gpu: ElementTree.Element, block: ElementTree.Element
    ) -> None:
        """Reject the files that MSCCL's parser rejects."""
        waits = False
        for position, step in enumerate(block):
            assert _read_number(step, "s") == position
            depends = _read_number(step, "depid")
            if depends >= 0:
                other = gpu[depends][_read_number(step, "deps")]
                assert other.get("hasdep") == "1", "a dependency lacks hasdep"
                assert other.get("type") != "nop"
            if step.get("type") == "nop":
                waits = True
            else:
                assert depends >= 0 or not waits, "a step after nop steps must wait"
                assert 0 < _read_number(step, "cnt") < 72
                waits = False
        assert not waits, "a block ends with a step that only waits"

    def run_steps(self, seed: int) -> None:
        """Run all steps in random order."""
        rng = random.Random(seed)
        while any(self._list_remaining_steps()):
            ready = [
                each for each in self._list_remaining_steps() if self._can_run(*each)
            ]
            assert ready, "deadlock: no step can run"
            me, block, step = rng.choice(ready)
            self._run_step(me, block, step)
            self._done[me, _read_number(block, "id")] += 1
        assert not any(self._wires.values()), "a message was sent but not received"

    def _list_remaining_steps(
        self,
    ) -> Iterator[tuple[int, ElementTree.Element, ElementTree.Element]]:
        for me, block in self._blocks:
            done = self._done[me, _read_number(block, "id")]
            if done < len(block):
                yield me, block, block[done]

    def _can_run(
        self, rank: int, block: ElementTree.Element, step: ElementTree.Element
    ) -> bool:
        depends = _read_number(step, "depid")
        if depends >= 0 and self._done[rank, depends] <= _read_number(step, "deps"):
            return False
        kind = step.get("type")
        if kind in ("r", "rrc"):
            return bool(self._get_channel(_read_number(block, "recv"), rank, block))
        return (
            kind != "s"
            or len(self._get_channel(rank, _read_number(block, "send"), block)) < SLOTS
        )

    def _get_channel(
        self, start: int, end: int, block: ElementTree.Element
    ) -> deque[list[frozenset[Share]]]:
        key = (start, end, _read_number(block, "chan"))
        return self._wires.setdefault(key, deque())

    def _run_step(
        self, rank: int, block: ElementTree.Element, step: ElementTree.Element
    ) -> None:
        kind, count = step.get("type"), _read_number(step, "cnt")
        buffers = self.buffers[rank]
        source, start = buffers[step.get("srcbuf", "")], _read_number(step, "srcoff")
        target, begin = buffers[step.get("dstbuf", "")], _read_number(step, "dstoff")
        chunks = source[start : start + count]
        if kind == "nop":
            return
        if kind == "s":
            assert len(chunks) == count
            self._get_channel(rank, _read_number(block, "send"), block).append(chunks)
            return
        if kind in ("r", "rrc"):
            arrived = self._get_channel(
                _read_number(block, "recv"), rank, block
            ).popleft()
            assert len(arrived) == count, "a message has an unexpected length"
            chunks = _combine_shares(chunks, arrived) if kind == "rrc" else arrived
        elif kind == "re":
            chunks = _combine_shares(target[begin : begin + count], chunks)
        else:
            assert kind == "cpy"
        assert step.get("dstbuf") != "i", "a step writes to the input buffer"
        assert begin + count <= len(target)
        target[begin : begin + count] = chunks


def _combine_shares(
    some: list[frozenset[Share]], others: list[frozenset[Share]]
) -> list[frozenset[Share]]:
    for left, right in zip(some, others, strict=True):
        assert not left & right, "a share is combined twice"
    return [left | right for left, right in zip(some, others, strict=True)]


def _read_number(element: ElementTree.Element, name: str) -> int:
    return int(element.attrib[name])
