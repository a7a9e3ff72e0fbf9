# SPDX-License-Identifier: BSD-3-Clause
"""A command does not replace a file that it reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topoloom.cli.app import command_names, find_command

if TYPE_CHECKING:
    from tests.conftest import Command


@pytest.mark.parametrize(
    ("words", "output", "given"),
    [
        ("map in -m torus:4x4 -o in", "-o", "GRAPH"),
        ("map p.npz -m in -o ./in", "-o", "-m"),
        ("map p.npz --machine=torus:4x4 -a in --output=in", "--output", "-a"),
        ("map p.npz -m torus:4x4 --background g.npz,in -o in", "-o", "--background"),
        ("judge p.npz in --write-loads in", "--write-loads", "PLACEMENT"),
        (
            "judge p.npz --background in --write-loads in",
            "--write-loads",
            "--background",
        ),
        ("export in --to list -o in", "-o", "PLACEMENT"),
        ("pattern import in -o in", "-o", "FILE"),
        ("model fit in -o in", "-o", "FILE"),
        ("run -m torus:4x4 -g in -o in -- mpirun ./app", "-o", "-g"),
    ],
)
def test_an_output_does_not_replace_an_input(
    topoloom: Command, words: str, output: str, given: str
) -> None:
    Path("in").write_text("kept")
    refused = topoloom(*words.split())
    assert refused.status == 2
    assert refused.err == (
        f"topoloom: {output} in would replace the input {given}; name another file\n"
    )
    assert Path("in").read_text() == "kept"


def test_an_output_does_not_replace_an_input_by_another_name(topoloom: Command) -> None:
    Path("in").write_text("kept")
    Path("link").symlink_to("in")
    refused = topoloom("model", "fit", "in", "-o", "link")
    assert "-o link would replace the input FILE" in refused.err


def test_an_output_does_not_replace_a_file_of_the_program(topoloom: Command) -> None:
    Path("in.npz").write_text("kept")
    refused = topoloom("record", "-o", "in.npz", "--", "cat", "in.npz")
    assert refused.status == 2
    assert "would replace a file of the command after --" in refused.err


def test_two_outputs_have_two_names(topoloom: Command) -> None:
    refused = topoloom("model", "fit", "a.csv", "-o", "f.svg", "--figure", "./f.svg")
    assert refused.status == 2
    assert refused.err == (
        "topoloom: -o and --figure both write f.svg; name two files\n"
    )


def test_devices_are_written_though_they_are_read(topoloom: Command) -> None:
    exported = topoloom("machine", "export", "torus:2x2", "-o", "/dev/null")
    assert exported.status == 0


@pytest.mark.parametrize("name", command_names())
def test_every_option_that_writes_a_file_is_checked(name: str) -> None:
    for option in find_command(name).params:
        text = getattr(option, "help", None) or ""
        if text.startswith(("Write", "Draw")) and option.metavar != "DIR":
            assert getattr(option, "is_output", False), option.opts
