# SPDX-License-Identifier: BSD-3-Clause
"""Splits the profile of an MPI program into phases, which follow each other.

Levels of ``MPI_Pcontrol`` are separate phases. Within a level, a rank is in one
collective at a time: communicators that share a rank, such as a row and a column of a
process grid, are in different phases, and those of all rows in one. Nonblocking
collectives count as blocking ones. Messages outside collectives are one phase. A phase
with less than 1 % of the bytes and less than 1 % of the messages of its level is joined
with the largest phase.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.graphs.profile import Ints, Profile
from topoloom.support.number_ranges import compress_ranges

#: Every phase costs placement time. Collectives beyond so many join the largest phase.
_MAX_PHASES = 16
_LEAST_SHARE = 0.01
#: Characters of the ranks in the name of a phase.
_LONGEST_NAME = 24
#: The phase of messages outside collectives; communicators have phases from 0.
_MESSAGES = -1


class RecordedPhase(NamedTuple):
    """The profile of a phase; the name says which messages it has."""

    name: str
    profile: Profile


def find_recorded_phases(profile: Profile) -> list[RecordedPhase]:
    """Split a profile into its phases: by level, messages before collectives."""
    phases = []
    used: Counter[str] = Counter()
    for level, of_level in _split_levels(profile):
        for kind, phase in _split_level(of_level):
            name = ": ".join(filter(None, (level, kind)))
            used[name] += 1
            number = f" ({used[name]})" if used[name] > 1 else ""
            phases.append(RecordedPhase(name + number, phase))
    return phases


def _split_levels(profile: Profile) -> list[tuple[str, Profile]]:
    levels = profile.phases
    if len(levels) < 2:
        return [("", profile)]
    return [
        (
            str(level),
            _select(
                profile, profile.traffic[:, 0] == level, profile.records[:, 0] == level
            ),
        )
        for level in levels
    ]


def _split_level(profile: Profile) -> list[tuple[str, Profile]]:
    if profile.has_parallel_collectives:
        return [("", profile)]
    sizes = [len(members) for members in profile.communicators]
    of_traffic, of_records = profile.traffic[:, 6], profile.records[:, 2]
    bytes_of, messages_of = _sum_by_communicator(profile, np.array(sizes, dtype=float))
    numbers = np.flatnonzero(messages_of[:-1]).tolist()
    used = {number: profile.communicators[number] for number in numbers}
    # The last entry is that of traffic without a communicator, which has number -1.
    phase_of = np.full(len(sizes) + 1, _MESSAGES)
    for number, phase in separate_communicators(profile.rank_count, used, bytes_of):
        phase_of[number] = phase
    _join_small_phases(phase_of, bytes_of, messages_of)
    found = []
    for phase in np.unique(phase_of[messages_of > 0]).tolist():
        chosen = phase_of == phase
        name = _name_phase(
            profile,
            [c for c in used if chosen[c]],
            bool(chosen[-1] and messages_of[-1]),
        )
        found.append((name, _select(profile, chosen[of_traffic], chosen[of_records])))
    return found if len(found) > 1 else [("", profile)]


def separate_communicators(
    rank_count: int,
    communicators: Mapping[int, Ints],
    weights: Sequence[float] | NDArray[np.float64],
) -> Iterator[tuple[int, int]]:
    """Yield each communicator and its phase; no two of a phase share a rank.

    Communicators of equal shape, such as all rows of a grid, come one after the other,
    those shapes first that have the most bytes, so that they get into the same phase.
    After 16 phases, numbered from 0, further communicators are in phase 16, whatever
    ranks they share.
    """
    shapes: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for number, members in communicators.items():
        shapes[len(members), np.diff(members).tobytes()].append(number)
    by_weight = sorted(
        shapes.values(), key=lambda those: -sum(weights[one] for one in those)
    )
    is_taken = np.zeros((_MAX_PHASES, rank_count), dtype=bool)
    for those in by_weight:
        for number in sorted(those, key=lambda one: int(communicators[one].min())):
            members = communicators[number]
            free = np.flatnonzero(~is_taken[:, members].any(axis=1))
            phase = int(free[0]) if len(free) else _MAX_PHASES
            is_taken[phase : phase + 1, members] = True
            yield number, phase


def _sum_by_communicator(
    profile: Profile, sizes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bytes and messages by communicator, last those without one.

    A collective counts as one message of its size per member.
    """
    count = len(sizes) + 1
    totals = np.zeros((2, count))
    where = profile.traffic[:, 6] % count  # -1 becomes the last
    members = sizes[profile.records[:, 2]] * profile.records[:, 5]
    for total, of_traffic, of_records in (
        (totals[0], profile.traffic[:, 4], members * profile.records[:, 4]),
        (totals[1], profile.traffic[:, 5], members),
    ):
        total += np.bincount(where, of_traffic, count)
        total += np.bincount(profile.records[:, 2], of_records, count)
    return totals[0], totals[1]


def _join_small_phases(
    phase_of: Ints, bytes_of: NDArray[np.float64], messages_of: NDArray[np.float64]
) -> None:
    """Join small phases, and the one beyond `_MAX_PHASES`, with the largest."""
    phases, where = np.unique(phase_of, return_inverse=True)
    sizes, counts = np.bincount(where, bytes_of), np.bincount(where, messages_of)
    is_small = (sizes < _LEAST_SHARE * sizes.sum()) & (
        counts < _LEAST_SHARE * counts.sum()
    )
    is_small |= phases == _MAX_PHASES
    largest = int(np.where(phases == _MAX_PHASES, -1, sizes).argmax())
    phase_of[is_small[where]] = phases[largest]


def _name_phase(profile: Profile, used: Sequence[int], has_messages: bool) -> str:
    names = ["messages"] if has_messages else []
    if used:
        first = min((profile.communicators[c].tolist() for c in used), key=min)
        if len(first) == profile.rank_count:
            names.append("collectives of all ranks")
        else:
            ranks = compress_ranges(first)
            if len(ranks) > _LONGEST_NAME:
                ranks = f"{ranks[:_LONGEST_NAME].rpartition(',')[0]},..."
            several = f"in {len(used)} groups, such as" if len(used) > 1 else "of ranks"
            names.append(f"collectives {several} {ranks}")
    return " and ".join(names)


def _select(
    profile: Profile, traffic: NDArray[np.bool_], records: NDArray[np.bool_]
) -> Profile:
    return replace(
        profile, traffic=profile.traffic[traffic], records=profile.records[records]
    )
