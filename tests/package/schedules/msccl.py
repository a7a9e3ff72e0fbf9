# SPDX-License-Identifier: BSD-3-Clause
"""A reference MSCCL: runs the steps of an XML file in any permitted order.

Written from the documentation of MSCCL, not from our export. A thread block runs its
steps in order; a step waits for its dependency; messages between two GPUs on a channel
arrive in order. Buffers contain sets of shares: a copy replaces a set; a reduction
unites two sets and fails if they overlap.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from xml.etree import ElementTree

Share = tuple[int, int]  # GPU of origin, and chunk
Buffers = dict[str, list[frozenset[Share]]]

#: Messages that a GPU can send before the peer receives them.
SLOTS = 2


class Gpus:
    """All GPUs of a file, and the messages between them."""

    def __init__(self, text: str) -> None:
        self.algo = ElementTree.fromstring(text)
        assert self.algo.tag == "algo"
        self.buffers: dict[int, Buffers] = {}
        self._blocks: list[tuple[int, ElementTree.Element]] = []
        self._done: dict[tuple[int, int], int] = {}
        self._wires: dict[tuple[int, int, int], deque[list[frozenset[Share]]]] = {}
        for gpu in self.algo:
            self._add(gpu)
        assert sorted(self.buffers) == list(range(int(self.algo.get("ngpus", 0))))

    def _add(self, gpu: ElementTree.Element) -> None:
        me = _number(gpu, "id")
        own = [frozenset({(me, i)}) for i in range(_number(gpu, "i_chunks"))]
        empty: frozenset[Share] = frozenset()
        self.buffers[me] = {
            "i": own,
            "o": [empty] * _number(gpu, "o_chunks"),
            "s": [empty] * _number(gpu, "s_chunks"),
        }
        assert [_number(block, "id") for block in gpu] == list(range(len(gpu)))
        ends = [(block.get(end), block.get("chan"), end)
                for block in gpu for end in ("send", "recv")
                if block.get(end) != "-1"]  # fmt: skip
        assert len(ends) == len(set(ends)), "two thread blocks share a connection"
        for block in gpu:
            self._blocks.append((me, block))
            self._done[me, _number(block, "id")] = 0
            self._check(gpu, block)

    def _check(self, gpu: ElementTree.Element, block: ElementTree.Element) -> None:
        """Refuse the files that MSCCL's parser refuses."""
        waits = False
        for position, step in enumerate(block):
            assert _number(step, "s") == position
            depends = _number(step, "depid")
            if depends >= 0:
                other = gpu[depends][_number(step, "deps")]
                assert other.get("hasdep") == "1", "nobody hears of that step"
                assert other.get("type") != "nop"
            if step.get("type") == "nop":
                waits = True
            else:
                assert depends >= 0 or not waits, "the last of a chain must wait itself"
                assert 0 < _number(step, "cnt") < 72
                waits = False
        assert not waits, "nothing follows steps that only wait"

    def run(self, seed: int) -> None:
        """Run all steps in random order."""
        rng = random.Random(seed)
        while any(self._left()):
            ready = [each for each in self._left() if self._can(*each)]
            assert ready, "all GPUs wait for each other"
            me, block, step = rng.choice(ready)
            self._do(me, block, step)
            self._done[me, _number(block, "id")] += 1
        assert not any(self._wires.values()), "somebody sends what nobody takes"

    def _left(self) -> Iterator[tuple[int, ElementTree.Element, ElementTree.Element]]:
        for me, block in self._blocks:
            done = self._done[me, _number(block, "id")]
            if done < len(block):
                yield me, block, block[done]

    def _can(
        self, me: int, block: ElementTree.Element, step: ElementTree.Element
    ) -> bool:
        depends = _number(step, "depid")
        if depends >= 0 and self._done[me, depends] <= _number(step, "deps"):
            return False
        kind = step.get("type")
        if kind in ("r", "rrc"):
            return bool(self._wire(_number(block, "recv"), me, block))
        return kind != "s" or len(self._wire(me, _number(block, "send"), block)) < SLOTS

    def _wire(
        self, start: int, end: int, block: ElementTree.Element
    ) -> deque[list[frozenset[Share]]]:
        key = (start, end, _number(block, "chan"))
        return self._wires.setdefault(key, deque())

    def _do(
        self, me: int, block: ElementTree.Element, step: ElementTree.Element
    ) -> None:
        kind, count = step.get("type"), _number(step, "cnt")
        buffers = self.buffers[me]
        source, start = buffers[step.get("srcbuf", "")], _number(step, "srcoff")
        target, begin = buffers[step.get("dstbuf", "")], _number(step, "dstoff")
        chunks = source[start : start + count]
        if kind == "nop":
            return
        if kind == "s":
            assert len(chunks) == count
            self._wire(me, _number(block, "send"), block).append(chunks)
            return
        if kind in ("r", "rrc"):
            arrived = self._wire(_number(block, "recv"), me, block).popleft()
            assert len(arrived) == count, "a message of another length arrives"
            chunks = _united(chunks, arrived) if kind == "rrc" else arrived
        elif kind == "re":
            chunks = _united(target[begin : begin + count], chunks)
        else:
            assert kind == "cpy"
        assert step.get("dstbuf") != "i", "the input is the caller's"
        assert begin + count <= len(target)
        target[begin : begin + count] = chunks


def _united(
    some: list[frozenset[Share]], others: list[frozenset[Share]]
) -> list[frozenset[Share]]:
    for left, right in zip(some, others, strict=True):
        assert not left & right, "a share is combined twice"
    return [left | right for left, right in zip(some, others, strict=True)]


def _number(element: ElementTree.Element, name: str) -> int:
    return int(element.attrib[name])
