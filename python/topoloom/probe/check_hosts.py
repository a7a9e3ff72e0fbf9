# SPDX-License-Identifier: BSD-3-Clause
"""Checks whether hosts are slower than in an earlier probe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from topoloom._core import Error
from topoloom.probe.inference.suspects import BANDWIDTH, LATENCY
from topoloom.probe.job.probe_job import ProbeJob
from topoloom.probe.job.samples import Order
from topoloom.probe.job_checks import check_ranks, find_crowded_hosts
from topoloom.probe.locate.diagnose_parts import BadPart, PartTest, locate_by_rounds
from topoloom.probe.locate.machine_parts import MachineParts
from topoloom.probe.reference import CheckReference
from topoloom.probe.scan_inference import group_by_host
from topoloom.probe.stages.effort import (
    Clock,
    Effort,
    format_pairs,
    make_sampling_order,
)
from topoloom.probe.stages.rates import WINDOW
from topoloom.probe.stages.scan import SIZE as SCAN_SIZE

if TYPE_CHECKING:
    from topoloom.documents.probes import CheckDocument

#: A host is slow if the ratio of its times to those in the file is at least this.
SLOW = 1.15
#: Number of partners of each host in its group, and number of repetitions for a host
#: that seems slow.
_OTHERS, _AGAIN = 3, 2
#: Number of pairs per order to the job; the clock is checked after each order.
_PAIRS_PER_ORDER = 64

Pair = tuple[int, int]
PartsOf = Callable[[Sequence[str]], MachineParts]


@dataclass(frozen=True)
class SlowHost:
    """A slow host, its slow property (latency or bandwidth), and the factor."""

    host: str
    of: str
    factor: float


@dataclass(frozen=True)
class KnownSlowPart:
    """A host or link that the file calls slow, the slow property, and its factor."""

    hosts: list[str]
    of: str
    factor: float


@dataclass(frozen=True)
class CheckedMachine:
    """The result of a check that compares a machine with its file."""

    hosts: list[str]  # names of measured hosts
    slow: list[SlowHost]  # hosts slower than in the file
    unknown: list[str]  # names of hosts that are not in the file
    #: `latency`, `bandwidth`: median, over all hosts, of the measured time divided by
    #: the time in the file; for short messages, and for long ones.
    latency: float
    bandwidth: float
    #: Measured hosts and links that are already slow in the file. They are reported as
    #: slow only if they are slower now.
    known: list[KnownSlowPart] = field(default_factory=list)
    #: Hosts that were not measured for lack of time.
    unmeasured: list[str] = field(default_factory=list)
    #: Hosts that were not measured because their ranks share CPUs and wait for each
    #: other.
    crowded: list[str] = field(default_factory=list)
    unit: str = "host"  # unit of `hosts`: ``host`` or ``rank``
    #: Machine parts that explain why messages are slow.
    bad_parts: list[BadPart] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether no measured host or part is slower than in the file."""
        sure = any(part.sure for part in self.bad_parts)
        return not (self.slow or sure) and max(self.latency, self.bandwidth) < SLOW

    def document(self) -> CheckDocument:
        """Build the document for ``--json``."""
        return {
            "good": self.good,
            "hosts": self.hosts,
            "slow": [
                {"host": s.host, "of": s.of, "times_as_long": s.factor}
                for s in self.slow
            ],
            "bad_parts": [part.document() for part in self.bad_parts],
            "known_slow": [
                {"hosts": s.hosts, "of": s.of, "times_as_long": s.factor}
                for s in self.known
            ],
            "unknown_hosts": self.unknown,
            "unmeasured_hosts": self.unmeasured,
            "crowded_hosts": self.crowded,
            "latency_times_as_long": self.latency,
            "bandwidth_times_as_long": self.bandwidth,
        }


def check_hosts(
    job: ProbeJob,
    reference: CheckReference,
    effort: Effort,
    clock: Clock,
    parts_of: PartsOf | None = None,
    every_part: bool = False,
) -> CheckedMachine:
    """Measure every host with a few hosts of its group; compare times with the file.

    `parts_of` returns the machine parts that messages between given hosts can test; if
    it is specified, such messages locate the bad part. `every_part`: whether all parts
    are tested even if no host is slow. Raises `topoloom.Error` if fewer than two known
    hosts have a CPU per rank, or hosts have different MPI libraries.
    """
    check_ranks(job.samples)
    crowded = find_crowded_hosts(job.samples)
    names = _list_leaders(job, reference)
    units = list(names) if len(reference.hosts) == 1 else reference.hosts
    known = {name: n for n, name in enumerate(units)}
    unknown = [name for name in names if name not in known]
    leader = {
        known[name]: rank
        for name, rank in names.items()
        if name in known and job.samples.places[rank].host not in crowded
    }
    if len(leader) < 2:
        for name, what in crowded.items():
            raise Error(
                f"{name} has {what}, which wait for each other, so times are "
                "meaningless; start at most as many ranks as CPUs"
            )
        raise Error("fewer than two hosts of the job are in the file; probe again")
    pairs = _choose_pairs(sorted(leader), reference.groups)
    slow: list[SlowHost] = []
    usual: dict[str, float] = {}
    bad_parts: list[BadPart] = []
    measured = set(leader)
    job.measure([make_sampling_order(effort)])
    for kind, of, share in (("echo", LATENCY, 0.5), ("burst", BANDWIDTH, 1.0)):
        again = partial(_measure_ratios, job, leader, reference, kind)
        ratios = _measure_in_time(again, pairs, clock, share)
        measured &= {host for pair in ratios for host in pair}
        usual[kind] = float(np.median(list(ratios.values())))
        # If all hosts are slower than in the file, no single host is reported.
        limit = SLOW * max(1.0, min(ratios.values()))
        ones = list(_find_slow_hosts(ratios, limit, again))
        slow += [SlowHost(units[host], of, factor) for host, factor in ones]
        several = len(leader) > 2 and len(reference.hosts) > 1
        if parts_of is not None and several and (ones or every_part):
            tested = sorted(leader)
            parts = parts_of([units[host] for host in tested])
            bad_parts += _find_bad_parts(parts, tested, ratios, again, clock)
    return CheckedMachine(
        [units[host] for host in sorted(measured)],
        slow,
        unknown,
        usual["echo"],
        usual["burst"],
        [
            KnownSlowPart([units[host] for host in s.hosts], s.of, s.factor)
            for s in reference.suspects
            if measured.issuperset(s.hosts)
        ],
        [units[host] for host in sorted(set(leader) - measured)],
        [*crowded],
        "host" if len(reference.hosts) > 1 else "rank",
        bad_parts,
    )


def _find_bad_parts(
    parts: MachineParts,
    hosts: Sequence[int],
    ratios: Mapping[Pair, float],
    again: Callable[[Sequence[Pair]], dict[Pair, float]],
    clock: Clock,
) -> list[BadPart]:
    """Find the parts that slow pairs share; measure more rounds while time remains."""
    usual = max(1.0, float(np.median(list(ratios.values()))))
    number = {host: n for n, host in enumerate(hosts)}

    def make_tests(found: Mapping[Pair, float]) -> list[PartTest]:
        return [
            PartTest([(number[a], number[b])], ratio / usual)
            for (a, b), ratio in found.items()
        ]

    def measure(pairs: list[Pair]) -> list[PartTest]:
        return make_tests(
            _measure_in_time(again, [(hosts[a], hosts[b]) for a, b in pairs], clock, 1)
        )

    found, _ = locate_by_rounds(
        parts, measure, make_tests(ratios), lambda: clock.left() > 0
    )
    return found.bad


def _measure_in_time(
    measure: Callable[[Sequence[Pair]], dict[Pair, float]],
    pairs: Sequence[Pair],
    clock: Clock,
    share: float,
) -> dict[Pair, float]:
    """Measure pairs, order by order, until a share of the time has passed."""
    ratios: dict[Pair, float] = {}
    for begin in range(0, len(pairs), _PAIRS_PER_ORDER):
        ratios |= measure(pairs[begin : begin + _PAIRS_PER_ORDER])
        if clock.left(share) <= 0:
            break
    return ratios


def _find_slow_hosts(
    ratios: dict[Pair, float],
    limit: float,
    again: Callable[[Sequence[Pair]], dict[Pair, float]],
) -> Iterator[tuple[int, float]]:
    """Yield each host that is slow in two measurements, and its ratio; slowest first.

    Pairs that include an earlier host are ignored, since a slow host slows its
    partners.
    """
    left = dict(ratios)
    while left:
        hosts = {host for pair in left for host in pair}
        own = {h: [r for pair, r in left.items() if h in pair] for h in hosts}
        host = max(sorted(hosts), key=lambda h: float(np.median(own[h])))
        if np.median(own[host]) <= limit:
            return
        mine = [pair for pair in left if host in pair]
        factor = float(np.median(list(again(mine * _AGAIN).values())))
        if factor > limit:
            yield host, factor
        left = {pair: r for pair, r in left.items() if pair not in mine}


def _list_leaders(job: ProbeJob, reference: CheckReference) -> dict[str, int]:
    """Map host names to first ranks; on a single host, map rank names to ranks."""
    if len(reference.hosts) == 1:
        return {f"rank {rank}": rank for rank in range(job.samples.ranks)}
    hosts, _ = group_by_host(job.samples)
    return {job.samples.places[ranks[0]].host: ranks[0] for ranks in hosts}


def _choose_pairs(hosts: Sequence[int], groups: Sequence[Sequence[int]]) -> list[Pair]:
    """Pair each host with the next hosts of its group, or with any if it is alone."""
    pairs: set[Pair] = set()
    here = set(hosts)
    for host in hosts:
        group = next((g for g in groups if host in g and len(here & set(g)) > 1), hosts)
        mine = sorted(here & set(group))
        at = mine.index(host)
        for step in range(1, min(_OTHERS, len(mine) - 1) + 1):
            other = mine[(at + step) % len(mine)]
            pairs.add((min(host, other), max(host, other)))
    return sorted(pairs)


def _measure_ratios(
    job: ProbeJob,
    leader: dict[int, int],
    reference: CheckReference,
    kind: str,
    pairs: Sequence[Pair],
) -> dict[Pair, float]:
    """Measure pairs sequentially; return the ratios of their times to the file's."""
    long = reference.long_bytes, WINDOW
    size, window = (SCAN_SIZE, 1) if kind == "echo" else long
    listed = format_pairs([(leader[a], leader[b]) for a, b in pairs])
    found = job.measure([Order("alone", kind, [size], window, listed)])
    host_of = {rank: host for host, rank in leader.items()}
    ratios: dict[Pair, list[float]] = {}
    for exchange in found:
        a, b = host_of[exchange.first], host_of[exchange.second]
        expected = reference.get_expected_seconds(kind, a, b)
        pair = (min(a, b), max(a, b))
        ratios.setdefault(pair, []).append(exchange.median / expected)
    return {pair: float(np.median(values)) for pair, values in ratios.items()}
