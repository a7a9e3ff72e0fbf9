# SPDX-License-Identifier: BSD-3-Clause
"""Lists what users can choose: mappers, schedules, patterns, machines, formats."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any


def _list_from_dictionaries(function: str) -> list[dict[str, Any]]:
    """List entries from a core function that returns dictionaries."""
    from topoloom import _core

    return [dict(entry) for entry in getattr(_core, function)()]


def _list_from_pairs(function: str) -> list[dict[str, Any]]:
    """List names and summaries from a core function that returns pairs."""
    from topoloom import _core

    entries = getattr(_core, function)()
    return [{"name": name, "summary": summary} for name, summary in entries]


def list_patterns() -> list[dict[str, Any]]:
    """List the patterns with the option that sets their size."""
    from topoloom.graphs.patterns import PATTERNS

    return [
        {
            "name": name,
            "summary": pattern.summary,
            "needs": f"--{pattern.size}",
        }
        for name, pattern in PATTERNS.items()
    ]


def list_bus_assignments() -> list[dict[str, Any]]:
    """List the named assignments of eight threads to a ring bus."""
    from topoloom.tasks.bus.named_affinities import NAMED, RANDOM, RANDOM_SUMMARY

    return [
        *(
            {
                "name": name,
                "summary": summary,
                "elements": list(elements),
                "mapper": f"affinity(named={name})",
            }
            for name, (summary, elements) in NAMED.items()
        ),
        {
            "name": RANDOM,
            "summary": RANDOM_SUMMARY,
            "mapper": f"affinity(named={RANDOM})",
        },
    ]


def list_topologies() -> list[dict[str, Any]]:
    """List the topologies with an example and options of each."""
    from topoloom.machines.topology_forms import section_forms

    return [
        {
            "name": form.name,
            "summary": form.summary,
            "example": form.example,
            "options": [option._asdict() for option in form.options],
        }
        for form in section_forms().values()
    ]


def list_machines() -> list[dict[str, Any]]:
    """List the included machine descriptions."""
    from topoloom.machines.machine_names import zoo

    return [entry._asdict() for entry in zoo()]


def list_models() -> list[dict[str, Any]]:
    """List the included network models."""
    from topoloom.model.model_names import load_model, model_names

    keys = ("summary", "source", "date")
    files = {name: load_model(name) for name in model_names()}
    return [
        {"name": name, **{key: getattr(file, key) for key in keys}}
        for name, file in files.items()
    ]


def list_switch_models() -> list[dict[str, Any]]:
    """List the included switches."""
    from topoloom.simulate.switch_toml import switch_names
    from topoloom.support.resources import find_shipped_folder
    from topoloom.support.toml_document import read_toml

    keys = ("summary", "source", "date")
    folder = find_shipped_folder("models") / "switches"
    files = {name: read_toml(folder / f"{name}.toml") for name in switch_names()}
    return [
        {"name": name, "title": file["name"], **{key: file[key] for key in keys}}
        for name, file in files.items()
    ]


def list_formats() -> list[dict[str, Any]]:
    """List input formats, and output formats with their suffixes."""
    from topoloom.graphs.graph_file import FORMATS
    from topoloom.graphs.trace_names import TRACE_NAMES
    from topoloom.machines import machine_file
    from topoloom.machines.import_formats import IMPORTERS
    from topoloom.machines.machine_writers import WRITERS

    def format_file_names(ends: tuple[str, ...]) -> str:
        return " ".join(f"*{end}" for end in ends)

    written = {name: writer.suffix for name, writer in WRITERS.items()}
    written["toml"] = ".toml"
    machines = [
        *(
            (name, what, format_file_names(e))
            for name, (what, e) in machine_file.FORMATS.items()
        ),
        *((one.name, one.summary, "by content") for one in IMPORTERS),
    ]
    return (
        [
            {
                "name": name,
                "of": "pattern",
                "summary": summary,
                "files": format_file_names(ends),
                "written": ".npz" if name == "npz" else None,
            }
            for name, (summary, ends) in FORMATS.items()
        ]
        + [
            {
                "name": name,
                "of": "pattern",
                "summary": summary,
                "files": "by content",
                "written": None,
            }
            for name, summary in TRACE_NAMES.items()
        ]
        + [
            {
                "name": name,
                "of": "machine",
                "summary": summary,
                "files": where,
                "written": written.get(name),
            }
            for name, summary, where in machines
        ]
    )


def list_exports() -> list[dict[str, Any]]:
    """List the launcher formats of `topoloom export`."""
    from topoloom.launch.exports.launch_formats import FORMATS

    return [
        {"name": each.name, "summary": each.summary, "use": each.usage}
        for each in FORMATS
    ]


#: Functions that list the entries, by kind of entry.
CATALOG: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "mappers": partial(_list_from_dictionaries, "mappers"),
    "plans": partial(_list_from_dictionaries, "search_plans"),
    "balancers": partial(_list_from_dictionaries, "balancers"),
    "schedules": partial(_list_from_dictionaries, "schedules"),
    "patterns": list_patterns,
    "bus-assignments": list_bus_assignments,
    "topologies": list_topologies,
    "machines": list_machines,
    "models": list_models,
    "switches": list_switch_models,
    "traffic-patterns": partial(_list_from_pairs, "traffics"),
    "injections": partial(_list_from_pairs, "injections"),
    "formats": list_formats,
    "exports": list_exports,
}
