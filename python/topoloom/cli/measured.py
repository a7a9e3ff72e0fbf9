# SPDX-License-Identifier: BSD-3-Clause
"""Measures of a placement for people: what they are called, and their units."""

from __future__ import annotations

from topoloom._core import Machine
from topoloom.support.gain import gain, percent
from topoloom.support.units import (
    counted,
    format_bytes,
    format_count,
    format_seconds,
)

_NAMES = {
    "predicted_seconds": "predicted time",
    "inter_node_bytes": "bytes between nodes",
    "inter_node_max": "most in or out of a node",
}
#: What is no cost: a share of minimal routes.
_NEUTRAL = ("minimal_share",)


def measure_name(name: str, machine: Machine) -> str:
    """Call a measure by its name for people."""
    if name == "hops_per_byte" and not machine.distances_are_hops:
        return "distance per byte"
    return _NAMES.get(name, name.replace("_", " "))


def measure_text(name: str, value: float, machine: Machine) -> str:
    """Write a measure with its unit."""
    if name == "predicted_seconds":
        return format_seconds(value)
    if name == "congestion_max":
        return congestion_text(value, machine)
    if name in ("inter_node_bytes", "inter_node_max"):
        return format_bytes(value)
    if name == "traffic_average":
        return _counted_bytes(value)
    if name in ("dilation_average", "dilation_max"):
        return counted_hops(value)
    return format_count(value)


def congestion_text(value: float, machine: Machine) -> str:
    """Write what the busiest link needs: a time, or bytes where none is known."""
    if machine.has_bandwidths:
        return format_seconds(value)
    return _counted_bytes(value)


def _counted_bytes(value: float) -> str:
    return f"{format_count(value if value < 1000 else round(value))} B"


def counted_hops(value: float) -> str:
    """Write a number of links on a way: ``1 hop``, ``4.4 hops``."""
    return counted(int(value), "hop") if value == int(value) else f"{value:,.3f} hops"


def gain_text(name: str, before: float, after: float) -> str:
    """Write the gain of a measure, and mark what rose."""
    if name in _NEUTRAL:
        return ""
    return percent(gain(before, after)) + (" (more)" if after > before else "")


def objective_text(value: float, objective: str, machine: Machine) -> str:
    """Write the value of an objective with its unit."""
    if objective == "time":
        return format_seconds(value)
    if objective in ("congestion", "congestion-soft"):
        return congestion_text(value, machine)
    return format_count(value)
