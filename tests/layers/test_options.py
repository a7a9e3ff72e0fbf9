# SPDX-License-Identifier: BSD-3-Clause
"""An option has the same meaning in all verbs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from topoloom.cli.app import SECTIONS, command_names, find_command

if TYPE_CHECKING:
    from tests.conftest import Command

#: Options whose help differs because it describes the output or formats of a verb.
OUTPUT_OPTIONS = {"--output", "-o"}
FORMAT_OPTIONS = {"--to"}
#: Options that, in `network`, are established terms with another meaning.
NETWORK_TERMS = {"--loads", "--traffic"}
#: `probe` checks a machine, `export` checks a placement.
CHECK_OPTIONS = {"--check"}
#: `trees` selects with it what to simulate; in `balance` it has only one choice.
SIMULATION_OPTIONS = {"--simulate"}


def map_options(verb: str) -> dict[str, Any]:
    """Map the names of a verb's options to the options."""
    named = [p for p in find_command(verb).params if p.param_type_name == "option"]
    return {word: p for p in named for word in [*p.opts, *p.secondary_opts]}


def classify_option(option: Any) -> tuple[Any, ...]:
    """Return the properties of an option's value: metavar, output, flag, multiple."""
    writes = option.callback is not None
    return option.metavar, writes, option.is_flag, option.multiple


def map_options_to_verbs() -> dict[str, dict[str, Any]]:
    """Map every option to its verbs."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for verb in command_names():
        for word, option in map_options(verb).items():
            found[word][verb] = option
    return found


SHARED = {
    word: verbs for word, verbs in map_options_to_verbs().items() if len(verbs) > 1
}


def test_verbs_share_options() -> None:
    assert {"--machine", "--seed", "--graph", "-n", "--json"} <= SHARED.keys()


@pytest.mark.parametrize(
    "word",
    sorted(
        SHARED.keys()
        - OUTPUT_OPTIONS
        - FORMAT_OPTIONS
        - NETWORK_TERMS
        - CHECK_OPTIONS
        - SIMULATION_OPTIONS
    ),
)
def test_an_option_has_the_same_meaning_in_every_verb(word: str) -> None:
    meanings = {
        (classify_option(option), option.help) for option in SHARED[word].values()
    }
    assert len(meanings) == 1, f"{word} of {', '.join(SHARED[word])}"


@pytest.mark.parametrize("word", sorted(OUTPUT_OPTIONS))
def test_output_options_name_files_to_write(word: str) -> None:
    for verb, option in SHARED[word].items():
        assert option.metavar in ("FILE", "DIR"), verb
        assert "rite " in option.help, verb


def test_a_short_name_denotes_one_option() -> None:
    for word, verbs in map_options_to_verbs().items():
        if len(word) == 2 and word not in OUTPUT_OPTIONS:
            long = {option.opts[0] for option in verbs.values()}
            assert len(long) == 1, f"{word} is {long}"


def test_the_help_of_topoloom_is_short() -> None:
    listed = [name for entries in SECTIONS.values() for name in entries]
    assert len(listed) == len(set(listed)) <= 22


def test_help_lists_the_sections(topoloom: Command) -> None:
    shown = topoloom("--help").out
    places = [shown.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places)
