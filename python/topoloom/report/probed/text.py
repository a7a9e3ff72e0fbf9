# SPDX-License-Identifier: BSD-3-Clause
"""Makes the texts and tables for the page of a measured machine."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from topoloom.probe.inference.groups import GROUP
from topoloom.report.probed.costs import (
    LevelMatrix,
    LevelSummary,
    compare_levels,
    compute_host_ratios,
    make_level_matrix,
    summarize_levels,
)
from topoloom.report.probed.fits import (
    format_share,
    make_fit_chart,
    make_host_chart,
    make_totals_chart,
)
from topoloom.report.probed.groups import GroupBoxMaker, GroupTest, format_probability
from topoloom.report.probed.probed_file import (
    FittedLine,
    LevelModel,
    ProbedMachine,
    Suspect,
    TimeCurve,
)
from topoloom.report.probed.suspects import merge_suspects
from topoloom.report.text import Fact
from topoloom.support.plain_text import shorten
from topoloom.support.units import (
    counted,
    format_bandwidth,
    format_bytes,
    format_seconds,
)
from topoloom.support.version import __version__

STRIP_HEIGHT = 120.0
_ROUNDING = 1e-6
_LARGE_T = 100
#: Noise above which the headline mentions it.
_MAX_NOISE = 0.05


class LevelRow(NamedTuple):
    """A row in the table of levels."""

    name: str
    short: str
    bandwidth: str
    half: str  # the message size at which half of the bandwidth is reached
    both_ways: str
    send_cpu: str
    receive_cpu: str
    unexpected: str
    posted: str


class LineRow(NamedTuple):
    """A row in the table of fitted lines."""

    series: str
    sizes: str
    alpha: str
    alpha_interval: str
    beta: str
    beta_interval: str
    rate: str
    end: str


class GroupRow(NamedTuple):
    """A row in the table of tested groups."""

    members: str
    inside: str
    into: str
    t: str
    p: str


class SuspectRow(NamedTuple):
    """A row in the table of suspects."""

    what: str
    factor: str
    evidence: str


def collect_page_texts(probed: ProbedMachine, command: Sequence[str]) -> dict[str, Any]:
    """Collect the texts, tables and charts of the page."""
    matrix = make_level_matrix(probed)
    pairs = summarize_levels(probed, matrix)
    slow = {host for s in probed.suspects if s.kind == "host" for host in s.hosts}
    boxes = GroupBoxMaker(probed.hosts, probed.host_of, probed.evidence, slow)
    ratios = compute_host_ratios(probed, matrix)
    several = len(probed.hosts) > 2
    return {
        "title": _write_headline(probed, pairs),
        "problem": _describe_problem(probed),
        "scan": _format_scan_message_size(probed),
        "pairs": [
            (name, f"{pairs:,}", *map(_format_time, times))
            for name, pairs, *times in pairs
        ],
        "levels": [
            *map(_make_level_row, probed.levels),
            *(_make_hops_row(of) for of in pairs if of.name.startswith("at ")),
        ],
        "fits": [
            {
                "chart": chart,
                "lines": _make_line_rows(level),
                "errors": _describe_errors(level),
            }
            for level in probed.levels
            if (chart := make_fit_chart(level)) is not None
        ],
        "groups": boxes.make_box(probed.root),
        "tested": [
            _make_group_row(boxes.describe_members(ranks), e)
            for ranks, e in probed.evidence.items()
        ],
        "neighbors": probed.has_neighbors,
        "totals": [make_totals_chart(channels) for channels in probed.channels],
        "channels": probed.channels,
        "strip": make_host_chart(probed.hosts, ratios, [*slow], STRIP_HEIGHT)
        if several
        else None,
        "shared_links": probed.shared_links,
        "pairs_met": _format_share_of_all(probed.pairs_met or 0.0),
        "suspects": [_make_suspect_row(s, probed, matrix) for s in probed.suspects],
        "doubts": probed.doubts,
        "claims": probed.claims,
        "noise": _describe_noise(probed) if (probed.noise or 0) > _MAX_NOISE else "",
        "made": _list_settings(probed),
        "command": shlex.join(command),
        "version": __version__,
    }


def _format_share_of_all(share: float) -> str:
    return "All" if share == 1 else f"{format_share(share)} of all" if share else ""


def write_probed_headline(probed: ProbedMachine) -> str:
    """Describe the measured machine in one sentence."""
    return _write_headline(probed, summarize_levels(probed, make_level_matrix(probed)))


def _write_headline(probed: ProbedMachine, pairs: Sequence[LevelSummary]) -> str:
    hosts, ranks = len(probed.hosts), probed.ranks
    where = counted(ranks, "rank")
    where += f" on {counted(hosts, 'host')}"
    parts = [part for part in probed.root.groups if part.kind == GROUP]
    if probed.has_neighbors:
        where += " linked to their neighbors"
    elif parts:
        where += f" in {counted(len(parts), 'group')}"
    costs = (
        _describe_costs_by_hops(probed, pairs)
        if probed.has_neighbors
        else _describe_costs(probed)
    )
    text = f"{where}: {costs}" if costs else where
    shared = [link.rstrip(".") for link in probed.shared_links]
    slow = [part.sentence for part in merge_suspects(probed.suspects)]
    for found, what in ((shared, "shared link"), (slow, "suspect")):
        if found:
            text += f". {found[0]}"
        if found[1:]:
            text += f", and {counted(len(found) - 1, what)} more"
    return text


def _describe_costs(probed: ProbedMachine) -> str:
    """Describe the nearest and the farthest level."""
    ends = [*probed.levels[:1], *probed.levels[1:][-1:]]
    costs = "; ".join(map(_describe_level, ends))
    if sum("of level" in level.name for level in probed.levels) == 1:
        costs = costs.replace(" of level 1", "")
    return costs


def _describe_costs_by_hops(
    probed: ProbedMachine, pairs: Sequence[LevelSummary]
) -> str:
    """Describe the costs inside hosts, between near hosts, and between far hosts."""
    hops = [of for of in pairs if of.name.startswith("at ")]
    ends = dict.fromkeys([*hops[:1], *hops[-1:]])
    costs = ", ".join(f"{_format_rounded(of.median)} {of.name}" for of in ends)
    between = [level for level in probed.levels if level.bandwidth]
    if between:
        costs += f", {_format_rate(between[-1])}"
    inside = probed.levels[:1] if len(set(probed.host_of)) < probed.ranks else []
    return "; ".join([*map(_describe_level, inside), costs])


def _format_rate(level: LevelModel) -> str:
    return format_bandwidth(float(f"{level.bandwidth or 0:.3g}"))


def _describe_level(level: LevelModel) -> str:
    text = _format_rounded(level.short)
    if level.bandwidth is not None:
        text += f", {_format_rate(level)}"
    return f"{text} {level.name}"


def _format_rounded(seconds: float) -> str:
    return format_seconds(float(f"{seconds:.3g}"))


def _describe_problem(probed: ProbedMachine) -> str:
    text = f"{probed.path.name}: {probed.name}"
    if probed.has_neighbors:
        text += ", since hosts with links between neighbors explain the times best"
    return text


def _format_scan_message_size(probed: ProbedMachine) -> str:
    sizes = {exchange.bytes for exchange in probed.samples.select("circle", "echo")}
    return format_bytes(min(sizes)) if sizes else "a few bytes"


def _make_level_row(level: LevelModel) -> LevelRow:
    values = level.values

    def format_time_of(key: str) -> str:
        return _format_time(values[key]) if key in values else ""

    curve = level.burst or level.alone
    late = values.get("unexpected", {})
    longest = max(late, key=int, default=None)
    return LevelRow(
        level.name,
        _format_time(level.short),
        format_bandwidth(level.bandwidth) if level.bandwidth else "",
        "" if curve is None else _find_half_bandwidth_size(curve),
        f"{values['both_ways']:.2f} x" if "both_ways" in values else "",
        format_time_of("send_cpu_seconds"),
        format_time_of("receive_cpu_seconds"),
        "" if longest is None else f"{late[longest]:.2f} x",
        format_time_of("posted_receive_seconds"),
    )


def _make_hops_row(pairs: LevelSummary) -> LevelRow:
    """Make the row of pairs at a distance measured only with short messages."""
    return LevelRow(
        pairs.name, _format_time(pairs.median), *[""] * (len(LevelRow._fields) - 2)
    )


def _find_half_bandwidth_size(curve: TimeCurve) -> str:
    """Return the size from which on all messages reach half of the bandwidth."""
    below = np.flatnonzero(
        curve.sizes / curve.measured < curve.sizes[-1] / curve.measured[-1] / 2
    )
    return format_bytes(float(curve.sizes[below[-1] + 1 if len(below) else 0]))


def _make_line_rows(level: LevelModel) -> list[LineRow]:
    rows = []
    for name, curve in (("alone", level.alone), ("in a burst", level.burst)):
        first = 0 if curve is None else int(curve.sizes[0])
        for line in () if curve is None else curve.lines:
            rows.append(_make_line_row(name, first, line))
            first = first if line.most is None else line.most + 1
    return rows


def _make_line_row(name: str, first: int, line: FittedLine) -> LineRow:
    sizes, end = f"from {format_bytes(first)}", ""
    if line.most is not None and line.most_interval is not None:
        sizes = f"{format_bytes(first)} to {format_bytes(line.most)}"
        end = _format_interval(line.most_interval, format_bytes, "and")
    return LineRow(
        name,
        sizes,
        _format_time(line.alpha),
        _format_interval(line.alpha_interval, _format_time),
        _format_per_byte(line.beta),
        _format_interval(line.beta_interval, _format_per_byte),
        format_bandwidth(1 / line.beta) if line.beta > _MIN_BETA else "",
        end,
    )


#: Seconds per byte at 1000 TB/s: smaller values can only be rounding errors.
_MIN_BETA = 1e-15


def _format_time(seconds: float) -> str:
    """Format a time with four digits; round before choosing the unit."""
    return format_seconds(float(f"{seconds:.4g}"))


def _format_per_byte(beta: float) -> str:
    return f"{1e9 * beta:.4g} ns/B" if beta > _MIN_BETA else "0 ns/B"


def _format_interval(
    ends: tuple[float, float] | None, text: Callable[[float], str], word: str = "to"
) -> str:
    if ends is None:
        return "unknown: too few sizes"
    (low, unit), (high, same) = (text(end).split(" ") for end in ends)
    between = "" if unit == same or ends[0] == 0 else f" {unit}"
    return f"{low}{between} {word} {high} {same}"


def _describe_errors(level: LevelModel) -> str:
    errors = []
    for name, curve in (("alone", level.alone), ("in a burst", level.burst)):
        if curve is not None:
            off = np.abs(curve.errors)
            mean, most = (
                format_share(float(off.mean())),
                format_share(float(off.max())),
            )
            errors.append(f"{name} {mean} in the mean, {most} at most")
    return "; ".join(errors)


def _make_group_row(members: str, evidence: GroupTest) -> GroupRow:
    def text(sample: Any) -> str:
        odd = f", {counted(sample.outliers, 'outlier')}" if sample.outliers else ""
        mean, sigma = _format_time(sample.mean), _format_time(sample.sigma)
        if sample.sigma < _ROUNDING * sample.mean:
            sigma = "0"
        return f"{mean} ± {sigma} of {counted(sample.n, 'pair')}{odd}"

    return GroupRow(
        shorten(members, 60),
        text(evidence.inside),
        text(evidence.into),
        f"{evidence.t:,.0f}" if evidence.t >= _LARGE_T else f"{evidence.t:.3g}",
        format_probability(evidence.p).removeprefix("= "),
    )


def _make_suspect_row(
    suspect: Suspect, probed: ProbedMachine, matrix: LevelMatrix
) -> SuspectRow:
    name = merge_suspects([suspect])[0].name
    factor = f"{suspect.of} {suspect.factor:.2f} x{suspect.direction}"
    return SuspectRow(name, factor, _describe_suspect(suspect, probed, matrix))


def _describe_suspect(
    suspect: Suspect, probed: ProbedMachine, matrix: LevelMatrix
) -> str:
    """Describe the measurements; if they are of latency, also the scan."""
    count = counted(suspect.measurements, "measurement")
    number = {host: n for n, host in enumerate(probed.hosts)}
    ends = [number[host] for host in suspect.hosts if host in number]
    if suspect.of != "latency" or not 0 < len(ends) < 3:
        return count
    scanned = (
        f"{_format_time(took)} {level}, where {_format_time(usual)} is usual"
        for level, took, usual, _ in compare_levels(probed, matrix, *ends)
    )
    return "; ".join([count, *scanned])


def _list_settings(probed: ProbedMachine) -> list[Fact]:
    samples = probed.samples
    libraries = sorted({place.library.replace("_", " ") for place in samples.places})
    per_host = sorted(set(Counter(probed.host_of).values()))
    bound = {place.cpus for place in samples.places}
    made = [
        Fact("measured by", shlex.join(probed.command), is_command=True),
        Fact("samples", f"{samples.count:,}, in {probed.samples_path.name}"),
        Fact("ranks per host", " or ".join(map(str, per_host))),
        Fact("MPI", shorten("; ".join(libraries), 200)),
    ]
    if bound != {""}:
        cpus = shorten("; ".join(sorted(bound, key=_format_by_number)), 100)
        made.append(Fact("ranks are bound to CPUs", cpus))
    if probed.noise is not None:
        made.append(Fact("noise", _describe_noise(probed)))
    return made


def _format_by_number(cpus: str) -> tuple[int, str]:
    return len(cpus), cpus


def _describe_noise(probed: ProbedMachine) -> str:
    longer = format_share(probed.noise or 0.0)
    return f"work takes {longer} longer than at best, in the median of all ranks"
