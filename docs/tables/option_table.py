# SPDX-License-Identifier: BSD-3-Clause
"""Prints the page on options that several commands share.

Usage: ``python docs/tables/option_table.py > docs/reference/options.md``.
"""

from __future__ import annotations

from collections import defaultdict

import click

from topoloom.cli.app import command_names, find_command

INTRODUCTION = """# Options

An option has one meaning, one kind of value and one default, whichever command takes
it. These are the options of several commands; `topoloom COMMAND --help` lists all. A
comma separates the items of a list; `+` joins the stages of a mapper. `-o` names the
file, or the directory, into which a command writes its result.

| option | default | meaning | commands |
| --- | --- | --- | --- |"""


def list_options(name: str) -> list[click.Option]:
    """List the options of a command."""
    return [p for p in find_command(name).params if isinstance(p, click.Option)]


def shared_options() -> dict[str, dict[str, click.Option]]:
    """Map the long name of each option of several commands to these commands."""
    found: dict[str, dict[str, click.Option]] = defaultdict(dict)
    for name in command_names():
        for option in list_options(name):
            found[max(option.opts, key=len)][name] = option
    return {word: found[word] for word in sorted(found) if len(found[word]) > 1}


def describe_default(option: click.Option) -> str:
    """Return the default of an option as text; empty if there is none."""
    if isinstance(option.show_default, str):
        return option.show_default
    if option.is_flag or option.required or option.default is None:
        return ""
    return str(option.default)


def format_row(word: str, commands: dict[str, click.Option]) -> str:
    """Format the row of an option; options without a value have no metavariable."""
    option = next(iter(commands.values()))
    names = ", ".join(f"`{one}`" for one in sorted(option.opts, key=len))
    value = "" if option.is_flag else f" `{option.metavar}`"
    meaning = "" if word == "--output" else " ".join((option.help or "").split())
    cells = [names + value, describe_default(option), meaning, ", ".join(commands)]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> None:
    """Print the page as Markdown."""
    print(INTRODUCTION)
    for word, commands in shared_options().items():
        print(format_row(word, commands))


if __name__ == "__main__":
    main()
