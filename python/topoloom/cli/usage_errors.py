# SPDX-License-Identifier: BSD-3-Clause
"""Describes errors in the use of a command, and in its parameters, in one line."""

from __future__ import annotations

from typing import Any

import click

from topoloom.cli.exit_status import Failure
from topoloom.cli.values import find_typed_name, suggest_value


class CheckedCommand(click.Command):
    """A click command whose errors are one line that names what the user typed."""

    def make_context(self, *words: Any, **more: Any) -> click.Context:
        """Parse the command line; `parse_args` refuses more arguments."""
        return super().make_context(*words, **{"allow_extra_args": True, **more})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; raise `Failure` if it is wrong."""
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            raise Failure(describe_usage_error(error, ctx), 2) from None
        if rest and not ctx.resilient_parsing and not isinstance(self, click.Group):
            raise Failure(_describe_extra_argument(rest[0], ctx), 2)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; name the options in errors of parameters."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:  # a group without a command
            raise Failure(describe_usage_error(error, ctx), 2) from None
        except ValueError as error:  # errors of the core are; it is not imported here
            if (described := self._describe_error(error)) is None:
                raise
            raise Failure(described, 2) from error

    def _describe_error(self, error: Any) -> str | None:
        """Describe an error that depends on the command's options; else return None."""
        if describe := getattr(error, "describe", None):
            return str(describe(lambda name: find_option(self, name)))
        if describe_for := getattr(error, "describe_for", None):
            places = {name for one in self.params for name in one.opts}
            for one in self.params:
                places |= set((one.metavar or "").split("|"))
            return str(describe_for(places))
        return None


def find_option(command: click.Command, name: str) -> str:
    """Return the option or argument of a command for a parameter in Python.

    The name itself if the command has no such option.
    """
    long = f"--{name.replace('_', '-')}"
    named = {word: one for one in command.params for word in (one.name, *one.opts)}
    for word in (long, f"{long}s", name):
        if word in named:
            return find_typed_name(named[word])
    return name


def describe_usage_error(error: click.UsageError, ctx: click.Context) -> str:
    """Describe a usage error of click in one line."""
    command = f"'{ctx.command_path}'"
    options = {name: one for one in ctx.command.params for name in one.opts}
    if isinstance(error, click.NoSuchOption):
        return _describe_unknown_option(error.option_name, list(options), command)
    if isinstance(error, click.BadOptionUsage):
        option = options[error.option_name]
        if getattr(option, "is_flag", False):
            return f"{error.option_name} takes no value; write only the option"
        return f"{error.option_name} has no value; add one{suggest_value(option, ctx)}"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return _describe_missing_parameter(error.param, ctx)
    if isinstance(ctx.command, click.Group):
        names = ", ".join(ctx.command.list_commands(ctx))
        return f"{command} is incomplete; add one of its commands: {names}"
    text = error.format_message()
    return text[:1].lower() + text[1:].rstrip(".")


def _describe_unknown_option(name: str, known: list[str], command: str) -> str:
    from topoloom.support.name_lookup import suggest

    similar = suggest(name, [*known, "--help"]) or f"; see {command[:-1]} --help'"
    return f"{command} has no option '{name}'{similar}"


def _describe_missing_parameter(parameter: click.Parameter, ctx: click.Context) -> str:
    name, after = find_typed_name(parameter), ""
    if name == "-- LAUNCHER":
        name = "the launcher"
    elif name.startswith("-- "):
        name = "the command to run"
    elif isinstance(parameter, click.Argument):
        after = f" after '{ctx.command_path}'"
    return f"{name} is missing; add it{after}{suggest_value(parameter, ctx)}"


def _describe_extra_argument(word: str, ctx: click.Context) -> str:
    taken = [one for one in ctx.command.params if isinstance(one, click.Argument)]
    names = " ".join(find_typed_name(one) for one in taken) or "only options"
    return f"unexpected argument '{word}': '{ctx.command_path}' takes {names}"
