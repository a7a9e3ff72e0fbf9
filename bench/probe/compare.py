# SPDX-License-Identifier: BSD-3-Clause
"""Findings of a probe compared with planted parameters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from probe.planted import Planted
from probe.repetition import samples_of_fixed, samples_taken
from probe.truth import Line, Partition, Truth
from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import RankGroup
from topoloom.probe.stages.effort import EFFORTS

#: A constant below this share of all times of its regime is invisible and not compared.
_SEEN = 0.25
#: Ends of regimes that differ by at least this factor are distinct.
_OTHER = 8
#: Maximum pairs of ranks that identify a level.
_PAIRS = 200


@dataclass
class RegimeErrors:
    """Errors of the constants of one regime of a level, as parts of the true ones.

    Attributes
    ----------
    alpha, beta
        Relative error; None if the constant is invisible in the times.
    alpha_inside, beta_inside
        Whether the interval contains the true constant; None as above.
    """

    level: int
    regime: int
    alpha: float | None = None
    beta: float | None = None
    alpha_inside: bool | None = None
    beta_inside: bool | None = None


def _make_zero_counts() -> list[list[int]]:
    return [[0, 0], [0, 0]]


@dataclass
class Outcome:
    """Accuracy of the probe of one machine.

    Attributes
    ----------
    missed_levels
        Planted levels whose pairs are all assigned to other levels.
    ends
        Estimated over true message size at the end of each regime, by level; None: not
        found. `more_ends` were not planted.
    rand
        Rand index between the groups of each planted level, from inside hosts upward,
        and the most similar groups found.
    false_groups
        Groups found that were not planted at any level.
    slow
        The planted slow part: ``host`` or ``link``, and its name; empty: none.
    found
        Whether the slow part was found.
    alarms
        Parts falsely reported as slow.
    uplinks
        Measured over true rate of each uplink that carries less than the links below
        it; None: not measured.
    sharing_near, sharing_all
        Counts of pairs of pairs, inside smallest groups and randomly drawn, by whether
        they slow each other down and whether the probe found it.
    pair_rounds, pairs_of_pairs
        Number of concurrent measurements, and of pairs of pairs.
    samples, fixed
        Samples of the scan, and their number if all pairs had as many as the worst
        pair needs.
    seconds, cpu_seconds
        Wall time and CPU time of the probe and the simulation.
    ended
        Reason for missing findings.
    """

    seed: int
    effort: str
    ranks: int
    hosts: int
    depth: int
    noise: float
    slow: str
    regimes: list[RegimeErrors] = field(default_factory=list)
    missed_levels: list[int] = field(default_factory=list)
    ends: list[float | None] = field(default_factory=list)
    more_ends: int = 0
    rand: list[float] = field(default_factory=list)
    false_groups: int = 0
    found: bool = False
    alarms: list[str] = field(default_factory=list)
    uplinks: list[float | None] = field(default_factory=list)
    sharing_near: list[list[int]] = field(default_factory=_make_zero_counts)
    sharing_all: list[list[int]] = field(default_factory=_make_zero_counts)
    pair_rounds: int = 0
    pairs_of_pairs: int = 0
    samples: int = 0
    fixed: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    ended: str = ""

    @classmethod
    def of(cls, machine: Planted, effort: str, ended: str = "") -> Outcome:
        """Make the outcome of a machine without comparisons."""
        slow = machine.slow
        return cls(
            *(machine.seed, effort, len(machine.host_of), machine.hosts),
            *(machine.depth, machine.noise),
            f"{slow.kind}, {slow.of}" if slow else "",
            ended=ended,
        )

    @property
    def groups_right(self) -> bool:
        """Whether the groups equal the planted ones."""
        return min(self.rand, default=0.0) == 1 and not self.false_groups

    @property
    def right(self) -> bool:
        """Whether groups and slow parts equal the planted ones."""
        suspects_right = self.found == bool(self.slow) and not self.alarms
        return self.groups_right and suspects_right and not self.ended


def compare(machine: Planted, findings: Findings, effort: str) -> Outcome:
    """Compare all findings with the planted parameters."""
    truth = Truth(machine)
    made = Outcome.of(machine, effort, findings.ended or "")
    _compare_groups(made, truth, findings.root)
    _compare_costs(made, truth, findings)
    _compare_suspects(made, machine, findings.document()["suspects"])
    rates = {frozenset(ranks): rate for ranks, rate in findings.uplinks.items()}
    for ranks, rate in truth.tight_uplinks().items():
        made.uplinks.append(rates[ranks] / rate if ranks in rates else None)
    made.samples = samples_taken(findings.samples)
    made.fixed = samples_of_fixed(findings.samples, EFFORTS[effort])
    return made


def rand_index(a: Partition, b: Partition, ranks: int) -> float:
    """Return the share of pairs of ranks on which two partitions agree."""
    labels = np.zeros((2, ranks), int)
    for row, partition in zip(labels, (a, b), strict=True):
        for number, group in enumerate(partition):
            row[list(group)] = number
    same = labels[:, :, None] == labels[:, None, :]
    above = np.triu_indices(ranks, 1)
    return float((same[0] == same[1])[above].mean())


def _compare_groups(made: Outcome, truth: Truth, root: RankGroup) -> None:
    found = list(_iterate_partitions(root))
    single = frozenset(frozenset([rank]) for rank in root.ranks)
    candidates = [*found, single]
    planted = {level: truth.partition(level) for level in truth.levels}
    for partition in planted.values():
        made.rand.append(max(rand_index(partition, c, made.ranks) for c in candidates))
    known = {group for partition in planted.values() for group in partition}
    made.false_groups = sum(
        frozenset(group.ranks) not in known
        for group in root.all_groups()
        if len(group.ranks) > 1
    )


def _iterate_partitions(root: RankGroup) -> Iterator[Partition]:
    """Yield the groups of each depth, starting with the root."""
    level = [root]
    while True:
        yield frozenset(frozenset(group.ranks) for group in level)
        if not any(group.groups for group in level):
            return
        level = [part for group in level for part in (group.groups or [group])]


def _compare_costs(made: Outcome, truth: Truth, findings: Findings) -> None:
    models = _match_models(truth, findings)
    for level in truth.levels:
        if level not in models:
            made.missed_levels.append(level)
            continue
        planted = truth.lines(level)
        for number, line in enumerate(planted):
            made.regimes.append(_compute_errors(level, number, line, models[level]))
        lines = models[level]["lines"]
        ends = [float(line["most_bytes"]) for line in lines[:-1]]
        for line in planted[:-1]:
            last = float(line.last or 0)
            close = _find_closest(ends, last)
            if close is None or _get_log_distance(close / last) > _get_log_distance(
                _OTHER
            ):
                made.ends.append(None)
            else:
                made.ends.append(close / last)
                ends.remove(close)
        made.more_ends += len(ends)


def _find_closest(ends: Sequence[float], to: float) -> float | None:
    return min(ends, key=lambda end: _get_log_distance(end / to), default=None)


def _get_log_distance(ratio: float) -> float:
    return float(abs(np.log(ratio)))


def _match_models(truth: Truth, findings: Findings) -> dict[int, Mapping[str, Any]]:
    """For each planted level, return the curve of the found level with most pairs."""
    shares: dict[int, tuple[int, Mapping[str, Any]]] = {}
    for level in findings.levels:
        costs = findings.level_costs.get(level.name)
        if costs is None:
            continue
        pairs = [pair for group in level.groups for pair in group.pairs()]
        some = pairs[:: max(1, len(pairs) // _PAIRS)]
        of = Counter(truth.level_of(*pair) for pair in some)
        (planted, count), *_ = of.most_common(1)
        weight = count * len(pairs) // len(some)
        if weight > shares.get(planted, (0, {}))[0]:
            shares[planted] = weight, costs.alone.document()
    return {level: curve for level, (_, curve) in shares.items()}


def _compute_errors(
    level: int, number: int, line: Line, curve: Mapping[str, Any]
) -> RegimeErrors:
    last = line.last or math.inf
    sizes = [size for size in curve["sizes"] if line.first <= size <= last]
    middle = sizes[len(sizes) // 2]
    fitted = next(f for f in curve["lines"] if f.get("most_bytes", last) >= middle)
    made = RegimeErrors(level, number)
    if line.alpha >= _SEEN * (line.alpha + line.beta * sizes[0]):
        made.alpha = fitted["alpha_seconds"] / line.alpha - 1
        made.alpha_inside = _is_inside(line.alpha, fitted["alpha_interval_seconds"])
    longest = line.beta * sizes[-1]
    if longest >= _SEEN * (line.alpha + longest):
        made.beta = fitted["beta_seconds_per_byte"] / line.beta - 1
        made.beta_inside = _is_inside(
            line.beta, fitted["beta_interval_seconds_per_byte"]
        )
    return made


def _is_inside(value: float, interval: Sequence[float]) -> bool:
    low, high = interval
    return low <= value <= high


def _compare_suspects(
    made: Outcome, machine: Planted, suspects: Sequence[Mapping[str, Any]]
) -> None:
    slow = machine.slow
    for suspect in suspects:
        reported = suspect["kind"], sorted(suspect["hosts"]), suspect["of"]
        if slow is not None and reported == (
            *(slow.kind, sorted(f"h{host}" for host in slow.hosts)),
            slow.of,
        ):
            made.found = True
        else:
            made.alarms.append(_format_suspect(suspect))


def _format_suspect(suspect: Mapping[str, Any]) -> str:
    hosts = " ".join(suspect["hosts"])
    times = suspect["times_as_long"]
    return f"{suspect['kind']} {suspect['of']} {hosts} x{times:.2f}"
