# SPDX-License-Identifier: BSD-3-Clause
"""Fits message costs of a level by size, as lines with ranges and intervals.

Lines alpha + beta m (Hockney) are fitted separately to single messages, half a round
trip, and to messages of a burst.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from topoloom._core import MessageCosts, NetworkModel
from topoloom.model.fit import MIN_SIZES, NOISE, Fit, fit_model
from topoloom.model.message_lines import convert_to_regimes
from topoloom.probe.job.samples import Exchange

if TYPE_CHECKING:
    from topoloom.documents.probes import (
        FittedLineFields,
        LevelCostFields,
        LogGP,
        TimeCurveFields,
    )

#: Two-sided 95 % quantiles of Student's t by degrees of freedom, from 1 on, and of the
#: normal distribution.
_STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_NORMAL = 1.96
#: How many degrees of freedom the variance of other lines counts as.
_SHARED = 4
#: If the receive call takes more than this share of a message's time, it has waited for
#: the message.
_WAIT_SHARE = 0.5
#: Maximum of the bidirectional bandwidth, relative to that of one direction.
_MAX_BOTH_WAYS = 2.0
#: If a rank's overhead exceeds this share of the gap, the gap is due to that rank.
_DUE_SHARE = 0.9


Errors = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class FittedLine:
    """Messages of `first` to `last` bytes take alpha + beta m seconds."""

    alpha: Estimate
    beta: Estimate
    first: int
    #: The size at which the line ends, between two measured sizes; None for the last
    #: line.
    end: Estimate | None

    def document(self) -> FittedLineFields:
        """Return the fields of the ``--json`` output."""
        made: FittedLineFields = {
            "alpha_seconds": self.alpha.value,
            "beta_seconds_per_byte": self.beta.value,
        }
        if math.isfinite(self.alpha.high):  # two sizes leave no degree of freedom
            made["alpha_interval_seconds"] = [self.alpha.low, self.alpha.high]
            made["beta_interval_seconds_per_byte"] = [self.beta.low, self.beta.high]
        if self.end is not None:
            made["most_bytes"] = int(self.end.value)
            made["most_interval_bytes"] = [int(self.end.low), int(self.end.high)]
        return made


@dataclass(frozen=True)
class TimeCurve:
    """Median times by message size, and the fitted lines."""

    fit: Fit
    lines: list[FittedLine]

    @property
    def model(self) -> NetworkModel:
        """The lines in the format of a network model."""
        return self.fit.model

    @property
    def errors(self) -> Errors:
        """Relative errors of the lines by size; positive if too high.

        The model is below the fit where longer messages take less time, because short
        messages can be padded.
        """
        return _compute_line_errors(self.fit)

    def document(self) -> TimeCurveFields:
        """Return the fields of the ``--json`` output."""
        errors = np.abs(self.errors)
        return {
            "largest": self.model.takes_largest,
            "lines": [line.document() for line in self.lines],
            "mean_error": float(errors.mean()),
            "worst_error": float(errors.max()),
            "sizes": self.fit.sizes.astype(int).tolist(),
            "measured_seconds": self.fit.measured.tolist(),
        }


@dataclass(frozen=True)
class LevelCosts:
    """Message costs of a level."""

    alone: TimeCurve  # half a round trip, by message size
    burst: TimeCurve | None  # a sender's time per message of a burst, by message size
    latency: float  # seconds from sending to arrival, in addition to the gap
    #: `send_cpu`, `receive_cpu`: CPU seconds of the calls; NaN if unknown. If the
    #: receive call waited, `receive_cpu` is derived from many short messages in both
    #: directions.
    send_cpu: float
    receive_cpu: float
    both_ways: float  # bidirectional bandwidth relative to that of one direction
    #: For each size in bytes, the relative time of a message whose receive is posted
    #: late.
    unexpected: dict[int, float]
    #: Seconds for each receive that was posted earlier; NaN if not measured.
    posted: float

    @property
    def model(self) -> NetworkModel:
        """The costs in the format of a network model."""
        known = {"send_cpu": self.send_cpu, "receive_cpu": self.receive_cpu}
        costs = MessageCosts()
        for name, value in known.items():
            if not math.isnan(value):
                setattr(costs, name, value)
        if self.burst is not None:  # a call is no longer than the time per message
            costs.send_cpu = min(costs.send_cpu, float(self.burst.fit.measured[0]))
        curve = (self.burst or self.alone).model
        make = NetworkModel.largest if curve.takes_largest else NetworkModel.regimes
        held_up = self._receiver_gap
        lines = [(max(0.0, a - held_up), b, most) for a, b, most in curve.lines]
        model = make(lines, costs)
        return (
            model.with_single_message_lines(self.alone_lines) if self.burst else model
        )

    @property
    def _receiver_gap(self) -> float:
        """Seconds of the gap between messages due to a burst's single receiver.

        A sender with several receivers does not wait for each receiver.
        """
        if self.burst is None or math.isnan(self.send_cpu + self.receive_cpu):
            return 0.0
        gap = float(self.burst.fit.measured[0])
        is_receiver = self.receive_cpu > max(self.send_cpu, _DUE_SHARE * gap)
        return max(0.0, gap - self.send_cpu) if is_receiver else 0.0

    @property
    def alone_lines(self) -> list[tuple[float, float, int | None]]:
        """Alpha, beta and byte limit (or None) of the lines of single messages."""
        return convert_to_regimes(self.alone.model)

    @property
    def bandwidth(self) -> float:
        """Bandwidth in bytes/s: median of the three longest messages."""
        fit = (self.burst or self.alone).fit
        return float(np.median(fit.sizes[-3:] / fit.measured[-3:]))

    @property
    def loggp(self) -> LogGP | None:
        """LogGP's parameters in seconds; None without bursts.

        Overhead is the time of a send call. The gap is that of the shortest messages;
        the gap per byte is that of the longest.
        """
        if self.burst is None:
            return None
        gap = float(self.burst.fit.measured[0])
        overhead = gap if math.isnan(self.send_cpu) else min(gap, self.send_cpu)
        alone = float(self.alone.fit.measured[0])
        slope = self.burst.model.lines[-1][1]
        return {
            "L": max(0.0, alone - 2 * overhead),
            "o": overhead,
            "g": gap,
            "G": float(slope),
        }

    def document(self) -> LevelCostFields:
        """Return the fields of the ``--json`` output."""
        return {
            "alone": self.alone.document(),
            "burst": None if self.burst is None else self.burst.document(),
            "latency_seconds": _replace_nan(self.latency),
            "send_cpu_seconds": _replace_nan(self.send_cpu),
            "receive_cpu_seconds": _replace_nan(self.receive_cpu),
            "both_ways": _replace_nan(self.both_ways),
            "posted_receive_seconds": _replace_nan(self.posted),
            "bytes_per_second": self.bandwidth,
            "loggp": self.loggp,
            "unexpected": {str(size): value for size, value in self.unexpected.items()},
        }


def _replace_nan(value: float) -> float | None:
    """Return None for NaN, which JSON does not have."""
    return None if math.isnan(value) else value


def fit_level_costs(exchanges: Iterable[Exchange]) -> LevelCosts | None:
    """Fit the costs of a level; None with too few measurements."""
    by_kind: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        by_kind.setdefault(exchange.kind, []).append(exchange)
    echoes = _compute_medians(by_kind.get("echo", []))
    if len(echoes) < MIN_SIZES:
        return None
    gaps = _compute_gaps(by_kind.get("burst", []), echoes)
    alone = _fit_curve(echoes)
    burst = _fit_curve(gaps) if len(gaps) >= MIN_SIZES else None
    short = [echoes[size] - gaps[size] for size in sorted(gaps)[:3]]
    latency = max(0.0, float(np.median(short))) if short else math.nan
    both = by_kind.get("both", [])
    send = _compute_median(by_kind.get("send-cpu", []))
    receive = _compute_median(by_kind.get("receive-cpu", []))
    if not receive <= _WAIT_SHARE * echoes[min(echoes)]:
        receive = _compute_overhead(both) - (0.0 if math.isnan(send) else send)
    return LevelCosts(
        alone,
        burst,
        latency,
        send,
        receive if receive >= 0 else math.nan,
        _compute_bidirectional_ratio(both, gaps, echoes),
        _compute_late_receive_factors(by_kind),
        _compute_posted_receive_cost(by_kind.get("posted", [])),
    )


def _compute_medians(exchanges: Iterable[Exchange]) -> dict[int, float]:
    by_size: dict[int, list[float]] = {}
    for exchange in exchanges:
        by_size.setdefault(exchange.bytes, []).append(exchange.median)
    return {size: float(np.median(of)) for size, of in sorted(by_size.items())}


def _compute_gaps(
    bursts: Iterable[Exchange], echoes: dict[int, float]
) -> dict[int, float]:
    """Compute the seconds per message of a burst, excluding its final reply."""
    found: dict[int, list[float]] = {}
    answer = echoes[min(echoes)]
    for burst in bursts:
        if burst.bytes in echoes and burst.window > 1:
            rest = burst.median - echoes[burst.bytes] - answer
            found.setdefault(burst.bytes, []).append(rest / (burst.window - 1))
    medians = {size: float(np.median(of)) for size, of in sorted(found.items())}
    return {size: gap for size, gap in medians.items() if gap > 0}


def _compute_median(exchanges: Sequence[Exchange]) -> float:
    return float(np.median([e.median for e in exchanges])) if exchanges else math.nan


def _compute_overhead(both: Sequence[Exchange]) -> float:
    """Compute seconds per short message both ways, from very many messages.

    This is the sum of both overheads, since transfers overlap.
    """
    shortest = min((e.bytes for e in both), default=0)
    short = [e for e in both if e.bytes == shortest]
    windows = sorted({e.window for e in short})[-2:]
    if len(windows) < 2:
        return math.nan
    few, many = (
        float(np.median([e.median for e in short if e.window == window]))
        for window in windows
    )
    return (many - few) / (windows[1] - windows[0])


def _compute_bidirectional_ratio(
    exchanges: Sequence[Exchange], gaps: dict[int, float], echoes: dict[int, float]
) -> float:
    """Compute the bidirectional bandwidth relative to one direction."""
    longest = max((e.bytes for e in exchanges), default=0)
    ratios = [
        min(_MAX_BOTH_WAYS, 2 * gaps[longest] * e.window / seconds)
        for e in exchanges
        # Because of noise, the shorter messages may have taken longer.
        if e.bytes == longest in gaps
        and (seconds := e.median - 2 * echoes[min(echoes)]) > 0
    ]
    return float(np.median(ratios)) if ratios else math.nan


def _compute_late_receive_factors(
    by_kind: dict[str, list[Exchange]],
) -> dict[int, float]:
    late, ready = (
        _compute_medians(by_kind.get(k, [])) for k in ("unexpected", "expected")
    )
    return {size: late[size] / ready[size] for size in late if size in ready}


def _compute_posted_receive_cost(exchanges: Sequence[Exchange]) -> float:
    if len({e.window for e in exchanges}) < 2:
        return math.nan
    counts = [e.window for e in exchanges]
    return max(0.0, float(np.polyfit(counts, [e.median for e in exchanges], 1)[0]))


def _fit_curve(times: dict[int, float]) -> TimeCurve:
    sizes, seconds = list(times), list(times.values())
    fit = fit_model(sizes, seconds)
    return TimeCurve(fit, _add_intervals(fit))


def _add_intervals(fit: Fit) -> list[FittedLine]:
    """Add Student's t confidence intervals to a least-squares fit of relative errors.

    All times of a curve have similar errors, so a line with few sizes also uses the
    errors of other lines.
    """
    lines, first = [], 0
    sizes = fit.sizes
    counts = _select_line_sizes(fit)
    all_errors = _compute_line_errors(fit)
    errors = [all_errors[within] for within in counts]
    for number, (alpha, beta, most) in enumerate(fit.model.lines):
        within = counts[number]
        others = errors[:number] + errors[number + 1 :]
        variance = _pool_variance(errors[number], others)
        found = _compute_half_widths(sizes[within], fit.measured[within], *variance)
        half = np.hypot(found, NOISE * np.array([alpha, beta])).tolist()
        end = None
        if most is not None:
            before, after = sizes[sizes <= most], sizes[sizes > most]
            low = float(before[-1]) if len(before) else 0.0
            end = Estimate(most, low, float(after[0]) if len(after) else low)
        lines.append(
            FittedLine(
                Estimate(alpha, max(0.0, alpha - half[0]), alpha + half[0]),
                Estimate(beta, max(0.0, beta - half[1]), beta + half[1]),
                first,
                end,
            )
        )
        first = 0 if most is None else most + 1
    return lines


def _pool_variance(own: Errors, others: Sequence[Errors]) -> tuple[float, int]:
    """Return the pooled variance of a line's errors, and the degrees of freedom."""
    freedom = [max(0, len(errors) - 2) for errors in (own, *others)]
    squares = [float(errors @ errors) for errors in (own, *others)]
    more = min(_SHARED, sum(freedom[1:]))
    whole = freedom[0] + more
    if whole < 1:
        return math.inf, 0
    shared = sum(squares[1:]) / sum(freedom[1:]) if more else 0.0
    own_squares = squares[0] if freedom[0] else 0.0
    return (own_squares + more * shared) / whole, whole


def _select_line_sizes(fit: Fit) -> list[NDArray[np.bool_]]:
    """Select the measured sizes of each line."""
    lines, sizes = fit.model.lines, fit.sizes
    if fit.model.takes_largest:
        times = np.array([alpha + beta * sizes for alpha, beta, _ in lines])
        largest = times.argmax(axis=0)
        return [largest == number for number in range(len(lines))]
    ends = [math.inf if most is None else most for *_, most in lines]
    starts = [-1, *ends[:-1]]
    return [
        (sizes > low) & (sizes <= high) for low, high in zip(starts, ends, strict=True)
    ]


def _compute_line_errors(fit: Fit) -> Errors:
    """Compute the relative errors of the lines by size."""
    fitted = np.empty_like(fit.measured)
    for (alpha, beta, _), within in zip(
        fit.model.lines, _select_line_sizes(fit), strict=True
    ):
        fitted[within] = alpha + beta * fit.sizes[within]
    return fitted / fit.measured - 1


def _compute_half_widths(
    sizes: Errors, times: Errors, variance: float, freedom: int
) -> Errors:
    if not freedom:
        return np.full(2, math.inf)
    design = np.column_stack([1 / times, sizes / times])
    covariance = np.linalg.pinv(design.T @ design) * variance
    half: Errors = _find_t_quantile(freedom) * np.sqrt(np.diag(covariance))
    return half


def _find_t_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t; Hill's formula for many degrees."""
    if freedom <= len(_STUDENT):
        return _STUDENT[freedom - 1]
    return _NORMAL + (_NORMAL**3 + _NORMAL) / (4 * freedom)
