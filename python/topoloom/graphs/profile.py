# SPDX-License-Identifier: BSD-3-Clause
"""Profiles of recorded runs: messages and collectives of all ranks, by phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph, Error
from topoloom.graphs.gpu_nodes import GPUS_PER_NODE
from topoloom.graphs.messages import Messages, concatenate, make_messages
from topoloom.graphs.mpi_collectives import OPERATIONS, expand
from topoloom.graphs.mpi_time import (
    TIMES,
    Floats,
    MpiTime,
    check_times,
    get_seconds,
    sum_up_times,
)
from topoloom.graphs.npz import load_npz, save_npz

if TYPE_CHECKING:
    from topoloom.graphs.nccl_collectives import Expansion

#: Kinds of messages, in the order of the recorder's ``enum kind``.
KINDS = ("send", "neighbor", "put", "get", "direct")
_DIRECT = KINDS.index("direct")
COLLECTIVES = ("expand", "keep", "drop")
#: Value of `collectives` for the messages of NCCL; requires GPUs per node.
BY_NCCL = "nccl"
VERSION = 2

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Profile:
    """The profile of a recorded run.

    Attributes
    ----------
    rank_count
        Number of ranks of the program.
    traffic
        int64 array of shape (n, 7): phase, kind (index into `KINDS`), source, target,
        bytes, messages, communicator (index into `communicators`) or -1. The kind
        ``direct`` is for v-collectives, which are stored as messages between pairs of
        ranks; only these have a communicator.
    records
        int64 array of shape (m, 6): phase, operation (index into
        `topoloom.graphs.mpi_collectives.OPERATIONS`), communicator (index into
        `communicators`), root or -1, bytes, calls.
    communicators
        World rank of each rank in each communicator.
    missing
        Ranks without records.
    partial
        Ranks that ended before ``MPI_Finalize``; their counts are incomplete.
    has_parallel_collectives
        Whether a rank may be in collectives on several communicators at once, as in
        GPU frameworks; false for programs that call MPI.
    lost
        Number of calls that could not be counted: messages to processes outside the
        program, and collectives on intercommunicators.
    wall_seconds
        Seconds from ``MPI_Init`` to ``MPI_Finalize`` of the slowest rank.
    exit_status
        Exit status of the command.
    run_seconds, mpi_seconds
        float64 arrays of shape (rank_count,): seconds of each rank from ``MPI_Init`` to
        ``MPI_Finalize``, and those of them in which a thread of the rank was inside an
        MPI call. NaN for missing ranks; empty if not measured.
    ends
        Ranks that ended without ``MPI_Finalize``: a description of the end, and the
        ranks; not saved in files.
    """

    rank_count: int
    traffic: Ints
    records: Ints
    communicators: list[Ints]
    has_parallel_collectives: bool = True
    missing: list[int] = field(default_factory=list)
    partial: list[int] = field(default_factory=list)
    lost: int = 0
    wall_seconds: float = 0.0
    exit_status: int = 0
    run_seconds: Floats = field(default_factory=lambda: np.zeros(0))
    mpi_seconds: Floats = field(default_factory=lambda: np.zeros(0))
    ends: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_profile(self)

    @property
    def phases(self) -> list[int]:
        """Phases with traffic.

        Of a recording, they are levels of ``MPI_Pcontrol``; level 0 is before its first
        call.
        """
        levels = np.concatenate([self.traffic[:, 0], self.records[:, 0]])
        return [int(level) for level in np.unique(levels)]

    @property
    def mpi_time(self) -> MpiTime | None:
        """How long ranks were in MPI calls; None if that was not measured."""
        return sum_up_times(self.run_seconds, self.mpi_seconds)

    def point_to_point(self, phase: int | None = None) -> Messages:
        """Sum the point-to-point messages of each pair of ranks."""
        return self._sum_traffic(self.traffic[:, 1] != _DIRECT, phase)

    def direct(self, phase: int | None = None) -> Messages:
        """Sum the v-collectives of each pair of ranks."""
        return self._sum_traffic(self.traffic[:, 1] == _DIRECT, phase)

    def sum_collectives(
        self, phase: int | None = None, expansion: Expansion | None = None
    ) -> Messages:
        """Expand collectives to messages, by default an MPI library's; sum these."""
        parts: list[Messages] = []
        waiting = 0
        made: dict[tuple[str, int, int, int], Messages] = {}
        for level, operation, communicator, root, size, calls in self.records.tolist():
            if phase is not None and level != phase:
                continue
            members = self.communicators[communicator]
            name = OPERATIONS[operation]
            call = (name, len(members), size, max(root, 0))
            if expansion is not None:
                one = expansion(name, members.tolist(), size, max(root, 0))
            else:
                one = made[call] if call in made else expand(*call)
                if len(one.source) < 1_000_000:  # limits the memory of the cache
                    made[call] = one
            parts.append(one.times(calls).renumbered(members))
            waiting += len(one.source)
            if waiting > 4_000_000:  # bounds memory
                parts = [concatenate(parts).summed()]
                waiting = 0
        return concatenate(parts).summed()

    def count_calls(self) -> dict[str, int]:
        """Count the calls of each collective, the most frequent first."""
        calls: Counter[str] = Counter()
        for _, operation, _, _, _, count in self.records.tolist():
            calls[OPERATIONS[operation]] += count
        return dict(calls.most_common())

    def edges(
        self,
        collectives: str = "expand",
        phase: int | None = None,
        gpus_per_node: int = GPUS_PER_NODE,
    ) -> Messages:
        """Sum all messages of each pair of ranks.

        Parameters
        ----------
        collectives
            ``expand`` adds collectives as messages of an MPI library, ``nccl`` as
            messages of NCCL; ``keep`` and ``drop`` do not add them.
        phase
            One of `phases`; by default all of them.
        gpus_per_node
            Ranks per node, for ``nccl``.

        Raises
        ------
        topoloom.Error
            For an unknown value of `collectives`, ranks that do not fill nodes, or
            collectives that are too large to expand.
        """
        parts = [self.point_to_point(phase)]
        if collectives == BY_NCCL:
            from topoloom.graphs.nccl_collectives import make_nccl_expansion

            by_nccl = make_nccl_expansion(self.rank_count, gpus_per_node)
            parts += [self.direct(phase), self.sum_collectives(phase, by_nccl)]
        else:
            check_collectives(collectives, (*COLLECTIVES, BY_NCCL))
        if collectives == "expand":
            parts += [self.direct(phase), self.sum_collectives(phase)]
        return concatenate(parts).summed()

    def graph(
        self,
        collectives: str = "expand",
        phase: int | None = None,
        gpus_per_node: int = GPUS_PER_NODE,
    ) -> CommGraph:
        """Make the communication graph from the messages in `edges`."""
        return self.edges(collectives, phase, gpus_per_node).graph(self.rank_count)

    def save(
        self,
        path: str | Path,
        collectives: str = "expand",
        gpus_per_node: int = GPUS_PER_NODE,
    ) -> None:
        """Write the communication graph and the profile as ``.npz``.

        Except with ``drop``, records of collectives are also saved, for `load_profile`.
        """
        kept = self.without_collectives() if collectives == "drop" else self
        graph = self.graph(collectives, None, gpus_per_node)
        save_npz(path, graph, kept._make_arrays())

    def without_collectives(self) -> Profile:
        """Return the profile without collectives."""
        traffic = self.traffic[self.traffic[:, 1] != _DIRECT]
        none = self.records[:0]
        return replace(self, traffic=traffic, records=none, communicators=[])

    def _sum_traffic(self, chosen: NDArray[np.bool_], phase: int | None) -> Messages:
        if phase is not None:
            chosen = chosen & (self.traffic[:, 0] == phase)
        return make_messages(*self.traffic[chosen].T[2:6]).summed()

    def _make_arrays(self) -> dict[str, Any]:
        sizes = [len(members) for members in self.communicators]
        times = dict(zip(TIMES, (self.run_seconds, self.mpi_seconds), strict=True))
        return {
            "profile_version": np.array(VERSION),
            "profile_traffic": self.traffic,
            "profile_collectives": self.records,
            "profile_communicator_first": np.cumsum([0, *sizes]),
            "profile_communicator_members": np.concatenate(
                [np.zeros(0, np.int64), *self.communicators]
            ),
            "profile_parallel_collectives": np.array(self.has_parallel_collectives),
            "profile_missing": np.array(self.missing, dtype=np.int64),
            "profile_partial": np.array(self.partial, dtype=np.int64),
            "profile_lost": np.array(self.lost),
            "profile_wall_seconds": np.array(self.wall_seconds),
            "profile_exit_status": np.array(self.exit_status),
            **(times if len(self.run_seconds) else {}),
        }


def check_collectives(word: str, known: Sequence[str] = COLLECTIVES) -> None:
    """Raise an error for an unknown value of `collectives`."""
    if word not in known:
        raise Error(f"collectives: '{word}' is none of {', '.join(known)}")


def load_profile(path: str | Path) -> Profile:
    """Read a profile that `Profile.save` wrote."""
    graph, arrays = load_npz(path)
    if "profile_version" not in arrays:
        raise Error(f"{path}: contains a graph, but no profile of a recorded run")
    version = int(arrays["profile_version"])
    if version != VERSION:
        raise Error(f"{path}: profile version {version}, this topoloom reads {VERSION}")
    try:
        first = arrays["profile_communicator_first"]
        members = arrays["profile_communicator_members"].astype(np.int64)
        return Profile(
            rank_count=graph.rank_count,
            traffic=arrays["profile_traffic"].astype(np.int64).reshape(-1, 7),
            records=arrays["profile_collectives"].astype(np.int64).reshape(-1, 6),
            communicators=np.split(members, first[1:-1]) if len(first) > 1 else [],
            has_parallel_collectives=bool(arrays["profile_parallel_collectives"]),
            missing=arrays["profile_missing"].tolist(),
            partial=arrays["profile_partial"].tolist(),
            lost=int(arrays["profile_lost"]),
            wall_seconds=float(arrays["profile_wall_seconds"]),
            exit_status=int(arrays["profile_exit_status"]),
            run_seconds=get_seconds(arrays, TIMES[0]),
            mpi_seconds=get_seconds(arrays, TIMES[1]),
        )
    except (KeyError, ValueError, IndexError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise Error(f"{path}: damaged profile: {what}") from None


def _check_profile(profile: Profile) -> None:
    of_traffic = profile.traffic[:, 6]
    ranks = [profile.traffic[:, 2], profile.traffic[:, 3], *profile.communicators]
    for column, count, what in (
        *((ids, profile.rank_count, "rank") for ids in ranks),
        (profile.traffic[:, 1], len(KINDS), "kind"),
        (profile.records[:, 1], len(OPERATIONS), "operation"),
        (profile.records[:, 2], len(profile.communicators), "communicator"),
        (of_traffic[of_traffic != -1], len(profile.communicators), "communicator"),
    ):
        wrong = column[(column < 0) | (column >= count)]
        if len(wrong):
            raise Error(f"{what} {wrong[0]} is not one of {count}")
    if np.any(profile.traffic[:, 4:6] < 0) or np.any(profile.records[:, 4:] < 0):
        raise Error("a count is negative")
    if len(profile.run_seconds) not in (0, profile.rank_count):
        raise Error("the run times are not those of every rank")
    check_times(profile.run_seconds, profile.mpi_seconds)
