# SPDX-License-Identifier: BSD-3-Clause
"""Scans many ranks without measuring all pairs, and infers their groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from topoloom.model.fit import NOISE
from topoloom.probe.findings import Findings
from topoloom.probe.inference import neighbors
from topoloom.probe.inference.cost_matrix import estimate_median_errors
from topoloom.probe.inference.groups import SIGMA
from topoloom.probe.inference.landmarks import (
    MAX_ALL_PAIRS,
    HostGroup,
    Hosts,
    Pairs,
    find_host_groups,
)
from topoloom.probe.inference.large_groups import find_large_groups
from topoloom.probe.inference.levels import find_levels
from topoloom.probe.inference.modes import Values
from topoloom.probe.inference.pair_costs import PairCosts
from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.job.samples import Order, ProbeSamples
from topoloom.probe.stages.effort import (
    Clock,
    Effort,
    format_pairs,
    make_error_order,
    make_scan_order,
)
from topoloom.probe.stages.scan import (
    MAX_HOSTS,
    PAIRS_PER_ORDER,
    SHARE,
    SIZE,
    measure_sets,
)

#: Number of rounds, in each of which every host has a partner, among all hosts and in
#: large groups.
HOST_ROUNDS = 16
#: Target for the relative standard error of landmark times: a quarter of the minimal
#: difference between levels.
LANDMARK_ERROR = 0.0125
#: Expected number of landmark pairs per host, as counted on generated trees of 40 to
#: 100 sibling groups.
_LANDMARK_PAIRS = 80
#: Groups do not explain times that deviate from their groups' times by more than this,
#: both in log units and in standard errors.
_MAX_UNEXPLAINED, _FAR = 0.1, 4.0
#: Minimal deviation, in standard errors, at which neighbors are searched for.
_OPEN_ERRORS = 2.0
#: Maximum number of landmark pairs; with more, subgroups remain unknown.
_MAX_LANDMARK_PAIRS = 6_000_000

Advance = Callable[[int, int], None]


def scan_large_job(
    job: ProbeJob,
    hosts: Sequence[Sequence[int]],
    effort: Effort,
    clock: Clock,
    watch: Callable[[str], Advance],
    most_hosts: int = MAX_HOSTS,
    few: int = MAX_ALL_PAIRS,
) -> tuple[bool, HostGroup | None]:
    """Measure all pairs inside each host, and one rank of each host with other hosts.

    Parameters
    ----------
    most_hosts
        Maximum number of hosts up to which all pairs are measured; landmarks are used
        for more hosts.
    few
        See `find_host_groups`.

    Returns
    -------
    tuple
        Whether the time sufficed, and the groups found by landmarks.
    """
    job.measure([make_scan_order(effort)])
    several = [ranks for ranks in hosts if len(ranks) > 1]
    if several and not measure_sets(
        job, several, None, clock, watch("pairs inside hosts")
    ):
        return False, None
    if len(hosts) < 2:
        return True, None
    first = [ranks[0] for ranks in hosts]
    rounds = None if len(hosts) <= most_hosts else HOST_ROUNDS
    whole = measure_sets(job, [first], rounds, clock, watch("pairs of hosts"))
    if rounds is None or not whole:
        return whole, None
    host_probe = _JobHostPairProbe(job, first, clock, watch, few)
    job.measure([make_error_order(effort, LANDMARK_ERROR)])
    parts = find_host_groups(len(hosts), host_probe, few)
    if len(hosts) <= neighbors.MAX_LINKED_HOSTS and not host_probe.is_late:
        _measure_neighbors(host_probe, job, hosts, effort, parts)
    job.measure([make_scan_order(effort)])
    return clock.left(SHARE) > 0, parts


def _measure_neighbors(
    host_probe: _JobHostPairProbe,
    job: ProbeJob,
    hosts: Sequence[Sequence[int]],
    effort: Effort,
    parts: HostGroup,
) -> None:
    """Measure possible neighbors more exactly if groups do not explain the times."""
    costs, errors = compute_large_costs(job.samples)
    host_of = np.zeros(job.samples.ranks, np.int64)
    for host, ranks in enumerate(hosts):
        host_of[list(ranks)] = host
    filled = costs.fill_missing(find_large_groups(hosts, costs, errors, parts))
    left, error = _measure_unexplained(host_of.tolist(), filled, errors)
    if left <= _OPEN_ERRORS * error:
        return
    pairs = neighbors.find_candidates(costs, np.array([min(ranks) for ranks in hosts]))
    job.measure([make_error_order(effort, neighbors.CANDIDATE_ERROR)])
    host_probe.measure_pairs(pairs)


class _JobHostPairProbe:
    """Measures pairs of hosts for `find_host_groups`."""

    def __init__(
        self,
        job: ProbeJob,
        first: Sequence[int],
        clock: Clock,
        watch: Callable[[str], Advance],
        few: int,
    ) -> None:
        self._job, self._first, self._clock = job, np.array(first), clock
        self._watch, self._advance = watch, watch("landmarks")
        self._few, self._done = few, 0
        self._trips = job.samples.orders[-1].window

    @property
    def is_late(self) -> bool:
        """Whether the time for more pairs has run out."""
        return self._clock.left(SHARE) <= 0 or self._done > _MAX_LANDMARK_PAIRS

    def measure_pairs(self, pairs: Pairs) -> tuple[Values, float]:
        """Measure pairs of hosts; return their seconds and the relative error."""
        before = len(self._job.samples.exchanges)
        ranks = self._first[pairs]
        for begin in range(0, len(pairs), PAIRS_PER_ORDER):
            some = ranks[begin : begin + PAIRS_PER_ORDER].tolist()
            order = Order("pairs", "echo", [SIZE], self._trips, format_pairs(some))
            self._job.measure([order])
            self._done += len(some)
            self._advance(
                self._done,
                max(self._done + 1, estimate_landmark_pairs(len(self._first))),
            )
        found = self._job.samples.exchanges[before:]
        medians = found.medians
        known = PairCosts(self._job.samples.ranks, found.first, found.second, medians)
        errors = estimate_median_errors(
            found.counts, medians, found.relative_deviations
        )
        error = float(np.median(errors)) if len(found) else NOISE
        return known[ranks[:, 0], ranks[:, 1]], error

    def measure_inside(self, sets: Sequence[Hosts]) -> None:
        """Measure all pairs of small sets, and some rounds of pairs of large sets."""
        self._advance(self._done, self._done)
        ranks = [self._first[members].tolist() for members in sets if len(members) > 1]
        small = [each for each in ranks if len(each) <= self._few]
        large = [each for each in ranks if len(each) > self._few]
        for some, rounds in ((small, None), (large, HOST_ROUNDS)):
            if some:
                advance = self._watch("pairs inside groups")
                measure_sets(self._job, some, rounds, self._clock, advance)


def estimate_landmark_pairs(hosts: int) -> int:
    """Estimate the number of landmark pairs for many hosts."""
    return _LANDMARK_PAIRS * hosts


def infer_large(
    samples: ProbeSamples,
    hosts: Sequence[Sequence[int]],
    host_of: Sequence[int],
    doubts: Sequence[str],
    parts: HostGroup | None,
) -> tuple[Findings, PairCosts]:
    """Infer groups and levels from the scan; also return relative errors of costs."""
    costs, errors = compute_large_costs(samples)
    root = find_large_groups(hosts, costs, errors, parts)
    filled = costs.fill_missing(root)
    names = [samples.places[ranks[0]].host for ranks in hosts]
    levels = find_levels(root, filled)
    remarks = [*doubts, *_describe_unknown(parts)]
    found = Findings(
        samples, names, list(host_of), filled, root, levels, doubts=remarks
    )
    return found, errors


def describe_unexplained(
    hosts: Sequence[Sequence[int]],
    host_of: Sequence[int],
    costs: PairCosts,
    errors: PairCosts,
) -> Iterator[str]:
    """Describe the deviation if groups do not explain the times of many hosts."""
    left, error = _measure_unexplained(host_of, costs, errors)
    if len(hosts) > MAX_HOSTS and left > max(_MAX_UNEXPLAINED, _FAR * error):
        links = "nor do links between neighbors"
        if len(hosts) > neighbors.MAX_LINKED_HOSTS:
            links = (
                f"neighbors are looked for among {neighbors.MAX_LINKED_HOSTS:,} at most"
            )
        yield f"groups of {len(hosts):,} hosts do not explain their times; {links}"


def _measure_unexplained(
    host_of: Sequence[int], costs: PairCosts, errors: PairCosts
) -> tuple[float, float]:
    """Return how far log times deviate from their groups' times, and the error."""
    first, second, seconds = costs.measured_pairs
    of = np.array(host_of)
    apart = of[first] != of[second]
    first, second, seconds = first[apart], second[apart], seconds[apart]
    if not len(seconds):
        return 0.0, 0.0
    left = np.log(seconds / costs.get_typical(first, second))
    error = float(np.median(errors.measured_pairs[2]))
    return SIGMA * float(np.median(np.abs(left))), error


def _describe_unknown(parts: HostGroup | None) -> Iterator[str]:
    for part in parts.all_parts() if parts else ():
        if not part.is_known:
            yield (
                f"whether {len(part.members):,} hosts are in smaller groups is not "
                "known: that takes more landmarks than there was time for"
            )


def compute_large_costs(samples: ProbeSamples) -> tuple[PairCosts, PairCosts]:
    """Compute the costs of pairs of ranks and their relative errors."""
    exchanges = samples.exchanges
    scanned = [
        n
        for n, order in enumerate(samples.orders)
        if order.how in ("circle", "pairs")
        and order.kind == "echo"
        and list(order.sizes) == [SIZE]
    ]
    found = exchanges.select_orders(scanned)
    ends = samples.ranks, found.first, found.second
    medians = found.medians
    errors = estimate_median_errors(found.counts, medians, found.relative_deviations)
    return PairCosts(*ends, medians), PairCosts(*ends, errors)
