# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom list`: list mappers, machines, formats and other choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson
from topoloom.cli.parameters import Argument

if TYPE_CHECKING:
    from topoloom.documents.catalog import ListDocument


def command(
    kind: Annotated[
        str | None,
        Argument(
            metavar="KIND",
            help="mappers, plans, balancers, schedules, patterns, bus-assignments, "
            "topologies, machines, models, switches, traffic-patterns, injections, "
            "formats or exports; by default, all.",
            autocompletion=completions.kinds,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List mappers, machines, formats and other choices.

    \b
    Examples:
      topoloom list mappers
      topoloom list machines --json
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_json, print_table
    from topoloom.support.name_lookup import describe_unknown_name
    from topoloom.tasks.catalog import CATALOG

    if kind is not None and kind not in CATALOG:
        raise Error(describe_unknown_name("kind of list", kind, CATALOG))
    lists = {name: CATALOG[name]() for name in CATALOG if kind in (None, name)}
    if as_json:
        document = {name.replace("-", "_"): lists[name] for name in lists}
        print_json(cast("ListDocument", document))
        return
    for name, entries in lists.items():
        columns = _list_columns(name)
        rows = [
            [_format_cell(entry.get(column)) for column in columns] for entry in entries
        ]
        print_table(
            columns,
            rows,
            title=name,
            left=len(columns),
            keep=["name", "summary"],
        )


def _list_columns(kind: str) -> list[str]:
    return {
        "mappers": ["name", "kind", "summary", "source"],
        "plans": ["problems", "name", "summary", "fast", "default", "best"],
        "balancers": ["name", "summary", "source", "needs"],
        "schedules": ["name", "operations", "summary"],
        "patterns": ["name", "summary", "needs"],
        "bus-assignments": ["name", "summary", "elements", "mapper"],
        "topologies": ["name", "summary", "example"],
        "machines": ["name", "summary", "text"],
        "models": ["name", "summary", "date"],
        "switches": ["name", "title", "summary", "date"],
        "traffic-patterns": ["name", "summary"],
        "injections": ["name", "summary"],
        "formats": ["name", "of", "summary", "files", "written"],
        "exports": ["name", "summary"],
    }[kind]


def _format_cell(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("name", ""))
    if isinstance(value, list | tuple):
        return ", ".join(_format_cell(item) for item in value)
    if isinstance(value, float):
        return f"{value:,}".removesuffix(".0")
    return "" if value is None else str(value)
