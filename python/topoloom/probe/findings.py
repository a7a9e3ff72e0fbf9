# SPDX-License-Identifier: BSD-3-Clause
"""The results of a probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom.model.channels import PairCurve
from topoloom.probe.inference.groups import GroupTest, RankGroup
from topoloom.probe.inference.levels import Level
from topoloom.probe.inference.message_costs import LevelCosts
from topoloom.probe.inference.network import HostNetwork, list_host_groups
from topoloom.probe.inference.pair_costs import PairCosts, SomeCosts
from topoloom.probe.inference.shared_links import SharedLink
from topoloom.probe.inference.suspects import SlowPairs, Suspect
from topoloom.probe.job.samples import Exchanges, ProbeSamples
from topoloom.probe.stages.rates import WINDOW

if TYPE_CHECKING:
    from topoloom.documents.probes import (
        GroupEvidence,
        HopTimes,
        LevelFields,
        NearAndFar,
        ProbeFields,
        TimeSample,
    )

#: Reasons for an early end: Ctrl-C, or another signal, for example from a batch system.
INTERRUPTED, TERMINATED = "interrupted", "terminated"


@dataclass
class Findings:
    """Results of a probe: samples, and all properties inferred from samples."""

    samples: ProbeSamples  # all samples of the job
    hosts: list[str]  # host names, in the order of their first ranks
    host_of: list[int]  # number of the host of each rank, an index into `hosts`
    costs: SomeCosts  # seconds of a short message between ranks, indexed like a matrix
    root: RankGroup  # group of all ranks, with nested groups
    levels: list[Level]  # levels, the fastest first
    #: Message costs by level name.
    level_costs: dict[str, LevelCosts] = field(default_factory=dict)
    network: HostNetwork | None = None  # network between hosts; None for a single host
    #: Bandwidth curves of concurrent pairs, by pattern.
    curves: dict[str, PairCurve] = field(default_factory=dict)
    #: Lower bound on the bytes/s that a group of hosts sends to others, by the group's
    #: ranks.
    uplinks: dict[tuple[int, ...], float] = field(default_factory=dict)
    #: Links that host pairs share, other than the links of levels.
    shared: list[SharedLink] = field(default_factory=list)
    #: Of all combinations of two nearby host pairs, the fraction that was measured
    #: concurrently.
    pairs_met: float | None = None
    #: Hosts, links and uplinks that are slower than comparable ones.
    suspects: list[Suspect] = field(default_factory=list)
    #: Numbers of the orders that measured messages of all sizes.
    of_sizes: list[int] = field(default_factory=list)
    long_bytes: int = 1 << 18  # bytes of a long message
    #: System noise: by how much the time of a piece of work exceeds the minimum,
    #: relative to it; median over ranks.
    noise: float | None = None
    ended: str = ""  # reason if the probe ended early, or ""
    #: Sentences about measurements that are unreliable or missing.
    doubts: list[str] = field(default_factory=list)
    #: Sentences about differences between measurement and machine description.
    claims: list[str] = field(default_factory=list)

    @property
    def slow_pairs(self) -> SlowPairs:
        """Pairs of ranks that are slowed by a suspect host or link."""
        return SlowPairs(self.suspects, self.host_of)

    def document(self) -> ProbeFields:
        """Build the document for ``--json`` and the machine's file."""
        units, pair_seconds = self._make_check_reference()
        return {
            "ranks": self.samples.ranks,
            "hosts": self.hosts,
            "host_of": self.host_of,
            "sample_count": self.samples.count,
            "long_bytes": self.long_bytes,
            "groups": _select_nested_groups(self.root.document()),
            "evidence": _make_evidence_document(self.root.all_groups()),
            "models": [self._make_level_document(level) for level in self.levels],
            "hops": self._summarize_by_hops(),
            "channels": [
                {"pattern": name, **curve.document()}
                for name, curve in self.curves.items()
            ],
            "unit_groups": units,
            "pair_seconds": pair_seconds,
            "shared_links": [link.document(self.hosts) for link in self.shared],
            "pairs_met": self.pairs_met,
            "suspects": [s.document(self.hosts) for s in self.suspects],
            "noise": self.noise,
            "doubts": self.doubts,
            "claims": self.claims,
        }

    def _summarize_by_hops(self) -> list[HopTimes]:
        """Summarize times between linked hosts by hops."""
        if self.network is None or not self.network.is_graph:
            return []
        hops, first = self.network.hops, np.unique(self.host_of, return_index=True)[1]
        if isinstance(self.costs, PairCosts):
            a, b, seconds = self.costs.measured_pairs
            a, b = np.array(self.host_of)[a], np.array(self.host_of)[b]
            a, b, seconds = a[a != b], b[a != b], seconds[a != b]
        else:
            a, b = np.triu_indices(len(hops), 1)
            seconds = self.costs[first[a], first[b]]
        apart = hops[a, b]
        return [
            {
                "hops": count,
                "pairs": int((apart == count).sum()),
                "short_seconds": float(np.median(seconds[apart == count])),
            }
            for count in np.unique(apart).tolist()
        ]

    def _make_check_reference(self) -> tuple[list[list[int]], dict[str, NearAndFar]]:
        """Build the reference for checks: times inside and across groups.

        On a single host, ranks are compared instead of hosts.
        """
        single = len(self.hosts) < 2
        unit_of = list(range(self.samples.ranks)) if single else self.host_of
        groups = (
            [self.root, *self.root.groups] if single else list_host_groups(self.root)
        )
        units = [
            sorted({unit_of[rank] for rank in group.ranks}) for group in groups[::-1]
        ]
        number: dict[int, int] = {}
        for n, of_group in enumerate(units):
            for unit in of_group:
                number.setdefault(unit, n)
        seconds: dict[str, tuple[list[float], list[float]]] = {}
        of_units = np.array([number.get(unit, -1) for unit in unit_of])
        units_of = np.array(unit_of)
        for kind, found in self._find_reference_exchanges().items():
            first, second, medians = found.first, found.second, found.medians
            apart = units_of[first] != units_of[second]
            usual = apart & ~self.slow_pairs.select_slow(first, second)
            apart = usual if usual.any() else apart
            near = of_units[first] == of_units[second]
            if apart.any():
                both = medians[apart & near].tolist(), medians[apart & ~near].tolist()
                seconds[kind] = both
        pair_seconds: dict[str, NearAndFar] = {}
        for kind, (inside, across) in seconds.items():
            pair_seconds[kind] = {}
            if inside:
                pair_seconds[kind]["near"] = float(np.median(inside))
            if across:
                pair_seconds[kind]["far"] = float(np.median(across))
        return units, pair_seconds

    def _find_reference_exchanges(self) -> dict[str, Exchanges]:
        """Return the exchanges that a later check repeats, by kind of message."""
        alone = self.samples.select("alone", "burst")
        windows = np.array([order.window for order in self.samples.orders], np.int64)
        long = (alone.bytes == self.long_bytes) & (windows[alone.order] == WINDOW)
        scans = [
            number
            for number, order in enumerate(self.samples.orders)
            if order.how in ("circle", "pairs") and order.kind == "echo"
        ]
        echoes = self.samples.exchanges.select_orders(scans)
        return {"echo": echoes, "burst": alone.select_by_mask(long)}

    def _make_level_document(self, level: Level) -> LevelFields:
        costs = self.level_costs.get(level.name)
        known = {} if costs is None else costs.document()
        return {"level": level.name, "short_seconds": level.median, **known}


def _select_nested_groups(groups: list[object]) -> list[object]:
    """Return the list of groups; [] if there are only ranks."""
    return groups if any(isinstance(group, list) for group in groups) else []


def _make_evidence_document(groups: Any) -> list[GroupEvidence]:
    return [
        {
            "ranks": list(part.ranks),
            "inside": _make_sample_document(found.inside),
            "into": _make_sample_document(found.into),
            "t": found.t,
            "p": found.p,
        }
        for group in groups
        for part, found in _list_tested_parts(group)
    ]


def _list_tested_parts(group: RankGroup) -> Sequence[tuple[RankGroup, GroupTest]]:
    """List the parts of a group that have pairs inside, and thus a test result."""
    tested = zip(group.groups, group.evidence, strict=False)
    return [(part, found) for part, found in tested if found.inside.n]


def _make_sample_document(sample: Any) -> TimeSample:
    return {
        "mean_seconds": sample.mean,
        "sigma_seconds": sample.sigma if sample.n > 1 else 0.0,
        "n": sample.n,
        "outliers": sample.outliers,
    }
