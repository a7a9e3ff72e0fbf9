# SPDX-License-Identifier: BSD-3-Clause
"""Finds the options on the command line, to refuse those that do not apply."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click


def spell_options(context: click.Context) -> dict[str, str]:
    """Map the names of parameters to options, such as ``--periodic/--open``."""
    return {
        str(option.name): "/".join(option.opts[:1] + option.secondary_opts[:1])
        for option in context.command.params
        if option.param_type_name == "option"
    }


def list_given_options(context: click.Context) -> dict[str, str]:
    """Map the names of parameters on the command line to their options."""
    return {
        name: spelled
        for name, spelled in spell_options(context).items()
        if (source := context.get_parameter_source(name)) is not None
        and source.name == "COMMANDLINE"
    }


def check_options_apply(
    context: click.Context, names: Collection[str], choice: str
) -> None:
    """Raise an error for an option on the command line that is not in `names`."""
    from topoloom._core import Error

    for name, spelled in list_given_options(context).items():
        if name not in names:
            raise Error(f"{spelled} does not apply to {choice}; leave it out")
