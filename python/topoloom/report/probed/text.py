# SPDX-License-Identifier: BSD-3-Clause
"""What the page of a machine says in words and tables."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from topoloom.probe.inference.groups import GROUP
from topoloom.report.probed.costs import (
    CostMatrix,
    LevelPairs,
    by_level,
    cost_matrix,
    host_ratios,
    level_pairs,
)
from topoloom.report.probed.fits import fit_chart, percent, strip, totals_chart
from topoloom.report.probed.groups import Boxes, Evidence, p_text
from topoloom.report.probed.probed_file import (
    Curve,
    LevelModel,
    Line,
    Probed,
    Suspect,
)
from topoloom.report.probed.suspects import slow_parts
from topoloom.report.text import Fact
from topoloom.support.units import (
    counted,
    format_bandwidth,
    format_bytes,
    format_seconds,
)
from topoloom.support.version import __version__

STRIP_HEIGHT = 120.0
_ROUNDING = 1e-6
_BIG = 100
#: Noise above which readers must know of it at once.
_NOISY = 0.05


class LevelRow(NamedTuple):
    """A level in the table of levels."""

    name: str
    short: str
    bandwidth: str
    half: str  # from which size on a message has half of it
    both_ways: str
    send_cpu: str
    receive_cpu: str
    unexpected: str
    posted: str


class LineRow(NamedTuple):
    """A line of a fit in its table."""

    series: str
    sizes: str
    alpha: str
    alpha_interval: str
    beta: str
    beta_interval: str
    rate: str
    end: str


class GroupRow(NamedTuple):
    """A group that was tested."""

    members: str
    inside: str
    into: str
    t: str
    p: str


class SuspectRow(NamedTuple):
    """A suspect, and what says so."""

    what: str
    factor: str
    evidence: str


def facts(probed: Probed, command: Sequence[str]) -> dict[str, Any]:
    """Collect all texts, tables and charts of the page."""
    matrix = cost_matrix(probed)
    pairs = level_pairs(probed, matrix)
    slow = {host for s in probed.suspects if s.kind == "host" for host in s.hosts}
    boxes = Boxes(probed.hosts, probed.host_of, probed.evidence, slow)
    ratios = host_ratios(probed, matrix)
    several = len(probed.hosts) > 2
    return {
        "title": _headline(probed, pairs),
        "problem": _problem(probed),
        "scan": _scan_size(probed),
        "pairs": [
            (name, f"{pairs:,}", *map(_time, times)) for name, pairs, *times in pairs
        ],
        "levels": [
            *map(_level_row, probed.levels),
            *(_hops_row(of) for of in pairs if of.name.startswith("at ")),
        ],
        "fits": [
            {"chart": chart, "lines": _line_rows(level), "errors": _errors(level)}
            for level in probed.levels
            if (chart := fit_chart(level)) is not None
        ],
        "groups": boxes.of(probed.root),
        "tested": [
            _group_row(boxes.members(ranks), e) for ranks, e in probed.evidence.items()
        ],
        "neighbors": probed.has_neighbors,
        "totals": [totals_chart(channels) for channels in probed.channels],
        "channels": probed.channels,
        "strip": strip(probed.hosts, ratios, [*slow], STRIP_HEIGHT)
        if several
        else None,
        "shared_links": probed.shared_links,
        "pairs_met": _share_of_all(probed.pairs_met or 0.0),
        "suspects": [_suspect_row(s, probed, matrix) for s in probed.suspects],
        "doubts": probed.doubts,
        "claims": probed.claims,
        "noise": _noise(probed) if (probed.noise or 0) > _NOISY else "",
        "made": _made(probed),
        "command": shlex.join(command),
        "version": __version__,
    }


def _share_of_all(share: float) -> str:
    return "All" if share == 1 else f"{percent(share)} of all" if share else ""


def probed_headline(probed: Probed) -> str:
    """Say in one sentence what was measured."""
    return _headline(probed, level_pairs(probed, cost_matrix(probed)))


def _headline(probed: Probed, pairs: Sequence[LevelPairs]) -> str:
    hosts, ranks = len(probed.hosts), probed.ranks
    where = counted(ranks, "rank")
    where += f" on {counted(hosts, 'host')}"
    parts = [part for part in probed.root.groups if part.kind == GROUP]
    if probed.has_neighbors:
        where += " linked to their neighbors"
    elif parts:
        where += f" in {counted(len(parts), 'group')}"
    costs = _costs_by_hops(probed, pairs) if probed.has_neighbors else _costs(probed)
    text = f"{where}: {costs}" if costs else where
    shared = [link.rstrip(".") for link in probed.shared_links]
    slow = [part.text for part in slow_parts(probed.suspects)]
    for found, what in ((shared, "shared link"), (slow, "suspect")):
        if found:
            text += f". {found[0]}"
        if found[1:]:
            text += f", and {counted(len(found) - 1, what)} more"
    return text


def _costs(probed: Probed) -> str:
    """Name the nearest level and the farthest."""
    ends = [*probed.levels[:1], *probed.levels[1:][-1:]]
    costs = "; ".join(map(_level_text, ends))
    if sum("of level" in level.name for level in probed.levels) == 1:
        costs = costs.replace(" of level 1", "")
    return costs


def _costs_by_hops(probed: Probed, pairs: Sequence[LevelPairs]) -> str:
    """Name the nearest hosts and the farthest, and before them what is inside hosts."""
    hops = [of for of in pairs if of.name.startswith("at ")]
    ends = dict.fromkeys([*hops[:1], *hops[-1:]])
    costs = ", ".join(f"{_rounded(of.median)} {of.name}" for of in ends)
    between = [level for level in probed.levels if level.bandwidth]
    if between:
        costs += f", {_rate(between[-1])}"
    inside = probed.levels[:1] if len(set(probed.host_of)) < probed.ranks else []
    return "; ".join([*map(_level_text, inside), costs])


def _rate(level: LevelModel) -> str:
    return format_bandwidth(float(f"{level.bandwidth or 0:.3g}"))


def _level_text(level: LevelModel) -> str:
    text = _rounded(level.short)
    if level.bandwidth is not None:
        text += f", {_rate(level)}"
    return f"{text} {level.name}"


def _rounded(seconds: float) -> str:
    return format_seconds(float(f"{seconds:.3g}"))


def _problem(probed: Probed) -> str:
    text = f"{probed.path.name}: {probed.name}"
    if probed.has_neighbors:
        text += ", since hosts with links between neighbors explain the times best"
    return text


def _scan_size(probed: Probed) -> str:
    sizes = {exchange.bytes for exchange in probed.samples.of("circle", "echo")}
    return format_bytes(min(sizes)) if sizes else "a few bytes"


def _level_row(level: LevelModel) -> LevelRow:
    values = level.values

    def time_of(key: str) -> str:
        return _time(values[key]) if key in values else ""

    curve = level.burst or level.alone
    late = values.get("unexpected", {})
    longest = max(late, key=int, default=None)
    return LevelRow(
        level.name,
        _time(level.short),
        format_bandwidth(level.bandwidth) if level.bandwidth else "",
        "" if curve is None else _half(curve),
        f"{values['both_ways']:.2f} x" if "both_ways" in values else "",
        time_of("send_cpu_s"),
        time_of("receive_cpu_s"),
        "" if longest is None else f"{late[longest]:.2f} x",
        time_of("posted_receive_s"),
    )


def _hops_row(pairs: LevelPairs) -> LevelRow:
    """Of pairs that a number of links is between: longer messages were not measured."""
    return LevelRow(
        pairs.name, _time(pairs.median), *[""] * (len(LevelRow._fields) - 2)
    )


def _half(curve: Curve) -> str:
    """Return the first size from which on all have half of the bandwidth."""
    below = np.flatnonzero(
        curve.sizes / curve.measured < curve.sizes[-1] / curve.measured[-1] / 2
    )
    return format_bytes(float(curve.sizes[below[-1] + 1 if len(below) else 0]))


def _line_rows(level: LevelModel) -> list[LineRow]:
    rows = []
    for name, curve in (("alone", level.alone), ("in a burst", level.burst)):
        first = 0 if curve is None else int(curve.sizes[0])
        for line in () if curve is None else curve.lines:
            rows.append(_line_row(name, first, line))
            first = first if line.most is None else line.most + 1
    return rows


def _line_row(name: str, first: int, line: Line) -> LineRow:
    sizes, end = f"from {format_bytes(first)}", ""
    if line.most is not None and line.most_interval is not None:
        sizes = f"{format_bytes(first)} to {format_bytes(line.most)}"
        end = _interval(line.most_interval, format_bytes, "and")
    return LineRow(
        name,
        sizes,
        _time(line.alpha),
        _interval(line.alpha_interval, _time),
        _per_byte(line.beta),
        _interval(line.beta_interval, _per_byte),
        format_bandwidth(1 / line.beta) if line.beta > _LEAST_BETA else "",
        end,
    )


#: Seconds per byte of 1000 TB/s: less is rounding.
_LEAST_BETA = 1e-15


def _time(seconds: float) -> str:
    """Write a time with four digits: 0.99999 us is 1 us, not 1000 ns."""
    return format_seconds(float(f"{seconds:.4g}"))


def _per_byte(beta: float) -> str:
    return f"{1e9 * beta:.4g} ns/B" if beta > _LEAST_BETA else "0 ns/B"


def _interval(
    ends: tuple[float, float] | None, text: Callable[[float], str], word: str = "to"
) -> str:
    if ends is None:
        return "unknown: too few sizes"
    (low, unit), (high, same) = (text(end).split(" ") for end in ends)
    between = "" if unit == same or ends[0] == 0 else f" {unit}"
    return f"{low}{between} {word} {high} {same}"


def _errors(level: LevelModel) -> str:
    said = []
    for name, curve in (("alone", level.alone), ("in a burst", level.burst)):
        if curve is not None:
            off = np.abs(curve.errors)
            mean, most = percent(float(off.mean())), percent(float(off.max()))
            said.append(f"{name} {mean} in the mean, {most} at most")
    return "; ".join(said)


def _group_row(members: str, evidence: Evidence) -> GroupRow:
    def text(sample: Any) -> str:
        odd = f", {counted(sample.outliers, 'outlier')}" if sample.outliers else ""
        mean, sigma = _time(sample.mean), _time(sample.sigma)
        if sample.sigma < _ROUNDING * sample.mean:
            sigma = "0"
        return f"{mean} ± {sigma} of {counted(sample.n, 'pair')}{odd}"

    return GroupRow(
        _short(members, 60),
        text(evidence.inside),
        text(evidence.into),
        f"{evidence.t:,.0f}" if evidence.t >= _BIG else f"{evidence.t:.3g}",
        p_text(evidence.p).removeprefix("= "),
    )


def _suspect_row(suspect: Suspect, probed: Probed, matrix: CostMatrix) -> SuspectRow:
    name = slow_parts([suspect])[0].name
    factor = f"{suspect.of} {suspect.factor:.2f} x{suspect.direction}"
    return SuspectRow(name, factor, _evidence(suspect, probed, matrix))


def _evidence(suspect: Suspect, probed: Probed, matrix: CostMatrix) -> str:
    """Say how often it was measured, and of latencies also what the scan found."""
    said = counted(suspect.measurements, "measurement")
    number = {host: n for n, host in enumerate(probed.hosts)}
    ends = [number[host] for host in suspect.hosts if host in number]
    if suspect.of != "latency" or not 0 < len(ends) < 3:
        return said
    scanned = (
        f"{_time(took)} {level}, where {_time(usual)} is usual"
        for level, took, usual, _ in by_level(probed, matrix, *ends)
    )
    return "; ".join([said, *scanned])


def _made(probed: Probed) -> list[Fact]:
    samples = probed.samples
    libraries = sorted({place.library.replace("_", " ") for place in samples.places})
    per_host = sorted(set(Counter(probed.host_of).values()))
    bound = {place.cpus for place in samples.places}
    made = [
        Fact("measured by", shlex.join(probed.command), is_command=True),
        Fact("samples", f"{samples.count:,}, in {probed.samples_path.name}"),
        Fact("ranks per host", " or ".join(map(str, per_host))),
        Fact("MPI", _short("; ".join(libraries), 200)),
    ]
    if bound != {""}:
        cpus = _short("; ".join(sorted(bound, key=_by_number)), 100)
        made.append(Fact("ranks are bound to CPUs", cpus))
    if probed.noise is not None:
        made.append(Fact("noise", _noise(probed)))
    return made


def _by_number(cpus: str) -> tuple[int, str]:
    return len(cpus), cpus


def _noise(probed: Probed) -> str:
    longer = percent(probed.noise or 0.0)
    return f"work takes {longer} longer than at best, in the median of all ranks"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
