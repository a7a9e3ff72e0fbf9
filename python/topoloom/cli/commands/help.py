# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom help`: explain a topic on one page."""

from __future__ import annotations

from typing import Annotated

import click

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson
from topoloom.cli.parameters import Argument


def command(
    context: click.Context,
    topic: Annotated[
        str | None,
        Argument(
            metavar="TOPIC",
            help="graphs, machines, allocations, mappers, objectives or placements; "
            "by default, list the topics.",
            autocompletion=completions.topics,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Explain a topic on one page.

    For the options of a command, see 'topoloom COMMAND --help'.

    \b
    Examples:
      topoloom help
      topoloom help mappers
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_facts, print_json
    from topoloom.cli.help_topics import TOPICS, read_title, read_topic
    from topoloom.support.name_lookup import describe_unknown_name

    if topic is None:
        titles = {name: read_title(name) for name in TOPICS}
        if as_json:
            print_json({"topics": titles})
        else:
            print_facts(list(titles.items()), "topics of 'topoloom help TOPIC'")
        return
    commands = context.find_root().command
    assert isinstance(commands, click.Group)
    if topic in commands.list_commands(context):
        raise Error(f"'{topic}' is a command; see 'topoloom {topic} --help'")
    if topic not in TOPICS:
        raise Error(describe_unknown_name("topic", topic, TOPICS))
    if as_json:
        print_json({"topic": topic, "text": read_topic(topic)})
    else:
        print(read_topic(topic), end="")
