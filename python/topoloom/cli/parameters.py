# SPDX-License-Identifier: BSD-3-Clause
"""Makes click commands from annotated signatures.

A parameter is ``Annotated[type, Option(...)]`` or ``Annotated[type, Argument(...)]``,
where the type is str, int, float, bool or Path, a list of one of them, or ``| None``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import click
from click.shell_completion import CompletionItem

from topoloom.cli import completions
from topoloom.cli.help_context import HelpContext
from topoloom.cli.output_files import check_outputs
from topoloom.cli.usage_errors import CheckedCommand
from topoloom.cli.values import FilePath, Integer, Number, Text


class Argument:
    """A positional argument."""

    def __init__(
        self,
        *,
        metavar: str,
        help: str,
        autocompletion: Callable[[str], list[str]] | None = None,
    ) -> None:
        self.settings: dict[str, Any] = {"metavar": metavar, "help": help}
        self.autocompletion = autocompletion


class Option:
    """A named command-line option.

    `callback` converts the value before the command receives it; `show_default`
    describes a default that is not a constant. `min` is the least value of an integer:
    1, or 0 if that is the default. The integer has at most `bits` bits, with its sign.
    `is_output` marks the name of a file to write, which must not be an input.
    """

    def __init__(
        self,
        name: str,
        *names: str,
        help: str,
        metavar: str | None = None,
        min: int | None = None,
        bits: int = 32,
        is_output: bool = False,
        show_default: str | bool = True,
        callback: Callable[[Any], Any] | None = None,
        is_eager: bool = False,
        autocompletion: Callable[[str], list[str]] | None = None,
    ) -> None:
        self.names = (name, *names)
        self.min = min
        self.bits = bits
        self.is_output = is_output
        self.callback = callback
        self.autocompletion = autocompletion
        self.settings: dict[str, Any] = {
            "help": help,
            "metavar": metavar,
            "show_default": show_default,
            "is_eager": is_eager,
        }


class _Argument(click.Argument):
    """A click argument that marks optional and repeated values in the usage line."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the argument as the usage line shows it."""
        piece = self.make_metavar(ctx)
        if piece.startswith("-- "):
            piece = f"{piece}..."
            return [piece if self.required else f"[{piece}]"]
        if not self.required:
            piece = f"[{piece}]"
        return [piece if self.nargs == 1 else f"{piece}..."]


class _Option(click.Option):
    """A click option whose help shows described defaults without parentheses."""

    is_output = False

    def get_help_extra(self, ctx: click.Context) -> click.types.OptionHelpExtra:
        """Return what the help shows in brackets."""
        extra = super().get_help_extra(ctx)
        if isinstance(self.show_default, str):
            extra["default"] = self.show_default
        return extra


#: The click types of the types of parameters; bool makes a flag, int has a minimum.
_CLICK_TYPES = {str: Text(), float: Number(), Path: FilePath()}


class _Command(CheckedCommand):
    context_class = HelpContext

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; raise `Failure` if an output would replace a file."""
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            outputs = [one for one in self.params if getattr(one, "is_output", False)]
            check_outputs(ctx, outputs)
        return rest


class _ValueType(NamedTuple):
    """The type of a parameter's value, and whether several values are allowed."""

    value: Any
    multiple: bool


def make_command(
    name: str, function: Callable[..., Any], **settings: Any
) -> click.Command:
    """Make the click command that runs `function`; its docstring is the help."""
    hints = get_type_hints(function, include_extras=True)
    parameters: list[click.Parameter] = []
    context_name = None
    for parameter in inspect.signature(function).parameters.values():
        if hints[parameter.name] is click.Context:
            context_name = parameter.name
        else:
            parameters.append(_make_parameter(parameter, hints[parameter.name]))

    def run(**values: Any) -> Any:
        if context_name is not None:
            values[context_name] = click.get_current_context()
        return function(**values)

    return _Command(
        name, callback=run, params=parameters, help=inspect.getdoc(function), **settings
    )


def _make_parameter(parameter: inspect.Parameter, hint: Any) -> click.Parameter:
    annotation, declared = get_args(hint)
    value_type = _parse_value_type(annotation)
    settings = declared.settings | {"type": value_type.value}
    if parameter.default is not parameter.empty:
        settings["default"] = parameter.default
    settings["shell_complete"] = _make_completion(declared)
    settings["required"] = parameter.default is parameter.empty
    if isinstance(declared, Argument):
        settings["callback"] = _make_callback(value_type, None)
        settings["nargs"] = -1 if value_type.multiple else 1
        return _Argument([parameter.name], **settings)
    settings["callback"] = _make_callback(value_type, declared.callback)
    settings["multiple"] = value_type.multiple
    if value_type.value is bool:
        settings["is_flag"] = True
    if value_type.value is int:
        least = 0 if parameter.default == 0 else 1
        least = least if declared.min is None else declared.min
        settings["type"] = Integer(least, declared.bits)
    option = _Option([parameter.name, *declared.names], **settings)
    option.is_output = declared.is_output
    return option


def _make_completion(
    declared: Argument | Option,
) -> Callable[[Any, Any, str], list[CompletionItem[str]]] | None:
    """Make click's function that completes names, and files if no name matches."""
    metavar = declared.settings["metavar"] or ""
    complete = declared.autocompletion or completions.complete_metavar(metavar)
    kind = "dir" if metavar == "DIR" else "file"
    if complete is None and kind == "file" and not completions.is_file(metavar):
        return None

    def complete_word(_ctx: Any, _param: Any, word: str) -> list[CompletionItem[str]]:
        names = [] if complete is None else complete(word)
        if names or not (kind == "dir" or completions.is_file(metavar)):
            return [CompletionItem(name) for name in names]
        return [CompletionItem(word, type=kind)]

    return complete_word


def _parse_value_type(annotation: Any) -> _ValueType:
    multiple = False
    if NoneType in get_args(annotation):
        (annotation,) = (arg for arg in get_args(annotation) if arg is not NoneType)
    if get_origin(annotation) is list:
        multiple, (annotation,) = True, get_args(annotation)
    return _ValueType(_CLICK_TYPES.get(annotation, annotation), multiple)


def _make_callback(
    value_type: _ValueType, convert: Callable[[Any], Any] | None
) -> Callable[[click.Context, click.Parameter, Any], Any] | None:
    """Convert click's tuples to lists, or to the default if empty."""
    if not value_type.multiple:
        return None if convert is None else lambda ctx, parameter, value: convert(value)

    def to_list(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        return list(value) if value or parameter.required else parameter.default

    return to_list
