# SPDX-License-Identifier: BSD-3-Clause
"""Splits the profile of an MPI program into parts that run one after the other.

Levels of ``MPI_Pcontrol`` are separate parts. Within a level, a rank is in one
collective at a time: communicators that share a rank, such as a row and a column of a
process grid, are in different parts, and those of all rows in one. Messages outside
collectives are one part. A part with less than 1 % of the bytes and less than 1 % of
the messages of its level is joined with the largest part.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.graphs.profile import Ints, Profile
from topoloom.support.number_ranges import compress_ranges

#: Every part costs placement time. Further ones are joined with the largest.
_MAX_PARTS = 16
_LEAST_SHARE = 0.01
#: Characters of the ranks in the name of a part.
_LONGEST_NAME = 24
#: The part of messages outside collectives; communicators have parts from 0.
_MESSAGES = -1


class RecordedPart(NamedTuple):
    """A part of a profile; the name says which messages it has."""

    name: str
    profile: Profile


def split_profile(profile: Profile) -> list[RecordedPart]:
    """Split a profile into its parts: by level, messages before collectives."""
    parts = []
    used: Counter[str] = Counter()
    for level, of_level in _split_levels(profile):
        for kind, part in _split_level(of_level):
            name = ": ".join(filter(None, (level, kind)))
            used[name] += 1
            number = f" ({used[name]})" if used[name] > 1 else ""
            parts.append(RecordedPart(name + number, part))
    return parts


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
    parts = separate_communicators(
        profile.rank_count,
        {
            c: profile.communicators[c]
            for c in np.flatnonzero(messages_of[:-1]).tolist()
        },
        bytes_of,
    )
    # The last entry is that of traffic without a communicator, which has number -1.
    part_of = np.full(len(sizes) + 1, _MESSAGES)
    part_of[list(parts)] = list(parts.values())
    _join_small_parts(part_of, bytes_of, messages_of)
    found = []
    for part in np.unique(part_of[messages_of > 0]).tolist():
        of_part = part_of == part
        used = np.flatnonzero(of_part[:-1] & (messages_of[:-1] > 0)).tolist()
        name = _name_part(profile, used, bool(of_part[-1] and messages_of[-1]))
        found.append((name, _select(profile, of_part[of_traffic], of_part[of_records])))
    return found if len(found) > 1 else [("", profile)]


def separate_communicators(
    rank_count: int,
    communicators: Mapping[int, Ints],
    weights: Sequence[float] | NDArray[np.float64],
) -> dict[int, int]:
    """Assign communicators to parts, from 0, so that no two of a part share a rank.

    Communicators of equal shape, such as all rows of a grid, come one after the other,
    those shapes first that have the most bytes, so that they get into the same part.
    """
    shapes: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for number, members in communicators.items():
        shapes[len(members), np.diff(members).tobytes()].append(number)
    by_weight = sorted(
        shapes.values(), key=lambda those: -sum(weights[one] for one in those)
    )
    is_taken: list[NDArray[np.bool_]] = []
    parts: dict[int, int] = {}
    for those in by_weight:
        for number in sorted(those, key=lambda one: int(communicators[one].min())):
            members = communicators[number]
            free = (p for p, taken in enumerate(is_taken) if not taken[members].any())
            part = next(free, len(is_taken))
            if part == len(is_taken):
                is_taken.append(np.zeros(rank_count, dtype=bool))
            is_taken[part][members] = True
            parts[number] = part
    return parts


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


def _join_small_parts(
    part_of: Ints, bytes_of: NDArray[np.float64], messages_of: NDArray[np.float64]
) -> None:
    """Let small parts, and those beyond `_MAX_PARTS`, be the largest part."""
    parts, where = np.unique(part_of, return_inverse=True)
    sizes = np.bincount(where, bytes_of)
    shares = np.maximum(
        sizes / max(sizes.sum(), 1),
        np.bincount(where, messages_of) / max(messages_of.sum(), 1),
    )
    order = np.argsort(-shares, kind="stable")
    for place, part in enumerate(order.tolist()):
        if shares[part] < _LEAST_SHARE or place >= _MAX_PARTS:
            part_of[where == part] = parts[int(sizes.argmax())]


def _name_part(profile: Profile, used: Sequence[int], has_messages: bool) -> str:
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
