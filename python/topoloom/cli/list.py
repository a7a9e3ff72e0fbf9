# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom list`: what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from topoloom.cli import complete
from topoloom.cli.options import AsJson


def command(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND",
            help="mappers, schedules, patterns, topologies, machines, models, formats "
            "or exports.",
            autocompletion=complete.kinds,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what there is to choose from; everything, if no kind is named.

    \b
    Examples:
      topoloom list mappers
      topoloom list machines --json
    """
    from topoloom import Error
    from topoloom.cli.console import print_json, print_table
    from topoloom.nearest import unknown_name

    if kind is not None and kind not in KINDS:
        raise Error(unknown_name("kind of list", kind, KINDS))
    lists = {name: KINDS[name]() for name in KINDS if kind in (None, name)}
    if as_json:
        print_json(lists if kind is None else lists[kind])
        return
    for name, entries in lists.items():
        columns = _columns(name)
        rows = [[_cell(entry.get(column)) for column in columns] for entry in entries]
        print_table(columns, rows, title=name, left=len(columns))


def _mappers() -> list[dict[str, Any]]:
    from topoloom import mappers

    return [dict(mapper) for mapper in mappers()]


def _schedules() -> list[dict[str, Any]]:
    from topoloom._core import schedules

    return [dict(schedule) for schedule in schedules()]


def _patterns() -> list[dict[str, Any]]:
    from topoloom.patterns import PATTERNS

    return [
        {
            "name": name,
            "summary": pattern.summary,
            "needs": f"--{pattern.size}",
        }
        for name, pattern in PATTERNS.items()
    ]


def _topologies() -> list[dict[str, Any]]:
    from topoloom.machine_file import TOPOLOGIES

    return [
        {"name": name, "summary": summary, "example": example}
        for name, (summary, example) in TOPOLOGIES.items()
    ]


def _machines() -> list[dict[str, Any]]:
    from topoloom.machine_file import zoo

    return [entry._asdict() for entry in zoo()]


def models() -> list[dict[str, Any]]:
    """Tell what network models ship with Topoloom."""
    from topoloom.model.named import load_model, model_names

    keys = ("summary", "source", "date")
    files = {name: load_model(name) for name in model_names()}
    return [
        {"name": name, **{key: getattr(file, key) for key in keys}}
        for name, file in files.items()
    ]


def _formats() -> list[dict[str, Any]]:
    """Tell what files are read, and the suffix with which -o writes them."""
    from topoloom import machine_file
    from topoloom.discover.importers import IMPORTERS
    from topoloom.formats.graph import FORMATS

    def files(ends: tuple[str, ...]) -> str:
        return " ".join(f"*{end}" for end in ends)

    written = {name: suffix for name, (suffix, _) in machine_file.WRITERS.items()}
    written["toml"] = ".toml"
    machines = [
        *((name, what, files(e)) for name, (what, e) in machine_file.FORMATS.items()),
        *((one.name, one.summary, "by content") for one in IMPORTERS),
    ]
    return [
        {
            "name": name,
            "of": "pattern",
            "summary": summary,
            "files": files(ends),
            "written": ".npz" if name == "npz" else None,
        }
        for name, (summary, ends) in FORMATS.items()
    ] + [
        {
            "name": name,
            "of": "machine",
            "summary": summary,
            "files": where,
            "written": written.get(name),
        }
        for name, summary, where in machines
    ]


def _exports() -> list[dict[str, Any]]:
    from topoloom.launch.formats import FORMATS

    return [
        {"name": entry.NAME, "summary": entry.SUMMARY, "use": entry.USE}
        for entry in FORMATS
    ]


KINDS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "mappers": _mappers,
    "schedules": _schedules,
    "patterns": _patterns,
    "topologies": _topologies,
    "machines": _machines,
    "models": models,
    "formats": _formats,
    "exports": _exports,
}


def _columns(kind: str) -> list[str]:
    return {
        "mappers": ["name", "kind", "summary", "source"],
        "schedules": ["name", "operations", "summary"],
        "patterns": ["name", "summary", "needs"],
        "topologies": ["name", "summary", "example"],
        "machines": ["name", "summary", "text"],
        "models": ["name", "summary", "date"],
        "formats": ["name", "of", "summary", "files", "written"],
        "exports": ["name", "summary"],
    }[kind]


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("name", ""))
    if isinstance(value, list | tuple):
        return ", ".join(_cell(item) for item in value)
    return "" if value is None else str(value)
