# SPDX-License-Identifier: BSD-3-Clause
"""Groups of ranks, read from the file of a probe, and as nested boxes of the page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from topoloom.probe.inference.groups import ALL, GROUP, HOST, PART, RankGroup
from topoloom.support.hostlist import compress_hostlist, is_host_name
from topoloom.support.number_ranges import compress_ranges
from topoloom.support.units import counted, format_seconds

#: Boxes side by side of which all are shown.
MOST_BOXES = 64
_MOST_LETTERS = 200  # of names in a title


class Sample(NamedTuple):
    """Pairs of ranks, and how long their messages take."""

    mean: float
    sigma: float
    n: int
    outliers: int


class Evidence(NamedTuple):
    """What a t-test says of a group: of pairs inside, and those that lead into it."""

    inside: Sample
    into: Sample
    t: float
    p: float


@dataclass(frozen=True)
class Box:
    """A group as the page shows it.

    Attributes
    ----------
    kind
        That of the group, such as ``host``.
    title
        What it is, such as ``2 groups``, or a host's name.
    note
        What was measured of it, or "".
    boxes
        What is inside.
    more
        How many more boxes there are.
    """

    kind: str
    title: str
    note: str
    suspect: str
    boxes: tuple[Box, ...] = ()
    more: int = 0


def read_groups(nested: Sequence[Any], host_of: Sequence[int]) -> RankGroup:
    """Read the nested lists of `RankGroup.document`; none are all ranks."""
    by_host: dict[int, list[int]] = {}
    for rank, host in enumerate(host_of):
        by_host.setdefault(host, []).append(rank)
    if not nested:
        nested = list(by_host.values()) if len(by_host) > 1 else [*range(len(host_of))]
    root = _group(nested, host_of, by_host)
    if root.kind == GROUP:
        return RankGroup(ALL, root.ranks, root.groups)
    return root


def read_evidence(tables: Sequence[Mapping[str, Any]]) -> dict[Any, Evidence]:
    """Read the evidence of groups, by their ranks."""
    return {
        tuple(table["ranks"]): Evidence(
            _sample(table["inside"]), _sample(table["into"]), table["t"], table["p"]
        )
        for table in tables
    }


def _group(
    nested: Sequence[Any],
    host_of: Sequence[int],
    by_host: Mapping[int, Sequence[int]],
) -> RankGroup:
    ranks = sorted(_flat(nested))
    hosts = sorted({host_of[rank] for rank in ranks})
    if len(hosts) == 1:
        kind = HOST if len(ranks) == len(by_host[hosts[0]]) else PART
    else:
        kind = GROUP
    if not isinstance(nested[0], int):
        below = tuple(_group(part, host_of, by_host) for part in nested)
    elif kind == GROUP:  # of hosts with a rank each
        below = tuple(RankGroup(HOST, (rank,)) for rank in nested)
    else:
        below = ()
    return RankGroup(kind, tuple(ranks), below)


def _flat(nested: Any) -> Iterator[int]:
    if isinstance(nested, int):
        yield nested
    else:
        for part in nested:
            yield from _flat(part)


def _sample(table: Mapping[str, Any]) -> Sample:
    return Sample(table["mean_s"], table["sigma_s"], table["n"], table["outliers"])


def in_order(group: RankGroup) -> list[int]:
    """List the ranks group by group."""
    if not group.groups:
        return list(group.ranks)
    return [rank for part in group.groups for rank in in_order(part)]


class Boxes:
    """Makes boxes of groups.

    Parameters
    ----------
    suspects
        Hosts that are slower than their like.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        host_of: Sequence[int],
        evidence: Mapping[tuple[int, ...], Evidence],
        suspects: Collection[str],
    ) -> None:
        self._hosts = hosts
        self._host_of = host_of
        self._evidence = evidence
        self._suspects = suspects

    def of(self, group: RankGroup) -> Box:
        """Make the box of a group, those of its parts inside."""
        parts = group.groups[:MOST_BOXES]
        title = self._title(group)
        suspect = (
            "slow" if group.kind == HOST and self._host(group) in self._suspects else ""
        )
        evidence = None if group.kind == PART else self._evidence.get(group.ranks)
        return Box(
            group.kind,
            title,
            note_of(evidence),
            suspect,
            tuple(self.of(part) for part in parts),
            len(group.groups) - len(parts),
        )

    def members(self, ranks: Sequence[int]) -> str:
        """Name the hosts that are the ranks', or the ranks of a part of a host."""
        hosts = sorted({self._host_of[rank] for rank in ranks})
        names = [self._hosts[host] for host in hosts]
        some = (
            f"{'rank' if len(ranks) == 1 else 'ranks'} {compress_ranges(sorted(ranks))}"
        )
        if len(hosts) == 1:
            return f"{names[0]}: {some}"
        return compress_hostlist(names) if all(map(is_host_name, names)) else some

    def _host(self, group: RankGroup) -> str:
        return self._hosts[self._host_of[group.ranks[0]]]

    def _title(self, group: RankGroup) -> str:
        ranks = group.ranks
        members = self.members(ranks)
        if group.kind == HOST:
            return members
        if group.kind == PART:
            return members.partition(": ")[2]
        hosts = len({self._host_of[rank] for rank in ranks})
        title = counted(hosts, "host")
        if len(ranks) > hosts:
            title += f" with {counted(len(ranks), 'rank')}"
        if group.groups and group.groups[0].kind == GROUP:
            return f"{title} in {counted(len(group.groups), 'group')}"
        return f"{title}: {members if len(members) <= _MOST_LETTERS else '...'}"


def note_of(evidence: Evidence | None) -> str:
    """Say what was measured of a group; "" if nothing was."""
    if evidence is None:
        return ""
    inside, into = evidence.inside, evidence.into
    return (
        f"{format_seconds(inside.mean)} inside, {format_seconds(into.mean)} into it, "
        f"p {p_text(evidence.p)}"
    )


def p_text(p: float) -> str:
    """Write a probability, of which tiny ones are only said to be so."""
    return "< 1e-12" if p < 1e-12 else f"= {p:.2g}"
