# SPDX-License-Identifier: BSD-3-Clause
"""Completes values of options and arguments in the shell."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from topoloom.cli.completed_text import (
    complete_chain,
    complete_list,
    complete_machine_text,
    filter_prefix,
)

if TYPE_CHECKING:
    from topoloom.cli.completed_text import Entries

Complete = Callable[[str], list[str]]

#: Suffixes of files that describe machines.
_MACHINE_FILES = (".toml", ".graph", ".metis", ".tgt", ".xml", ".conf", ".yaml")
#: Words in metavars of files.
_FILE = re.compile(
    r"FILE|GRAPH|PLACEMENT|MACHINE|MODEL$|JOB|LIST|LOADS$|COSTS|STEPS|COMPILER|PROGRAM|"
    r"COMMAND|LAUNCHER"
)
#: Metavars that list all values: ``core|pu``.
_WORDS = re.compile(r"[a-z-]+(\|[a-z-]+)+")


def is_file(metavar: str) -> bool:
    """Return whether the value may be the name of a file."""
    return _FILE.search(metavar) is not None


def complete_metavar(metavar: str) -> Complete | None:
    """Return what completes the words of a metavar such as ``core|pu``."""
    return complete_words(*metavar.split("|")) if _WORDS.fullmatch(metavar) else None


def complete_words(*words: str) -> Complete:
    """Return what completes one of these words."""
    return lambda typed: filter_prefix(typed, words)


def complete_word_list(*words: str) -> Complete:
    """Return what completes the last word of a list with commas."""
    return lambda typed: complete_list(typed, words)


def _complete_module_names(module: str, attribute: str) -> Complete:
    """Complete names from a module's list or function."""

    def complete(typed: str) -> list[str]:
        names = getattr(import_module(f"topoloom.{module}"), attribute)
        words = names() if callable(names) else names
        return filter_prefix(typed, words)

    return complete


def _complete_core_names(function: str) -> Complete:
    """Complete names from pairs of a core function: ``on-off(length=100,peak=100)``."""

    def complete(typed: str) -> list[str]:
        pairs = getattr(import_module("topoloom._core"), function)()
        entries: dict[str, dict[str, tuple[str, ...]]] = {}
        for text, _ in pairs:
            name, _, options = text.rstrip(")").partition("(")
            keys = (one.partition("=")[0] for one in options.split(",") if one)
            entries[name] = dict.fromkeys(keys, ())
        return complete_chain(typed, entries)

    return complete


def _complete_chained_names(function: str, *separators: str) -> Complete:
    """Complete chains or lists of core entries, and their options in parentheses."""

    def complete(typed: str) -> list[str]:
        listed = getattr(import_module("topoloom._core"), function)()
        entries = {
            one["name"]: {each["name"]: each["choices"] for each in one["options"]}
            for one in listed
        }
        return complete_chain(typed, entries, separators)

    return complete


allocators = _complete_core_names("allocators")
arbiters = _complete_core_names("arbiters")
axis_orders = _complete_module_names("tasks.axes", "FORMATS")
balancers = _complete_chained_names("balancers")
engines = _complete_module_names("tasks.experts.engines", "ENGINES")
frameworks = _complete_module_names("frameworks.framework_jobs", "FRAMEWORKS")
#: Listed here because importing the readers takes long.
graph_formats = complete_words(
    *("npz", "matrix-market", "metis", "dense", "edges", "dimacs", "gml", "graphml"),
    *("goal", "monitoring"),
    *("hlo", "flight-recorder", "kineto", "nccl-inspector"),
    *("otf2", "paraver", "dumpi", "simgrid-ti", "paje", "ipm", "chakra"),
)
injections = _complete_core_names("injections")
kinds = _complete_module_names("tasks.catalog", "CATALOG")
launched_frameworks = _complete_module_names(
    "frameworks.launch_arguments", "LAUNCHED_FRAMEWORKS"
)
launchers = _complete_module_names("allocations.launch_order", "LAUNCHERS")
mapper = _complete_chained_names("mappers", "+")
mapper_list = _complete_chained_names("mappers", ",", "+")
operations = _complete_module_names("schedules.choose", "operations")
orders = _complete_module_names("tasks.collectives.order", "METHOD_NAMES")
patterns = _complete_module_names("graphs.patterns", "PATTERNS")
rankings = _complete_module_names("tasks.bus.affinity", "RANKINGS")
restarts = _complete_module_names("tasks.training.spares", "RESTARTS")
routers = _complete_core_names("routers")
routings = _complete_core_names("routings")
schedules = _complete_chained_names("schedules", ",")
simulators = _complete_module_names("simulate", "SIMULATORS")
switch_operations = _complete_module_names("tasks.network.tree_times", "IN_SWITCHES")
switches = _complete_module_names("simulate.switch_toml", "switch_names")
tile_times = _complete_module_names("tasks.collectives.tiles", "COLLECTIVES")
topics = _complete_module_names("cli.help_topics", "TOPICS")
traffic_patterns = _complete_core_names("traffics")


def operation_list(typed: str) -> list[str]:
    """Complete the last collective of a comma-separated list."""
    from topoloom.schedules.choose import operations as list_operations

    return complete_list(typed, list_operations())


def objectives(typed: str) -> list[str]:
    """Complete objectives, and those in ``weighted(...)``."""
    from topoloom.tasks.objective import AUTO, OBJECTIVES

    weighted = {name: () for name in OBJECTIVES if name != AUTO}
    entries: Entries = {**{name: {} for name in OBJECTIVES}, "weighted": weighted}
    return complete_chain(typed, entries)


def machines(typed: str) -> list[str]:
    """Complete included machines, topologies, 'detect', local files, and options."""
    from topoloom.machines.machine_names import DETECT, zoo_names
    from topoloom.machines.topology_forms import section_forms

    forms = {
        name: {option.name: _list_option_words(option) for option in form.options}
        for name, form in section_forms().items()
    }
    files = _list_files(_MACHINE_FILES)
    return complete_machine_text(typed, [DETECT, *zoo_names(), *files], forms)


def _list_option_words(option: Any) -> list[str]:
    return option.words if option.form == "word" else []


def models(typed: str) -> list[str]:
    """Complete included network models, and local files."""
    from topoloom.model.model_names import model_names

    return filter_prefix(typed, [*model_names(), *_list_files((".toml",))])


def _list_files(suffixes: tuple[str, ...]) -> list[str]:
    from pathlib import Path

    return sorted(str(path) for path in Path().glob("*") if path.suffix in suffixes)


def training_steps(typed: str) -> list[str]:
    """Complete AI models, and dimensions such as ``sequence=``."""
    from dataclasses import fields

    from topoloom.frameworks.named_models import MODELS
    from topoloom.frameworks.training_step import STEP_KEYS
    from topoloom.frameworks.transformer_model import Model

    names = [name.lower().replace(" ", "-") for name in MODELS]
    sizes = [*STEP_KEYS, *(field.name for field in fields(Model))]
    files = _list_files((".json",)) if "," not in typed else []
    return complete_list(typed, [*names, *files, *(f"{size}=" for size in sizes)])


def axes(typed: str) -> list[str]:
    """Complete the usual axes of training jobs: ``tp=8,dp=``."""
    from topoloom.graphs.axes import USUAL_ORDER

    return complete_list(typed, [f"{axis}=" for axis in USUAL_ORDER])


def layouts(typed: str) -> list[str]:
    """Complete the sizes of a layout of a training job: ``tp=8,pp=``."""
    from dataclasses import fields

    from topoloom.frameworks.training_layout import TrainingLayout

    names = [field.name for field in fields(TrainingLayout)]
    return complete_list(typed, [f"{name}=" for name in names])


def collective_settings(typed: str) -> list[str]:
    """Complete the options of TOPOLOOM_COLLECTIVES."""
    from topoloom.preload.collectives import OPTIONS

    return complete_list(typed, [f"{option}=" for option in OPTIONS])


def steps(typed: str) -> list[str]:
    """Complete kinds of steps, and schedules of an allgather."""
    from topoloom._core import schedules as list_schedules

    listed: list[Any] = list_schedules()
    exchanges = {
        one["name"]: {each["name"]: each["choices"] for each in one["options"]}
        for one in listed
        if "allgather" in one["operations"]
    }
    return complete_chain(
        typed, {"shift": {}, "prefix": {}, "quarter": {}, **exchanges}
    )


def bus_assignments(typed: str) -> list[str]:
    """Complete named assignments of threads to a ring bus."""
    from topoloom.tasks.catalog import list_bus_assignments

    names = (entry["name"] for entry in list_bus_assignments())
    return filter_prefix(typed, ["best", *names])


def exports(typed: str) -> list[str]:
    """Complete launcher formats."""
    from topoloom.launch.exports.launch_formats import FORMATS

    return filter_prefix(typed, [each.name for each in FORMATS])


def schedule_formats(typed: str) -> list[str]:
    """Complete export formats of decision tables and schedules."""
    from topoloom.schedules.exports.schedule_formats import FORMATS

    return filter_prefix(typed, [each.NAME for each in FORMATS])


def efforts(typed: str) -> list[str]:
    """Complete the effort levels of the auto mapper."""
    from topoloom._core import mappers

    (auto,) = (mapper for mapper in mappers() if mapper["name"] == "auto")
    options: Any = auto["options"]
    (choices,) = (each["choices"] for each in options if each["name"] == "effort")
    return filter_prefix(typed, choices)
