# SPDX-License-Identifier: BSD-3-Clause
"""Reads groups of ranks from a probe's file, and makes nested boxes for the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from topoloom.probe.inference.groups import ALL, GROUP, HOST, PART, RankGroup
from topoloom.probe.job.probe_table import flatten_groups
from topoloom.support.hostlist import compress_hostlist, is_host_name
from topoloom.support.number_ranges import compress_ranges
from topoloom.support.units import counted, format_seconds

#: Maximum number of boxes in a row.
MAX_BOXES = 64
#: Maximum number of characters for the host names in a title.
_MAX_CHARACTERS = 200


class TimeStatistics(NamedTuple):
    """Statistics of the message times of rank pairs."""

    mean: float
    sigma: float
    n: int
    outliers: int


class GroupTest(NamedTuple):
    """The t-test of a group, which compares pairs inside it with pairs into it."""

    inside: TimeStatistics
    into: TimeStatistics
    t: float
    p: float


@dataclass(frozen=True)
class GroupBox:
    """The box of a group on the page."""

    kind: str  # kind of the group, such as ``host``
    title: str  # text such as ``2 groups``, or the name of a host
    note: str  # text about measured times, or ""
    suspect: str
    boxes: tuple[GroupBox, ...] = ()  # boxes of the group's parts
    more: int = 0  # number of boxes that are not shown


def read_groups(nested: Sequence[Any], host_of: Sequence[int]) -> RankGroup:
    """Read groups from nested lists of `RankGroup.document`; [] means all ranks."""
    by_host: dict[int, list[int]] = {}
    for rank, host in enumerate(host_of):
        by_host.setdefault(host, []).append(rank)
    if not nested:
        nested = list(by_host.values()) if len(by_host) > 1 else [*range(len(host_of))]
    root = _make_group(nested, host_of, by_host)
    if root.kind == GROUP:
        return RankGroup(ALL, root.ranks, root.groups)
    return root


def read_evidence(tables: Sequence[Mapping[str, Any]]) -> dict[Any, GroupTest]:
    """Read the t-tests of groups; the key of each test is its group's ranks."""
    return {
        tuple(table["ranks"]): GroupTest(
            _make_sample(table["inside"]),
            _make_sample(table["into"]),
            table["t"],
            table["p"],
        )
        for table in tables
    }


def _make_group(
    nested: Sequence[Any],
    host_of: Sequence[int],
    by_host: Mapping[int, Sequence[int]],
) -> RankGroup:
    ranks = sorted(flatten_groups(nested))
    hosts = sorted({host_of[rank] for rank in ranks})
    if len(hosts) == 1:
        kind = HOST if len(ranks) == len(by_host[hosts[0]]) else PART
    else:
        kind = GROUP
    if not isinstance(nested[0], int):
        below = tuple(_make_group(part, host_of, by_host) for part in nested)
    elif kind == GROUP:  # a group of hosts that have one rank each
        below = tuple(RankGroup(HOST, (rank,)) for rank in nested)
    else:
        below = ()
    return RankGroup(kind, tuple(ranks), below)


def _make_sample(table: Mapping[str, Any]) -> TimeStatistics:
    return TimeStatistics(
        table["mean_seconds"], table["sigma_seconds"], table["n"], table["outliers"]
    )


def list_ranks(group: RankGroup) -> list[int]:
    """List the ranks of a group in the order of its parts."""
    if not group.groups:
        return list(group.ranks)
    return [rank for part in group.groups for rank in list_ranks(part)]


class GroupBoxMaker:
    """Makes the boxes that show groups on the page.

    Parameters
    ----------
    suspects
        Names of the hosts that are slower than comparable hosts.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        host_of: Sequence[int],
        evidence: Mapping[tuple[int, ...], GroupTest],
        suspects: Collection[str],
    ) -> None:
        self._hosts = hosts
        self._host_of = host_of
        self._evidence = evidence
        self._suspects = suspects

    def make_box(self, group: RankGroup) -> GroupBox:
        """Make the box of a group, with the boxes of its parts."""
        parts = group.groups[:MAX_BOXES]
        title = self._make_title(group)
        suspect = (
            "slow"
            if group.kind == HOST and self._name_host(group) in self._suspects
            else ""
        )
        evidence = None if group.kind == PART else self._evidence.get(group.ranks)
        return GroupBox(
            group.kind,
            title,
            describe_evidence(evidence),
            suspect,
            tuple(self.make_box(part) for part in parts),
            len(group.groups) - len(parts),
        )

    def describe_members(self, ranks: Sequence[int]) -> str:
        """Format the hosts of a group, or the ranks of a part of a host."""
        hosts = sorted({self._host_of[rank] for rank in ranks})
        names = [self._hosts[host] for host in hosts]
        some = (
            f"{'rank' if len(ranks) == 1 else 'ranks'} {compress_ranges(sorted(ranks))}"
        )
        if len(hosts) == 1:
            return f"{names[0]}: {some}"
        return compress_hostlist(names) if all(map(is_host_name, names)) else some

    def _name_host(self, group: RankGroup) -> str:
        return self._hosts[self._host_of[group.ranks[0]]]

    def _make_title(self, group: RankGroup) -> str:
        ranks = group.ranks
        members = self.describe_members(ranks)
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
        return f"{title}: {members if len(members) <= _MAX_CHARACTERS else '...'}"


def describe_evidence(evidence: GroupTest | None) -> str:
    """Describe the measured message times of a group; "" without measurements."""
    if evidence is None:
        return ""
    inside, into = evidence.inside, evidence.into
    return (
        f"{format_seconds(inside.mean)} inside, {format_seconds(into.mean)} into it, "
        f"p {format_probability(evidence.p)}"
    )


def format_probability(p: float) -> str:
    """Format a probability; if it is tiny, as an upper bound."""
    return "< 1e-12" if p < 1e-12 else f"= {p:.2g}"
