# SPDX-License-Identifier: BSD-3-Clause
"""Help pages fit the terminal, and their examples run."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from example_files import write_example_files

from topoloom.cli.app import app, command_names, find_command
from topoloom.cli.help_topics import TOPICS, read_topic

if TYPE_CHECKING:
    from tests.conftest import Command

WIDTH = 80
#: Options and words with which a command starts a program of the user's system, or
#: reads what one has left.
STARTS_PROGRAM = {"--", "--check", "--recover", "demo"}
#: Examples that show a failure.
STATUS = {"topoloom machine sweep torus:8x8 --vcs 1 --watch --loads 0.2": 1}
PAGES = {
    "": str(app.help),
    **{name: str(find_command(name).help) for name in command_names()},
    **{f"help {topic}": read_topic(topic) for topic in TOPICS},
}


def list_examples(text: str) -> Iterator[str]:
    """List the commands in a text, without comments after two or more blanks."""
    for line in re.sub(r" *\\\n *", " ", text).splitlines():
        found = re.search(r"(?:^|  |: )(topoloom [a-z].*?)(?:  |$)", line)
        if found:
            yield found[1]


def parse_example(example: str) -> click.Context:
    """Parse an example with its command, which checks options and their values."""
    words = shlex.split(example)[1:]
    command: click.Command = app
    while isinstance(command, click.Group):
        name = words.pop(0)
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"no command {name}"
        command = found
    return command.make_context(example, words)


@pytest.fixture(scope="module")
def example_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_example_files()
    return folder


@pytest.mark.parametrize("name", ["", *command_names()])
def test_help_fits_100_lines_of_80_columns(
    topoloom: Command, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    lines = topoloom(*name.split(), "--help").out.splitlines()
    assert len(lines) <= 100
    assert [line for line in lines if len(line) > WIDTH] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_fits_80_columns(topic: str) -> None:
    assert [line for line in read_topic(topic).splitlines() if len(line) > WIDTH] == []


@pytest.mark.parametrize("page", PAGES)
def test_examples_are_valid_command_lines(
    page: str, example_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(example_folder)
    for example in list_examples(PAGES[page]):
        parse_example(example)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run_in_their_order(
    page: str, topoloom: Command, example_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(example_folder, tmp_path, dirs_exist_ok=True)
    for example in list_examples(PAGES[page]):
        words = shlex.split(example)[1:]
        if not STARTS_PROGRAM & {*words}:
            outcome = topoloom(*words)
            assert outcome.status == STATUS.get(example, 0), (example, outcome.err)


def test_every_command_has_an_example() -> None:
    for name in command_names():
        own = [
            e for e in list_examples(PAGES[name]) if e.startswith(f"topoloom {name}")
        ]
        assert own, name
