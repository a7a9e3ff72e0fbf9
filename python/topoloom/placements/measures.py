# SPDX-License-Identifier: BSD-3-Clause
"""Table of the measures of a placement: keys, titles, units, whether less is better.

JSON, tables, figures and the HTML page list measures in this order.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from topoloom._core import Judgement, Machine
from topoloom.support.gain import format_percent, gain
from topoloom.support.units import (
    counted,
    format_bytes,
    format_count,
    format_seconds,
)


class Unit(Enum):
    """Unit of a measure."""

    SECONDS = "seconds"
    BYTES = "bytes"
    HOP_BYTES = "bytes times hops"
    LINK_BYTES = "bytes on a link"
    LINK_LOAD = "seconds of a link, or bytes where bandwidths are unknown"
    HOPS = "hops"
    NUMBER = "number"


class Measure(NamedTuple):
    """Description of a measure of placements."""

    name: str  # key in JSON
    title: str
    unit: Unit
    meaning: str
    is_cost: bool = True  # whether less is better; otherwise neutral

    @property
    def heading(self) -> str:
        """Title with line breaks for a narrow column."""
        return wrap_column_heading(self.title)


def wrap_column_heading(title: str) -> str:
    """Insert line breaks into a title for a narrow column."""
    return textwrap.fill(title, 12, break_on_hyphens=False)


MEASURES = {
    measure.name: measure
    for measure in (
        Measure(
            "predicted_seconds",
            "predicted time",
            Unit.SECONDS,
            "startups, latencies, and the busiest link, network card or memory",
        ),
        Measure(
            "predicted_seconds_with_background",
            "predicted time with other jobs",
            Unit.SECONDS,
            "the same while other jobs load the links",
        ),
        Measure(
            "hop_bytes",
            "hop-bytes",
            Unit.HOP_BYTES,
            "sum over all messages of bytes times distance",
        ),
        Measure(
            "hops_per_byte", "hops per byte", Unit.NUMBER, "hop-bytes over all bytes"
        ),
        Measure(
            "dilation_average",
            "dilation, average",
            Unit.HOPS,
            "links that a message crosses",
        ),
        Measure(
            "dilation_max",
            "dilation, maximum",
            Unit.HOPS,
            "links that the message with the longest route crosses",
        ),
        Measure(
            "traffic_average",
            "link traffic, average",
            Unit.LINK_BYTES,
            "bytes per link, over the links that carry any",
        ),
        Measure(
            "congestion_max",
            "congestion",
            Unit.LINK_LOAD,
            "largest ratio of a link's load to its bandwidth",
        ),
        Measure(
            "congestion_with_background",
            "congestion with other jobs",
            Unit.LINK_LOAD,
            "the same with the loads of other jobs, on any link",
        ),
        Measure(
            "inter_node_bytes",
            "inter-node bytes",
            Unit.BYTES,
            "bytes that leave their node",
        ),
        Measure(
            "inter_node_max",
            "busiest node",
            Unit.BYTES,
            "bytes that the busiest node sends, or receives",
        ),
        Measure(
            "load_max",
            "slot load, maximum",
            Unit.NUMBER,
            "largest sum of the loads of the ranks on one slot",
        ),
        Measure(
            "minimal_share",
            "share on minimal routes",
            Unit.NUMBER,
            "of the traffic, where routing is adaptive; the rest takes detours",
            is_cost=False,
        ),
    )
}


def collect_measures(judgement: Judgement, shared: bool = False) -> dict[str, float]:
    """Collect the values of a judgement by measure.

    Slot load is included only if ranks share slots, the minimal share only with
    adaptive routing, and congestion with other jobs only if their traffic is known.
    """
    values = {
        name: getattr(judgement, name)
        for name in MEASURES
        if not name.startswith("predicted_seconds") and (shared or name != "load_max")
    }
    return {name: value for name, value in values.items() if value is not None}


def measure_title(name: str, machine: Machine | None = None) -> str:
    """Return the title of a measure on a machine.

    The title says "distance" instead of "hops" if hops are weighted, and "host" instead
    of "node" if nodes are GPUs.
    """
    if name == "hops_per_byte" and machine and not machine.distances_are_hops:
        return "distance per byte"
    known = MEASURES.get(name)
    title = known.title if known else name.replace("_", " ")
    if name.startswith("inter_node") and machine and machine.nodes_per_host > 1:
        return title.replace("node", "host")
    return title


def format_measure(name: str, value: float, machine: Machine) -> str:
    """Format a measure with its unit."""
    unit = MEASURES[name].unit
    if unit is Unit.SECONDS:
        return format_seconds(value)
    if unit is Unit.LINK_LOAD:
        return format_congestion(value, machine)
    if unit in (Unit.BYTES, Unit.LINK_BYTES):
        return format_bytes(value)
    if unit is Unit.HOPS:
        return format_hops(value)
    return format_count(value)


def format_measures(
    values: Mapping[str, float], machine: Machine | None = None
) -> dict[str, str]:
    """Map the title of each measure to its formatted value."""
    return {
        measure_title(name, machine): format_seconds(value)
        if name == "predicted_seconds"
        else format_count(value)
        for name, value in values.items()
    }


def format_congestion(value: float, machine: Machine) -> str:
    """Format congestion: seconds, or bytes if the machine has no bandwidths."""
    if machine.has_bandwidths:
        return format_seconds(value)
    return format_bytes(value)


def format_hops(value: float) -> str:
    """Format a number of hops: ``1 hop``, ``4.4 hops``."""
    return counted(int(value), "hop") if value == int(value) else f"{value:,.3f} hops"


def format_gain(name: str, before: float, after: float) -> str:
    """Format the gain of a measure, and mark an increase."""
    if name in MEASURES and not MEASURES[name].is_cost:
        return ""
    percent = format_percent(gain(before, after))
    return f"{percent} (more)" if percent.startswith("-") else percent


def format_objective(value: float, objective: str, machine: Machine) -> str:
    """Format the value of an objective with its unit."""
    if objective == "time":
        return format_seconds(value)
    if objective in ("congestion", "congestion-soft"):
        return format_congestion(value, machine)
    return format_count(value)
