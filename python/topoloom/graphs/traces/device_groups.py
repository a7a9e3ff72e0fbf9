# SPDX-License-Identifier: BSD-3-Clause
"""The devices of groups and pairs in HLO, which number replicas or partitions.

A group of replicas exists in each partition, and vice versa. A few bytes of text can
thus name any number of devices, so their number is limited by the size of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.graphs.traces.replica_groups import Groups, cut_groups, parse_groups
from topoloom.graphs.traces.trace import Members, Trace

#: Limits: a constant, plus a number per character of the program. They bound memory by
#: 64 MiB and 40 bytes per character, and the time of counting.
_MAX_DEVICES, _DEVICES_PER_LETTER = 1 << 19, 0.5  # in different groups
_MAX_GROUPS, _GROUPS_PER_LETTER = 1 << 16, 0.125
_MAX_ENTRIES, _ENTRIES_PER_LETTER = 1 << 17, 0.125  # different collectives, messages
_MAX_COUNTED, _COUNTED_PER_LETTER = 1 << 20, 5.0


class DeviceGroups:
    """Finds the devices of groups and pairs; equal groups are parsed once.

    Devices are numbered by replica. `size` is the number of characters of the program.
    """

    def __init__(self, trace: Trace, replicas: int, partitions: int, size: int) -> None:
        self._trace = trace
        self._replicas, self._partitions = replicas, partitions
        self._known: dict[tuple[str, str], list[Members]] = {}
        self._devices_left = _MAX_DEVICES + _DEVICES_PER_LETTER * size
        self._groups_left = _MAX_GROUPS + _GROUPS_PER_LETTER * size
        self._max_entries = _MAX_ENTRIES + _ENTRIES_PER_LETTER * size
        self._counted_left = _MAX_COUNTED + _COUNTED_PER_LETTER * size

    def list_groups(self, text: str, mode: str) -> list[Members]:
        """List the groups at the start of a text; `mode` is what their members are."""
        key = cut_groups(text), mode
        if key not in self._known:
            self._known[key] = self._parse(*key)
        self._count(len(self._known[key]))
        return self._known[key]

    def iterate_pairs(
        self, numbers: Sequence[int], mode: str
    ) -> Iterator[tuple[int, int]]:
        """Yield pairs of devices, given those of replicas or partitions in turn."""
        for row in self._expand([np.array(numbers, np.int64)], mode):
            self._count(len(row) // 2)
            yield from zip(row[::2].tolist(), row[1::2].tolist(), strict=True)

    def _parse(self, text: str, mode: str) -> list[Members]:
        found = []
        for group in self._expand(parse_groups(text, self._count_members(mode)), mode):
            self._devices_left -= len(group)
            self._groups_left -= 1
            if min(self._devices_left, self._groups_left) < 0:
                raise Error("the groups name too many devices for a file of this size")
            found.append(self._trace.make_members(group.tolist()))
        return found

    def _count(self, more: int) -> None:
        self._counted_left -= more
        if self._counted_left < 0 or self._trace.entry_count > self._max_entries:
            raise Error("there are too many messages for a file of this size")

    def _count_members(self, mode: str) -> int:
        if mode == "devices":
            return self._replicas * self._partitions
        return self._partitions if mode == "partitions" else self._replicas

    def _expand(self, groups: Groups, mode: str) -> Iterator[NDArray[np.int64]]:
        """Yield the devices of each group."""
        partitions = self._partitions
        for group in groups:
            if mode == "devices":
                yield group
            elif mode == "partitions":
                for replica in range(self._replicas):
                    yield replica * partitions + group
            elif mode == "replicas":
                for partition in range(partitions):
                    yield group * partitions + partition
            else:
                every = np.arange(partitions)
                yield (group[:, None] * partitions + every).ravel()
