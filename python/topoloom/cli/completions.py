# SPDX-License-Identifier: BSD-3-Clause
"""Completes values of options and arguments in the shell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any


def _filter_prefix(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


def _complete_module_names(
    module: str, attribute: str, *others: str
) -> Callable[[str], list[str]]:
    """Complete names from a module's list or function, or from `others`."""

    def complete(incomplete: str) -> list[str]:
        names = getattr(import_module(f"topoloom.{module}"), attribute)
        words = names() if callable(names) else names
        return _filter_prefix(incomplete, [*words, *others])

    return complete


def _complete_core_names(function: str) -> Callable[[str], list[str]]:
    """Complete names that a function of the core lists, without their options."""

    def complete(incomplete: str) -> list[str]:
        entries = getattr(import_module("topoloom._core"), function)()
        names = (name.partition("(")[0] for name, _ in entries)
        return _filter_prefix(incomplete, names)

    return complete


def _complete_chained_names(
    function: str, separators: str
) -> Callable[[str], list[str]]:
    """Complete names of core entries at the start of the value or after a separator."""

    def complete(incomplete: str) -> list[str]:
        cut = max(incomplete.rfind(sign) for sign in separators) + 1
        entries = getattr(import_module("topoloom._core"), function)()
        return _filter_prefix(
            incomplete, [incomplete[:cut] + e["name"] for e in entries]
        )

    return complete


allocators = _complete_core_names("allocators")
applications = _complete_module_names("tasks.placed_run", "APPLY")
arbiters = _complete_core_names("arbiters")
axis_orders = _complete_module_names("tasks.axes", "FORMATS")
engines = _complete_module_names("tasks.experts.engines", "ENGINES")
frameworks = _complete_module_names("frameworks.framework_jobs", "FRAMEWORKS")
injections = _complete_core_names("injections")
balancers = _complete_chained_names("balancers", "+")
kinds = _complete_module_names("tasks.catalog", "CATALOG")
launchers = _complete_module_names("allocations.launch_order", "LAUNCHERS")
mapper = _complete_chained_names("mappers", "+")
mapper_list = _complete_chained_names("mappers", ",+")
meetings = _complete_module_names("tasks.collectives.steps", "MEETINGS")
objectives = _complete_module_names("tasks.objective", "OBJECTIVES", "weighted(")
operations = _complete_module_names("schedules.choose", "operations")
orders = _complete_module_names("tasks.collectives.order", "METHOD_NAMES")
patterns = _complete_module_names("graphs.patterns", "PATTERNS")
routers = _complete_core_names("routers")
routings = _complete_core_names("routings")
schedules = _complete_chained_names("schedules", ",")
simulators = _complete_module_names("simulate", "SIMULATORS")
switch_operations = _complete_module_names("tasks.network.tree_times", "IN_SWITCHES")
switches = _complete_module_names("simulate.switch_toml", "switch_names")
switchings = _complete_module_names("tasks.network.sweep", "SWITCHING")
topics = _complete_module_names("cli.help_topics", "TOPICS")
traffic_patterns = _complete_core_names("traffics")


def operation_list(incomplete: str) -> list[str]:
    """Complete the last collective of a comma-separated list."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in operations(last)]


def machines(incomplete: str) -> list[str]:
    """Complete included machines, topologies, 'detect', and local files."""
    from pathlib import Path

    from topoloom.machines.machine_names import DETECT, zoo_names
    from topoloom.machines.topology_forms import topology_forms

    ends = (".toml", ".graph", ".metis", ".tgt", ".xml", ".conf", ".yaml")
    files = [str(path) for path in Path().glob("*") if path.suffix in ends]
    kinds = [f"{form.name}:" for form in topology_forms()]
    return _filter_prefix(incomplete, [DETECT, *zoo_names(), *kinds, *files])


def models(incomplete: str) -> list[str]:
    """Complete included network models, and local files."""
    from pathlib import Path

    from topoloom.model.model_names import model_names

    files = [str(path) for path in Path().glob("*.toml")]
    return _filter_prefix(incomplete, [*model_names(), *files])


def exports(incomplete: str) -> list[str]:
    """Complete launcher formats."""
    from topoloom.launch.exports.launch_formats import FORMATS

    return _filter_prefix(incomplete, [each.name for each in FORMATS])


def schedule_formats(incomplete: str) -> list[str]:
    """Complete export formats of decision tables and schedules."""
    from topoloom.schedules.exports.schedule_formats import FORMATS

    return _filter_prefix(incomplete, [each.NAME for each in FORMATS])


def efforts(incomplete: str) -> list[str]:
    """Complete the effort levels of the auto mapper."""
    from topoloom._core import mappers

    (auto,) = (mapper for mapper in mappers() if mapper["name"] == "auto")
    options: Any = auto["options"]
    (choices,) = (each["choices"] for each in options if each["name"] == "effort")
    return _filter_prefix(incomplete, choices)
