# SPDX-License-Identifier: BSD-3-Clause
"""Collects the collectives and messages of a trace, and makes a profile.

Compiled programs contain collectives of whole groups (`add`). Traces of ranks contain
each member's calls (`add_member_calls`); all members of a group must agree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.profile import KINDS, Profile

#: More than any job has; a few bytes of text can state any number.
_MAX_RANKS = 1 << 20
#: Operations that have a root.
_ROOTED = ("bcast", "reduce", "gather", "scatter")


class Members(tuple[int, ...]):
    """The ranks of a group that a trace has checked; its hash is computed once."""

    def __hash__(self) -> int:
        """Return the hash of the tuple."""
        if not hasattr(self, "_hash"):
            self._hash = super().__hash__()
        return self._hash


class _Call(NamedTuple):
    """A collective; `bytes` as in `topoloom.graphs.mpi_collectives.expand`."""

    operation: str
    members: tuple[int, ...]
    bytes: int
    root: int


def check_rank_count(ranks: int) -> None:
    """Raise if a trace states more ranks than any job has."""
    if not 1 <= ranks <= _MAX_RANKS:
        raise Error(f"the trace has {ranks} ranks; expected 1 to {_MAX_RANKS}")


class Trace:
    """Collectives and messages read so far."""

    def __init__(self, ranks: int) -> None:
        check_rank_count(ranks)
        self.ranks = ranks
        self.losses: list[str] = []
        self._known_losses: set[str] = set()
        self.seen: set[int] = set()
        self._calls: Counter[_Call] = Counter()
        self._observed: dict[_Call, Counter[int]] = defaultdict(Counter)
        self._exchanges: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        self._uneven: dict[tuple[int, ...], None] = {}
        self._messages: Counter[tuple[int, str, int, int, int]] = Counter()

    def add(
        self,
        operation: str,
        members: Sequence[int],
        bytes: int,
        calls: int = 1,
        root: int = 0,
    ) -> None:
        """Count a collective of all members; `root` is an index into `members`."""
        if len(members) > 1:
            call = _Call(operation, self._check_ranks(members), bytes, root)
            self._calls[call] += calls

    def make_members(self, ranks: Sequence[int]) -> Members:
        """Check a group once for many calls of `add`."""
        return Members(self._check_ranks(ranks))

    def add_member_calls(
        self,
        rank: int,
        operation: str,
        members: Sequence[int],
        bytes: int,
        root: int | None = None,
        calls: int = 1,
    ) -> None:
        """Count calls of a collective, as recorded by one member."""
        self.seen.add(rank)
        if bytes < 0 or calls < 0:
            raise Error(f"has {calls} calls of {operation} with {bytes} bytes")
        if len(members) < 2:
            return
        if operation in _ROOTED and root is None:
            self.add_loss(f"{operation} without a root")
            return
        call = _Call(operation, self._check_ranks(members), bytes, root or 0)
        self._observed[call][rank] += calls

    def add_even_exchange(
        self,
        rank: int,
        members: Sequence[int],
        sent: int,
        calls: int = 1,
        received: int | None = None,
    ) -> None:
        """Count a member's alltoall, given only the total bytes."""
        if sent % len(members) or received not in (None, sent):
            self.add_loss("an alltoall has no split sizes, and is not even")
        else:
            part = sent // len(members)
            self.add_member_calls(rank, "alltoall", members, part, calls=calls)

    def add_exchange(
        self, rank: int, members: Sequence[int], parts: Sequence[int], calls: int = 1
    ) -> None:
        """Count a member's alltoall, given the bytes sent to each member."""
        self._exchanges[self._check_ranks(members)][rank] += calls
        if len(set(parts)) == 1:
            self.add_member_calls(rank, "alltoall", members, parts[0], calls=calls)
        else:
            self._send_parts(rank, members, parts, calls)

    def send(
        self,
        source: int,
        target: int,
        bytes: int,
        calls: int = 1,
        kind: str = "send",
        phase: int = 0,
    ) -> None:
        """Count messages; messages of collectives have the kind ``direct``."""
        self._check_ranks((source, target), distinct=False)
        if bytes < 0 or calls < 0:
            raise Error(f"has {calls} messages of {bytes} bytes")
        self._messages[phase, kind, source, target, bytes] += calls

    def add_uneven_group(self, members: Sequence[int]) -> None:
        """Add a group whose collectives are counted as messages between ranks."""
        self._uneven[self._check_ranks(members)] = None

    def _send_parts(
        self, rank: int, members: Sequence[int], parts: Sequence[int], calls: int
    ) -> None:
        self.add_uneven_group(members)
        for peer, part in zip(members, parts, strict=True):
            if peer != rank and part:
                self.send(rank, peer, part, calls, "direct")

    def add_loss(self, what: str) -> None:
        """Add a description of missing data, unless already present."""
        if what not in self._known_losses:
            self._known_losses.add(what)
            self.losses.append(what)

    def add_missing_ranks(self) -> None:
        """Add a description of ranks without a trace to the losses."""
        if missing := self.missing:
            some = ", ".join(map(str, missing[:5])) + (", ..." * (len(missing) > 5))
            self.add_loss(f"{len(missing)} of {self.ranks} ranks have no trace: {some}")

    @property
    def entry_count(self) -> int:
        """Number of different collectives and messages."""
        return len(self._calls) + len(self._messages)

    @property
    def messages(self) -> Mapping[tuple[str, int, int, int], int]:
        """Number of messages by kind, source, target and bytes."""
        found = Counter[tuple[str, int, int, int]]()
        for (_, kind, source, target, bytes), calls in self._messages.items():
            found[kind, source, target, bytes] += calls
        return found

    @property
    def missing(self) -> list[int]:
        """Ranks of which no trace was read."""
        return [rank for rank in range(self.ranks) if rank not in self.seen]

    def profile(self) -> Profile:
        """Make the profile; disagreements between members are added to the losses."""
        self._join_members()
        numbers: dict[tuple[int, ...], int] = {}
        records = [
            (
                *(0, OPERATIONS.index(call.operation)),
                numbers.setdefault(call.members, len(numbers)),
                *(call.root if call.operation in _ROOTED else -1, call.bytes, calls),
            )
            for call, calls in self._calls.items()
        ]
        for members in self._uneven:
            numbers.setdefault(members, len(numbers))
        traffic = [
            (phase, KINDS.index(kind), source, target, bytes * calls, calls)
            for (phase, kind, source, target, bytes), calls in self._messages.items()
        ]
        return Profile(
            self.ranks,
            np.insert(_make_table(traffic), 6, -1, axis=1),
            _make_table(records),
            [np.array(members, np.int64) for members in numbers],
            missing=self.missing if self.seen else [],
        )

    def _join_members(self) -> None:
        for members, counts in self._exchanges.items():
            self._check_agreement("alltoall", members, counts)
        for call, counts in self._observed.items():
            if call.members in self._exchanges and call.operation == "alltoall":
                most = max(counts.values())
                if any(
                    counts[rank] != most for rank in self._list_present(call.members)
                ):
                    # Other members send uneven parts, so these calls were uneven, too.
                    for rank, calls in counts.items():
                        parts = [call.bytes] * len(call.members)
                        self._send_parts(rank, call.members, parts, calls)
                    continue
            what = f"{call.operation} with {call.bytes} bytes"
            self._calls[call] += self._check_agreement(what, call.members, counts)
        self._observed.clear()
        self._exchanges.clear()

    def _check_agreement(
        self, what: str, members: Sequence[int], counts: Counter[int]
    ) -> int:
        """Return the number of calls: if members disagree, the largest number."""
        most = max(counts.values())
        for rank in self._list_present(members):
            if counts[rank] != most:
                self.add_loss(
                    f"ranks of a group disagree: rank {rank} has {counts[rank]} of "
                    f"{most} calls of {what}"
                )
                break
        return most

    def _list_present(self, members: Sequence[int]) -> list[int]:
        return [rank for rank in members if rank in self.seen]

    def _check_ranks(
        self, ranks: Sequence[int], distinct: bool = True
    ) -> tuple[int, ...]:
        if isinstance(ranks, Members):
            return ranks
        members = tuple(ranks)
        for rank in (min(members), max(members)):
            if not 0 <= rank < self.ranks:
                raise Error(f"names rank {rank}, but ranks are 0 to {self.ranks - 1}")
        if distinct and len(set(members)) < len(members):
            raise Error(f"a group contains a rank twice: {members[:8]}")
        return members


def _make_table(rows: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    return np.array(rows, np.int64).reshape(-1, 6)
