# SPDX-License-Identifier: BSD-3-Clause
"""Measures a machine in stages, and infers its structure and its speeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from topoloom.probe.concurrent_pairs import (
    choose_concurrent_pairs,
    fit_concurrent_pairs,
)
from topoloom.probe.described_routes import (
    DescribedRoutes,
    list_all_pairs,
    make_disjoint_rounds,
)
from topoloom.probe.findings import INTERRUPTED, TERMINATED, Findings
from topoloom.probe.inference.suspects import (
    MIN_COMPARABLE,
    Residuals,
    compute_rate_residuals,
    is_as_fast_across,
)
from topoloom.probe.job.probe_job import JobEnded, ProbeJob
from topoloom.probe.job_checks import check_ranks, describe_crowded_hosts
from topoloom.probe.large_scan import scan_large_job
from topoloom.probe.refinement import measure_undecided_pairs
from topoloom.probe.scan_inference import (
    group_by_host,
    infer_findings,
    list_comparable_sets,
    list_first_ranks,
)
from topoloom.probe.shared_links import find_shared_links
from topoloom.probe.stages.effort import Clock, Effort
from topoloom.probe.stages.messages import measure_messages
from topoloom.probe.stages.rates import (
    choose_long_size,
    measure_bursts,
    measure_concurrent_pairs,
    measure_link_bursts,
)
from topoloom.probe.stages.scan import MAX_RANKS, scan_pairs
from topoloom.probe.suspect_recheck import recheck_suspects
from topoloom.probe.time_estimate import estimate_time, measure_first_round
from topoloom.probe.typical_costs import (
    choose_level_pairs,
    fit_typical_costs,
    measure_levels,
)

#: Maximum system noise: by how much the time of a piece of work may exceed its minimum,
#: relative to it.
_MAX_NOISE = 0.05
#: Minimal duration, in seconds, of the piece of work that measures noise.
_QUANTUM = 5e-7


class StageProgress(Protocol):
    """Callback interface that reports the progress of stages."""

    def __call__(self, stage: str) -> Callable[[int, int], None]:
        """Begin a stage; return a callback for the completed and the total work."""
        ...


def measure_machine(
    job: ProbeJob,
    effort: Effort,
    clock: Clock,
    watch: StageProgress,
    tell: Callable[[str], None] = lambda _text: None,
    routes: DescribedRoutes | None = None,
) -> Findings:
    """Measure the machine as completely as time allows.

    If the job ends early, by Ctrl-C or another signal, the results so far are returned,
    and `Findings.ended` is set.

    After the first round, `tell` is called with a line that estimates the duration of
    the measurement. `routes`:
    routes between hosts, if known.
    """
    samples = job.samples
    check_ranks(samples)
    doubts = describe_crowded_hosts(samples)
    found: Findings | None = None
    try:
        hosts, _ = group_by_host(samples)
        planned = estimate_time(
            [*map(len, hosts)], effort, measure_first_round(job, hosts, effort)
        )
        tell(planned.sentence(clock.seconds))
        whole, found = _scan_pairs(job, effort, clock, doubts, watch, routes)
        if not whole:
            found.doubts.append("there was no time for all pairs; --time gives more")
        _measure_more(job, found, effort, clock, watch)
    except (JobEnded, KeyboardInterrupt, SystemExit, OSError) as error:
        if found is None and not any(samples.select("circle", "echo")):
            raise
        found = found or infer_findings(samples, doubts)
        found.ended = _describe_end(error)
    _fit_costs_and_noise(found)
    return found


def _describe_end(error: BaseException) -> str:
    """Describe why a measurement ended early."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    return TERMINATED if isinstance(error, SystemExit) else str(error)


def _scan_pairs(
    job: ProbeJob,
    effort: Effort,
    clock: Clock,
    doubts: Sequence[str],
    watch: StageProgress,
    routes: DescribedRoutes | None,
) -> tuple[bool, Findings]:
    """Run the scan; return whether time sufficed, and the findings."""
    hosts, host_of = group_by_host(job.samples)
    if len(host_of) > MAX_RANKS:
        whole, parts = scan_large_job(job, hosts, effort, clock, watch)
        return whole, infer_findings(job.samples, doubts, parts)
    ranks = [rank for of_host in hosts for rank in of_host]
    rounds = None
    if routes is not None:
        rounds = make_disjoint_rounds(routes, host_of, list_all_pairs(ranks))
    whole = scan_pairs(job, ranks, rounds, effort, clock, watch("all pairs"))
    found = infer_findings(job.samples, doubts)
    return whole, measure_undecided_pairs(job, found, effort, clock) if whole else found


def _measure_more(
    job: ProbeJob, found: Findings, effort: Effort, clock: Clock, watch: StageProgress
) -> None:
    pairs = choose_level_pairs(found, effort)
    late = "there was no time for {}; --time gives more"
    begin = len(job.samples.orders)
    whole = False
    try:
        whole = measure_messages(job, pairs, effort, clock, watch("sizes"))
    finally:
        found.of_sizes += range(begin, len(job.samples.orders))
    fit_typical_costs(found)
    found.long_bytes = _choose_long_bytes(found)
    typical = [pair for of_level in pairs.values() for pair in of_level]
    rates, partners, all_hosts = _measure_long_messages(
        job, found, typical, effort, clock
    )
    if not all_hosts:
        found.doubts.append(late.format("long messages of all hosts"))
    found.suspects += recheck_suspects(job, found, rates, partners)
    if found.suspects:
        sizes = watch("sizes without what is slow")
        pairs, again = measure_levels(job, found, pairs, effort, clock, sizes)
        typical = [pair for of_level in pairs.values() for pair in of_level]
        whole &= again
    if not whole:
        found.doubts.append(late.format("messages of all sizes"))
    fit_typical_costs(found)
    shared = watch("pairs of pairs")
    find_shared_links(job, found, typical, effort, clock, shared)
    patterns = choose_concurrent_pairs(found)
    begin = len(job.samples.orders)
    if not measure_concurrent_pairs(
        job, patterns, found.long_bytes, clock, watch("pairs at once")
    ):
        found.doubts.append(late.format("all numbers of pairs at once"))
    fit_concurrent_pairs(found, patterns, begin)


def _measure_long_messages(
    job: ProbeJob,
    found: Findings,
    typical: Sequence[tuple[int, int]],
    effort: Effort,
    clock: Clock,
) -> tuple[Residuals, dict[int, list[int]], bool]:
    """Measure long messages; return residuals, partners, and whether time sufficed."""
    size, sets, whole = found.long_bytes, list_comparable_sets(found), True
    host_of, first = found.host_of, list_first_ranks(found)
    partners: dict[int, list[int]] = {host: [] for host in range(len(found.hosts))}
    network = found.network
    latencies = np.zeros((1, 1)) if network is None else network.predicted
    if network is not None and network.is_graph:
        links = [(first[a], first[b]) for a, b in network.neighbors]
        bursts = measure_link_bursts(job, links, typical, size)
        sets = [list(found.root.ranks)]
        for a, b in network.neighbors:
            partners[a].append(b)
            partners[b].append(a)
    else:
        bursts, whole = measure_bursts(job, sets, typical, size, effort, clock)
        few = [ranks for ranks in sets if len(ranks) < MIN_COMPARABLE]
        joined = sorted(rank for ranks in few for rank in ranks)
        if whole and len(few) > 1 and len(joined) >= MIN_COMPARABLE:
            across, whole = measure_bursts(job, [joined], [], size, effort, clock)
            if is_as_fast_across(few, host_of, [*bursts, *across], latencies):
                sets = [ranks for ranks in sets if ranks not in few] + [joined]
                bursts = [*bursts, *across]
        for ranks in sets:
            mine = [host_of[rank] for rank in ranks]
            partners |= dict.fromkeys(mine, mine)
    return compute_rate_residuals(sets, host_of, bursts, latencies), partners, whole


def _choose_long_bytes(found: Findings) -> int:
    """Choose the size of long messages, based on the most expensive level."""
    last = [costs.alone.model.lines[-1] for costs in found.level_costs.values()]
    return max((choose_long_size(line[0], line[1]) for line in last), default=1 << 18)


def _fit_costs_and_noise(found: Findings) -> None:
    fit_typical_costs(found)
    quanta = [
        e for e in found.samples.select("noise", "noise") if e.seconds[0] > _QUANTUM
    ]
    if quanta:  # a simulated clock has no noise
        shares = [e.seconds[2] / e.seconds[0] - 1 for e in quanta]
        found.noise = float(np.median(shares))
        if found.noise > _MAX_NOISE:
            found.doubts.append(
                f"work takes {found.noise:.0%} longer than at best: something else "
                "runs on the hosts, or ranks share cores"
            )
