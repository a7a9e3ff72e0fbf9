# SPDX-License-Identifier: BSD-3-Clause
"""Commands of click from annotated signatures.

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


class Argument:
    """A value that is given by its position."""

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
    """A value that is given by a name.

    `callback` takes the value and returns what the verb gets; `show_default` describes
    a default that is not a constant.
    """

    def __init__(
        self,
        name: str,
        *names: str,
        help: str,
        metavar: str | None = None,
        min: int | None = None,
        show_default: str | bool = True,
        callback: Callable[[Any], Any] | None = None,
        is_eager: bool = False,
        autocompletion: Callable[[str], list[str]] | None = None,
    ) -> None:
        self.names = (name, *names)
        self.min = min
        self.callback = callback
        self.autocompletion = autocompletion
        self.settings: dict[str, Any] = {
            "help": help,
            "metavar": metavar,
            "show_default": show_default,
            "is_eager": is_eager,
        }


class _Argument(click.Argument):
    """An argument whose metavar is framed by what may be left out or repeated."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Write the argument for the line of usage."""
        piece = self.make_metavar(ctx)
        if not self.required:
            piece = f"[{piece}]"
        return [piece if self.nargs == 1 else f"{piece}..."]


class _Form(NamedTuple):
    """The type of a parameter: of one value, and whether there may be several."""

    value: Any
    several: bool


def make_command(name: str, verb: Callable[..., Any], **settings: Any) -> click.Command:
    """Make the command that runs `verb`; its docstring is the help."""
    hints = get_type_hints(verb, include_extras=True)
    parameters: list[click.Parameter] = []
    context_name = None
    for parameter in inspect.signature(verb).parameters.values():
        if hints[parameter.name] is click.Context:
            context_name = parameter.name
        else:
            parameters.append(_parameter(parameter, hints[parameter.name]))

    def run(**values: Any) -> Any:
        if context_name is not None:
            values[context_name] = click.get_current_context()
        return verb(**values)

    return click.Command(
        name, callback=run, params=parameters, help=inspect.getdoc(verb), **settings
    )


def _parameter(parameter: inspect.Parameter, hint: Any) -> click.Parameter:
    annotation, described = get_args(hint)
    form = _form(annotation)
    settings = described.settings | {"type": form.value}
    if parameter.default is not parameter.empty:
        settings["default"] = parameter.default
    complete = described.autocompletion
    if complete is not None:
        settings["shell_complete"] = lambda ctx, param, word: complete(word)
    settings["required"] = parameter.default is parameter.empty
    if isinstance(described, Argument):
        settings["callback"] = _callback(form, None)
        settings["nargs"] = -1 if form.several else 1
        return _Argument([parameter.name], **settings)
    settings["callback"] = _callback(form, described.callback)
    settings["multiple"] = form.several
    if form.value is bool:
        settings["is_flag"] = True
    if described.min is not None:
        settings["type"] = click.IntRange(min=described.min)
    return click.Option([parameter.name, *described.names], **settings)


def _form(annotation: Any) -> _Form:
    several = False
    if NoneType in get_args(annotation):
        (annotation,) = (one for one in get_args(annotation) if one is not NoneType)
    if get_origin(annotation) is list:
        several, (annotation,) = True, get_args(annotation)
    if annotation is Path:
        return _Form(click.Path(path_type=Path), several)
    return _Form(annotation, several)


def _callback(
    form: _Form, then: Callable[[Any], Any] | None
) -> Callable[[click.Context, click.Parameter, Any], Any] | None:
    """Give a verb lists, or None, where click has tuples."""
    if not form.several:
        return None if then is None else lambda ctx, parameter, value: then(value)

    def listed(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        return list(value) if value or parameter.required else parameter.default

    return listed
