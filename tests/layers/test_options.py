# SPDX-License-Identifier: BSD-3-Clause
"""An option has the same meaning in all commands."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from topoloom.cli.app import SECTIONS, command_names, find_command

if TYPE_CHECKING:
    from tests.conftest import Command

ROOT = Path(__file__).resolve().parents[2]

#: The option whose help says what the command writes.
OUTPUT = "--output"


def map_options() -> dict[str, dict[str, Any]]:
    """Map the long name of every option to its commands."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for name in command_names():
        for option in find_command(name).params:
            if option.param_type_name == "option":
                found[max(option.opts, key=len)][name] = option
    return found


SHARED = {word: names for word, names in map_options().items() if len(names) > 1}


def test_commands_share_options() -> None:
    assert {"--machine", "--seed", "--graph", "--ranks", "--json"} <= SHARED.keys()


@pytest.mark.parametrize("word", sorted(SHARED.keys() - {OUTPUT}))
def test_an_option_has_one_meaning_one_value_and_one_default(word: str) -> None:
    meanings = defaultdict(list)
    for name, option in SHARED[word].items():
        default = None if option.required else option.default
        value = (*option.opts, option.metavar, option.is_flag, option.multiple)
        said = (option.help, option.show_default, option.callback is not None)
        meanings[(default, *value, *said)].append(name)
    assert len(meanings) == 1, list(meanings.values())


def test_the_output_option_names_a_file_or_a_directory_to_write() -> None:
    for name, option in SHARED[OUTPUT].items():
        assert option.opts == ["--output", "-o"], name
        assert option.metavar in ("FILE", "DIR"), name
        assert "rite " in option.help, name


def test_help_does_not_say_whether_a_list_is_above_or_below() -> None:
    """Help and pages list options in different places."""
    found = [
        f"{word} of {name}"
        for word, commands in map_options().items()
        for name, option in commands.items()
        if re.search(r"\b(those|listed) (above|below)\b", option.help)
    ]
    assert found == []


def test_a_short_name_denotes_one_option() -> None:
    long = defaultdict(set)
    for word, commands in map_options().items():
        for option in commands.values():
            for short in set(option.opts) - {word}:
                long[short].add(word)
    assert {short: words for short, words in long.items() if len(words) > 1} == {}


def test_the_page_on_options_matches_the_commands() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "docs" / "tables" / "option_table.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ROOT / "docs/reference/options.md").read_text() == made.stdout


def test_topoloom_has_few_commands() -> None:
    listed = [name for entries in SECTIONS.values() for name in entries]
    assert len(listed) == len(set(listed)) <= 25


def test_help_lists_the_sections(topoloom: Command) -> None:
    shown = topoloom("--help").out
    places = [shown.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places)
