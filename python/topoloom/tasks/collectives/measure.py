# SPDX-License-Identifier: BSD-3-Clause
"""Measures schedules of a collective and the MPI library's own implementation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom._core import Error
from topoloom.preload.collective_timing import MPI_OWN, TimingRequest, time_cases
from topoloom.schedules.call_trace import CallTrace, parse_traces
from topoloom.schedules.choose import (
    Call,
    find_operation,
    list_schedule_names,
    rank_schedules,
)
from topoloom.schedules.decisions import Decision, make_decision_table
from topoloom.support.parameter_error import ParameterError, check_int64
from topoloom.tasks.collectives.collective import CollectivePlatform, read_call

if TYPE_CHECKING:
    from topoloom.documents.collectives import MeasureDocument

#: Maximum message size, because MPI counts elements in an int.
MAX_BYTES = 2**31 - 1


class MeasuredSchedule(NamedTuple):
    """The measured times of a schedule at one size.

    Attributes
    ----------
    schedule
        Name of the schedule, or `MPI_OWN` for the MPI library's collective.
    bytes
        Message size in bytes, as in `Call`.
    samples
        Seconds of each call, in call order.
    predicted
        Predicted seconds; None without a model, and for the MPI library's collective.
    """

    schedule: str
    bytes: int
    samples: list[float]
    predicted: float | None

    @property
    def median(self) -> float:
        """The median of the samples."""
        return median(self.samples)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the median."""
        return median_interval(self.samples)


@dataclass(frozen=True)
class MeasuredCollective:
    """Measured times of all schedules at all sizes, and a traced call.

    Attributes
    ----------
    repeats
        Number of calls per schedule; fewer than requested after an interrupt.
    sizes
        The measured schedules of each size, the fastest first.
    trace
        The traced call; None if none was requested, or after an interrupt.
    """

    call: Call
    platform: CollectivePlatform | None
    repeats: int
    sizes: list[list[MeasuredSchedule]]
    trace: CallTrace | None
    interrupted: bool = False

    def document(self) -> MeasureDocument:
        """Return the fields of the ``--json`` output."""
        platform = self.platform
        return {
            "operation": self.call.operation,
            "ranks": self.call.ranks,
            "root": self.call.root,
            "model": None if platform is None else platform.model_name,
            "machine": None if platform is None else platform.machine_name or None,
            "repeats": self.repeats,
            "interrupted": self.interrupted,
            "sizes": [
                {
                    "bytes": measured[0].bytes,
                    "schedules": [
                        {
                            "name": one.schedule,
                            "median_seconds": one.median,
                            "interval_seconds": list(one.interval),
                            "predicted_seconds": one.predicted,
                        }
                        for one in measured
                    ],
                }
                for measured in self.sizes
            ],
        }

    def format_samples(self) -> Iterator[str]:
        """Yield a line of JSON for every sample, ordered by size, schedule and call."""
        for one in (one for measured in self.sizes for one in measured):
            for turn, seconds in enumerate(one.samples):
                yield json.dumps(
                    {
                        "operation": self.call.operation,
                        "ranks": self.call.ranks,
                        "bytes": one.bytes,
                        "schedule": one.schedule,
                        "turn": turn,
                        "seconds": seconds,
                    }
                )

    def decisions(self) -> dict[str, Any]:
        """Make the decision table: Topoloom's fastest schedule for each size range.

        The first entry also applies to smaller sizes.
        """
        found: list[Decision] = []
        for measured in sorted(self.sizes, key=lambda measured: measured[0].bytes):
            size = measured[0].bytes if found else min(measured[0].bytes, 1)
            best = fastest(measured).schedule
            if not found or found[-1].schedule != best:
                found.append(Decision(self.call.ranks, None, size, best))
        machine = "" if self.platform is None else self.platform.machine_name
        return make_decision_table(self.call.operation, found, "measured", machine)


def fastest(measured: Sequence[MeasuredSchedule]) -> MeasuredSchedule:
    """Return the schedule with the lowest median, except the MPI library's own."""
    ours = [one for one in measured if one.schedule != MPI_OWN]
    return min(ours, key=lambda one: one.median)


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """Compute a 95 % confidence interval of the median.

    The bounds are order statistics, chosen by the binomial distribution; no
    distribution of samples is assumed. With up to five samples, the bounds are the
    minimum and the maximum, with less confidence.
    """
    ordered, count = sorted(samples), len(samples)
    # `outside` / 2^count is the probability that the median is below sample `first`.
    first, outside = 0, 1
    while 2 * (outside + comb(count, first + 1)) <= 0.05 * 2**count:
        first += 1
        outside += comb(count, first)
    return ordered[first], ordered[count - 1 - first]


def measure_collective(
    call: Call,
    sizes: Sequence[int],
    launcher: Sequence[str],
    platform: CollectivePlatform | None = None,
    schedules: Sequence[str] = (),
    *,
    repeats: int = 30,
    mpicc: str | None = None,
    traced: bool = False,
) -> MeasuredCollective:
    """Measure all or some schedules of a collective in one MPI job.

    Ctrl-C returns the results so far if each schedule was called at least once.

    Parameters
    ----------
    call
        The collective call; its bytes are ignored.
    sizes
        Message sizes in bytes; empty for a barrier.
    launcher
        The launcher without a program: ``["mpirun", "-n", "4"]``.
    setting
        Platform for predicted times; None for no predictions.
    schedules
        Names of schedules; by default all that support the call, with default options.
    repeats
        Number of calls of each schedule and size.
    mpicc
        Compiler of the launcher's MPI; by default the one in the launcher's folder.
    traced
        Whether to trace a call of the fastest schedule at the first size.

    Raises
    ------
    topoloom.Error
        If the call or a schedule cannot be run, or the launcher fails.
    """
    check_int64("repeats", repeats, 1)
    _check_call(call, sizes)
    calls = [call._replace(bytes=size) for size in sizes or [0]]
    cases = []
    for one in calls:
        names = list(schedules) or list(list_schedule_names(one))
        for name in names:
            one.schedule(name)
        cases += [(one, name) for name in (MPI_OWN, *names)]
    requested = TimingRequest(
        call.operation,
        call.ranks,
        call.root,
        [(one.bytes, name) for one, name in cases],
    )
    timed = time_cases(requested, launcher, repeats, mpicc, traced)
    found: dict[int, list[MeasuredSchedule]] = {}
    for (one, name), samples in zip(cases, timed.samples, strict=True):
        seconds = _predict_seconds(one, name, platform)
        measured = MeasuredSchedule(name, one.bytes, samples, seconds)
        found.setdefault(one.bytes, []).append(measured)
    by_size = [sorted(each, key=lambda one: one.median) for each in found.values()]
    trace = None
    if traced and not timed.interrupted:
        best = fastest(by_size[0]).schedule
        texts = parse_traces(timed.traces, "the trace")
        trace = [each for each in texts if each.schedule == best][-1]
    count = len(timed.samples[0])
    return MeasuredCollective(call, platform, count, by_size, trace, timed.interrupted)


def _predict_seconds(
    call: Call, name: str, platform: CollectivePlatform | None
) -> float | None:
    if platform is None or name == MPI_OWN:
        return None
    (ranked,) = rank_schedules(call, platform.model, platform.slots, [name])
    return ranked.cost.time


def read_measured_call(operation: str, ranks: int, root: int = 0) -> Call:
    """Check the arguments of a call to measure, and return its description.

    Raises
    ------
    topoloom.Error
        If an argument is wrong, or MPI lacks the collective.
    """
    name = find_operation(operation)
    _check_operation(name)
    return read_call(name, ranks, 1, root)


def _check_operation(name: str) -> None:
    if name.startswith("many-to-many"):
        raise Error(f"MPI has no {name} to run; measure an alltoall")


def _check_call(call: Call, sizes: Sequence[int]) -> None:
    _check_operation(call.operation)
    if call.root >= call.ranks:
        raise ParameterError(
            "root", f"must be one of the ranks 0 to {call.ranks - 1}, not {call.root}"
        )
    if len(set(sizes)) < len(sizes):
        raise ParameterError("bytes", "has a size twice; leave one out")
    for size in sizes:
        check_int64("bytes", size, 1)
        if size > MAX_BYTES:
            raise ParameterError(
                "bytes", f"must be {MAX_BYTES} or less for MPI, not {size}"
            )
