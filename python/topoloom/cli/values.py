# SPDX-License-Identifier: BSD-3-Clause
"""Checks the values of options and arguments, and describes wrong ones in one line.

The metavar of a parameter says what its value is: each SIZE is checked as a number of
bytes. A command receives texts unchanged, and numbers and paths converted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from topoloom.cli.command_line import command_line
from topoloom.cli.exit_status import Failure
from topoloom.cli.streams import is_decoded, spell_bytes

_MAX_CHARACTERS = 60
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}", re.ASCII)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,4})?", re.I | re.A)


def _check_bytes(text: str) -> None:
    from topoloom.support.units import parse_bytes

    parse_bytes(text)


def _check_duration(text: str) -> None:
    from topoloom.support.units import parse_duration

    parse_duration(text)


def _check_bandwidth(text: str) -> None:
    from topoloom.support.units import parse_bandwidth

    parse_bandwidth(text)


def _check_effort(text: str) -> None:
    from topoloom.cli.completions import efforts
    from topoloom.support.name_lookup import find_by_name

    find_by_name("effort", text, dict.fromkeys(efforts("")))


def _check_grid(text: str) -> None:
    from topoloom.graphs.patterns import parse_grid

    parse_grid(text)


class Kind(NamedTuple):
    """What the values of a metavar are: an example, and a check of a text."""

    example: str
    check: Callable[[str], None] | None = None
    #: Whether a comma separates several values.
    is_list: bool = False
    may_be_empty: bool = False


#: The kind of value of each metavar that several parameters share.
KINDS = {
    "-- COMMAND": Kind("-- mpirun -n 64 ./app"),
    "-- LAUNCHER": Kind("-- mpirun -n 64"),
    "AXIS=BYTES,...": Kind("tp=2GiB,dp=1GiB"),
    "AXIS=SIZE,...": Kind("tp=8,dp=16"),
    "AxBxC": Kind("8x8x8", _check_grid),
    "COMPILER": Kind("/usr/bin/mpicc"),
    "COSTS": Kind("costs.txt"),
    "EFFORT": Kind("best", _check_effort),
    "DIR": Kind("DIR"),
    "FILE": Kind("FILE"),
    "FILE|HOSTS": Kind("n[001-064]"),
    "GRAPH": Kind("app.npz"),
    "GRAPH|PATTERN": Kind("app.npz"),
    "HOSTS": Kind("n[001-064]"),
    "LOAD,...": Kind("0.1,0.2"),
    "LIST": Kind("block,gge+swap", is_list=True),
    "LOADS": Kind("loads.txt"),
    "MACHINE": Kind("torus:8x8x8"),
    "MAPPER": Kind("gge+swap"),
    "N": Kind("64"),
    "JOB": Kind("app.npz"),
    "PLACEMENT": Kind("x.json"),
    "PLACEMENT|MACHINE": Kind("x.json"),
    "RANK": Kind("0"),
    "RANK=SLOT,...": Kind("0=n1:0,7=n2"),
    "RATE": Kind("'9.4 GB/s'", _check_bandwidth),
    "SETTING": Kind("report=1", may_be_empty=True),
    "SHARE": Kind("0.05"),
    "SIZE": Kind("64KiB", _check_bytes, is_list=True),  # some take several
    "SIZE,...": Kind("1KiB,64KiB", _check_bytes, is_list=True),
    "TIME": Kind("10s", _check_duration),
    "X": Kind("0.03"),
}


def find_typed_name(parameter: click.Parameter) -> str:
    """Return an option as the user typed it, such as -N; an argument's metavar.

    The first name of an option that was not typed.
    """
    if isinstance(parameter, click.Argument):
        return parameter.metavar or parameter.name or ""
    names = [*parameter.opts, *parameter.secondary_opts]
    for word in command_line.get():
        for name in names:
            attached = name if len(name) == 2 else f"{name}="
            if word == name or word.startswith(attached):
                return name
    return names[0]


def suggest_value(parameter: click.Parameter, ctx: click.Context) -> str:
    """Return ", such as" and an option with a value, or the value of an argument.

    The value is that of the metavar, or the first that the shell completes. Without
    any, refer to the help.
    """
    kind = KINDS.get(parameter.metavar or "")
    if kind is not None:
        example = kind.example
    else:
        completed = parameter.shell_complete(ctx, "")
        if not completed or completed[0].type != "plain":
            return f"; see '{ctx.command_path} --help'"
        example = completed[0].value
    if isinstance(parameter, click.Argument):
        return "" if example == parameter.metavar else f", such as {example}"
    return f", such as {find_typed_name(parameter)} {example}"


def shorten(text: str) -> str:
    """Shorten a text that is quoted in an error, and spell bytes that are not UTF-8."""
    text = spell_bytes(text)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 3]}..."


def _takes_bytes(metavar: str) -> bool:
    """Return whether a value may be the name of a file that is not UTF-8.

    The texts of machines are stored, and must be UTF-8.
    """
    from topoloom.cli.completions import is_file

    return is_file(metavar) and metavar not in ("MACHINE", "LIST", "STEPS")


def _refuse(parameter: click.Parameter, problem: str) -> Failure:
    return Failure(f"{find_typed_name(parameter)} {problem}", 2)


def _check_items(value: str, param: click.Parameter) -> None:
    if not all(item.strip() for item in value.split(",")):
        raise _refuse(param, f"has an empty item in '{shorten(value)}'; remove a comma")


class Integer(click.ParamType[Any]):
    """An integer of at least `minimum` that has `bits` bits, with its sign."""

    name = "integer"

    def __init__(self, minimum: int, bits: int = 32) -> None:
        self.minimum = minimum
        self.bits = bits

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert a text; raise `Failure` if it is not an integer in the range."""
        if isinstance(value, int):
            return value
        shown = shorten(value)
        if not _INTEGER.fullmatch(value):
            raise _refuse(param, f"must be an integer, such as 4, not '{shown}'")
        number = int(value)
        if number < self.minimum:
            raise _refuse(param, f"must be {self.minimum} or more, not {shown}")
        if number >= 2 ** (self.bits - 1):
            raise _refuse(param, f"must be below 2^{self.bits - 1}, not {shown}")
        return number


class Number(click.ParamType[Any]):
    """A finite number of 0 or more."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert a text; raise `Failure` if it is not such a number."""
        if isinstance(value, int | float):
            return value
        shown = shorten(value)
        if not _NUMBER.fullmatch(value):
            raise _refuse(param, f"must be a number, such as 0.5, not '{shown}'")
        number = float(value)
        if number < 0:
            raise _refuse(param, f"must be 0 or more, not {shown}")
        if not math.isfinite(number):
            raise _refuse(param, f"must be below 1e308, not {shown}")
        return number


class Text(click.ParamType[Any]):
    """A text, checked as its metavar says."""

    name = "text"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the text; raise `Failure` if it is empty or of another kind."""
        kind = KINDS.get(param.metavar or "", Kind(""))
        if not value and not kind.may_be_empty:
            raise _refuse(param, f"is empty; write a value{suggest_value(param, ctx)}")
        if not is_decoded(value) and not _takes_bytes(param.metavar or ""):
            raise _refuse(param, f"cannot be decoded: '{shorten(value)}'; use ASCII")
        if value and (kind.is_list or (param.metavar or "").endswith(",...")):
            _check_items(value, param)
        if kind.check is not None and value != param.default:
            from topoloom._core import Error

            try:
                for part in value.split(",") if kind.is_list else [value]:
                    kind.check(part)
            except Error as error:
                raise Failure(f"{find_typed_name(param)}: {error}", 2) from None
        return value


class FilePath(click.Path):
    """A path; whether it can be read or written is checked later."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert a text; raise `Failure` if it is empty."""
        if value == "" and param is not None:
            raise _refuse(param, "is empty; write the name of a file")
        return super().convert(value, param, ctx)


class Choice(click.Choice[str]):
    """One of several names."""

    def __init__(self, what: str, names: Sequence[str]) -> None:
        super().__init__(names)
        self.what = what

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the name; raise `Failure` if it is unknown."""
        if value not in self.choices:
            from topoloom.support.name_lookup import describe_unknown_name

            text = describe_unknown_name(self.what, shorten(value), self.choices)
            raise Failure(f"{find_typed_name(param)}: {text}", 2)
        return value
