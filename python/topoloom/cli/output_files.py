# SPDX-License-Identifier: BSD-3-Clause
"""Refuses output files that would replace an input, or another output."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from topoloom.cli.exit_status import Failure
from topoloom.cli.values import find_typed_name


def check_outputs(ctx: click.Context, outputs: Sequence[click.Parameter]) -> None:
    """Raise `Failure` if an output is a file that the command line names twice."""
    written = [one for one in outputs if isinstance(ctx.params.get(_name(one)), Path)]
    for index, output in enumerate(written):
        path = ctx.params[_name(output)]
        if path.exists() and not path.is_file():
            continue  # a device, such as /dev/stdout
        for other in written[:index]:
            if _is_same_file(path, ctx.params[_name(other)]):
                raise Failure(
                    f"{find_typed_name(other)} and {find_typed_name(output)} both "
                    f"write {path}; name two files",
                    2,
                )
        for given in ctx.command.params:
            if given not in outputs and _has_file(ctx, given, path):
                raise Failure(
                    f"{find_typed_name(output)} {path} would replace "
                    f"{_describe_input(given)}; name another file",
                    2,
                )


def _name(parameter: click.Parameter) -> str:
    return parameter.name or ""


def _describe_input(given: click.Parameter) -> str:
    name = find_typed_name(given)
    if name.startswith("-- "):
        return "a file of the command after --"
    return f"the input {name}"


def _has_file(ctx: click.Context, given: click.Parameter, path: Path) -> bool:
    """Return whether the typed value of a parameter names this existing file."""
    source = ctx.get_parameter_source(_name(given))
    if source is None or source.name != "COMMANDLINE":
        return False
    items = _list_names(ctx.params.get(_name(given)))
    return any(_is_existing(item, path) for item in items)


def _list_names(value: Any) -> Iterator[str]:
    """List what may be names of files in a value, such as ``GRAPH,PLACEMENT``."""
    if isinstance(value, list):
        for each in value:
            yield from _list_names(each)
    elif isinstance(value, str | Path):
        text = str(value)
        yield from {text, *text.split(","), *re.split("[,=]", text)}


def _is_existing(item: str, path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return path.samefile(item)
    return False


def _is_same_file(one: Path, other: Path) -> bool:
    """Return whether two names denote one file, which need not exist."""
    return one.resolve() == other.resolve() or _is_existing(str(one), other)
