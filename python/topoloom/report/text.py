# SPDX-License-Identifier: BSD-3-Clause
"""Makes the texts and tables of a report; the template escapes them."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topoloom.figure.judgement import write_headline
from topoloom.figure.links import LoadUnit, choose_load_unit
from topoloom.machines.machine_facts import machine_name
from topoloom.nodes.hosts import format_allocated_share
from topoloom.placements.measures import MEASURES, format_measure, measure_title
from topoloom.report.histogram import Histogram, make_histogram
from topoloom.support.gain import gain
from topoloom.support.plain_text import shorten
from topoloom.support.units import (
    counted,
    format_bytes,
    format_seconds,
)
from topoloom.support.version import __version__

if TYPE_CHECKING:
    from topoloom._core import Machine
    from topoloom.report.page_data import PlacementView, Report

HEAVIEST = 12  # number of rank pairs in the table next to the matrix


class HeadlineNumber(NamedTuple):
    """A headline number: its values before and after, its gain, and what is proven."""

    title: str
    before: str
    after: str
    gain: float | None  # gain in percent, from `topoloom.support.gain`
    proof: str  # a lower bound in words, or ""


class RankPair(NamedTuple):
    """Two ranks with heavy traffic."""

    source: int
    target: int
    bytes: str
    messages: int
    hops: list[int]  # number of hops in each view


class Fact(NamedTuple):
    """A fact and its name, such as a mapper or a command."""

    name: str
    value: str
    is_command: bool = False


def collect_page_texts(report: Report) -> dict[str, Any]:
    """Collect the texts and tables of the page."""
    before, after = report.views[0], report.views[report.best]
    machine = report.machine
    by = choose_load_unit(machine)
    return {
        "title": write_title(before, after),
        "problem": (
            f"{counted(report.graph.rank_count, 'rank')} on "
            f"{format_allocated_share(report.allocation)} of "
            f"{machine_name(machine, report.node)}"
        ),
        "views": [view.name for view in report.views],
        "parts": report.parts,
        "best": report.best,
        "numbers": _choose_numbers(before, after, machine),
        "measures": _list_measures(report.views, report.best, machine),
        "bounds": _list_bounds(report),
        "shared_links": _list_shared_links(report),
        "histogram": _make_load_histogram(before, after, by),
        "busy_means": by.title,
        "simulator": report.simulator,
        "simulated": _list_simulated(report),
        "pairs": find_heaviest_pairs(report),
        "sources": [
            _describe_source(view) for view in report.views if view.made is not None
        ],
        "inputs": _describe_inputs(report),
        "command": shlex.join(report.command),
        "advice": report.advice,
        "affinity": report.affinity,
        "version": __version__,
    }


def write_title(before: PlacementView, after: PlacementView) -> str:
    """Describe the gain of a view over another in one sentence."""
    views, name = (before, after), "predicted_seconds"
    judged = {view.name: view.judgement for view in views}
    known = {view.name: view.values[name] for view in views if name in view.values}
    return write_headline(judged, known)


def _choose_numbers(
    before: PlacementView, after: PlacementView, machine: Machine
) -> list[HeadlineNumber]:
    """Choose three numbers: with known times, time and bytes, otherwise hops."""
    chosen = ["hop_bytes", "congestion_max", "dilation_average"]
    if "predicted_seconds" in before.values:
        chosen = ["predicted_seconds", "congestion_max", "inter_node_bytes"]
    return [
        HeadlineNumber(
            measure_title(name, machine),
            format_measure(name, before.values[name], machine),
            format_measure(name, after.values[name], machine),
            gain(before.values[name], after.values[name]),
            _describe_proof(name, after, machine),
        )
        for name in chosen
    ]


def _describe_proof(name: str, view: PlacementView, machine: Machine) -> str:
    gap = view.gaps.get(name)
    if gap is None:
        return ""
    if math.isclose(gap, 1, rel_tol=1e-9):
        return "proven optimal"
    return f"proven: not below {format_measure(name, view.values[name] / gap, machine)}"


def _list_measures(
    views: list[PlacementView], best: int, machine: Machine
) -> list[dict[str, Any]]:
    rows = []
    for name in views[0].values:
        measure = MEASURES[name]
        numbers = [view.values[name] for view in views]
        rows.append(
            {
                "title": measure_title(name, machine),
                "meaning": measure.meaning,
                "values": [format_measure(name, value, machine) for value in numbers],
                "is_cost": measure.is_cost,
                "gain": gain(numbers[0], numbers[best]),
            }
        )
    return rows


class SimulatedView(NamedTuple):
    """Simulation results of a view."""

    view: str
    predicted: str
    seconds: str
    gain: float | None  # gain over launcher order in percent
    busiest: list[tuple[str, float]]  # channels, each with its busy time in percent
    busiest_switches: list[
        tuple[str, float]
    ]  # switch outputs, each with its busy time in percent


def _list_simulated(report: Report) -> list[SimulatedView]:
    name = "simulated_seconds"
    return [
        SimulatedView(
            view.name,
            format_seconds(one["predicted_seconds"]),
            format_seconds(one[name]),
            gain(report.simulated[0][name], one[name]),
            [(of["channel"], 100 * of["sending"]) for of in one["busiest_channels"]],
            [(of["output"], 100 * of["sending"]) for of in one["busiest_switches"]],
        )
        for view, one in zip(report.views, report.simulated, strict=False)
    ]


def _list_bounds(report: Report) -> list[dict[str, Any]]:
    if report.bounds is None:
        return []
    proven = report.bounds
    found = [
        ("hop_bytes", proven.hop_bytes, proven.hop_bytes_by),
        (
            "congestion_max",
            proven.congestion,
            " of ".join(filter(None, (proven.congestion_by, proven.congestion_where))),
        ),
    ]
    if proven.time is not None:
        by = ": ".join(filter(None, (proven.time_by, proven.time_where)))
        found.insert(0, ("predicted_seconds", proven.time, by))
    if (loaded := report.bounds_with_background) is not None:
        by = " of ".join(filter(None, (loaded.congestion_by, loaded.congestion_where)))
        found.append(("congestion_with_background", loaded.congestion, by))
        if loaded.time is not None:
            by = ": ".join(filter(None, (loaded.time_by, loaded.time_where)))
            found.append(("predicted_seconds_with_background", loaded.time, by))
    return [
        {
            "title": measure_title(name, report.machine),
            "least": format_measure(name, least, report.machine),
            "by": proof,
            "gaps": [view.gaps.get(name) for view in report.views],
        }
        for name, least, proof in found
    ]


def _list_shared_links(report: Report) -> list[dict[str, str]]:
    """List the busiest links of the best placement, and what other jobs load."""
    return [
        {
            "link": one["link"],
            "load": format_bytes(one["bytes"]),
            "share": f"{100 * one['background_share']:.0f} %",
        }
        for one in report.list_shared_links(report.views[report.best])
    ]


def _make_load_histogram(
    before: PlacementView, after: PlacementView, by: LoadUnit
) -> Histogram:
    busy = (by.compute_loads(before.judgement), by.compute_loads(after.judgement))
    return make_histogram(busy, [before.name, after.name], by)


def find_heaviest_pairs(report: Report) -> list[RankPair]:
    """Find the rank pairs with the most bytes; ties are sorted by rank."""
    graph, machine = report.graph, report.machine
    amount = np.asarray(graph.bytes)
    order = np.argsort(-amount, kind="stable")[:HEAVIEST]
    sources = np.searchsorted(np.asarray(graph.first), order, side="right") - 1
    pairs = []
    for edge, source in zip(order.tolist(), sources.tolist(), strict=True):
        target = int(graph.peer[edge])
        hops = [
            machine.hops(
                int(view.placement.slots[source]) // machine.slots_per_node,
                int(view.placement.slots[target]) // machine.slots_per_node,
            )
            for view in report.views
        ]
        messages = int(graph.messages[edge])
        pairs.append(
            RankPair(source, target, format_bytes(int(amount[edge])), messages, hops)
        )
    return pairs


def _describe_inputs(report: Report) -> list[Fact]:
    graph = report.graph
    return [
        Fact(
            "pattern",
            f"{report.graph_file}: {counted(graph.rank_count, 'rank')}, "
            f"{counted(graph.edge_count, 'pair')}, "
            f"{counted(graph.total_messages, 'message')}, "
            f"{format_bytes(graph.total_bytes)}",
        ),
        Fact("machine", shorten(report.machine.text, 300)),
        *(Fact("machine", remark) for remark in report.machine.remarks),
        Fact("allocation", counted(len(report.allocation.nodes), "node")),
    ]


def _describe_source(view: PlacementView) -> dict[str, Any]:
    made = view.made
    assert made is not None
    if not made.values:
        facts = [Fact("read from", made.mapper)]
        return {"name": view.name, "file": view.file, "facts": facts}
    lines = [
        Fact("mapper", made.mapper),
        Fact("objective", made.objective),
        Fact("seed", str(made.seed)),
        Fact("work", f"{made.work:,} candidates"),
        Fact("Topoloom", made.topoloom),
    ]
    if made.graph:
        lines.append(Fact("placed for", made.graph))
    if made.command:
        lines.append(Fact("made by", shlex.join(made.command), is_command=True))
    return {"name": view.name, "file": view.file, "facts": lines}
