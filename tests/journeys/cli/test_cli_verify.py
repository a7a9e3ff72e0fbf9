# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom verify` and `run --apply world` refuse impossible requests in one line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

MPIRUN = ["mpirun.openmpi", "-n", 4]
WORLD = ["run", "--apply", "world", "--graph", "p.npz", "-m", "mesh:2+node:2"]
HOSTS = ["--hosts", "a,b"]


@pytest.fixture
def topoloom_with_placement(topoloom: Command) -> Command:
    """Write a ring of 4 ranks as p.npz, and its placement as x.json."""
    topoloom("pattern", "generate", "ring", "-n", 4, "--bytes", 1000, "-o", "p.npz")
    topoloom("map", "p.npz", "-m", "mesh:2+node:2", "-o", "x.json")
    Path("empty.json").write_text("")
    return topoloom


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["verify", "x.json"], "the command to run is missing"),
        (["verify", "x.json", "--", *MPIRUN], "has no program: mpirun.openmpi -n 4"),
        (["verify", "x.json", "--", "nowhere"], "there is no such program"),
        (["verify", "no.json", "--", *MPIRUN, "true"], "no.json"),
        (["verify", "empty.json", "--", *MPIRUN, "true"], "empty.json"),
        (["verify", "p.npz", "--", *MPIRUN, "true"], "p.npz"),
        (["verify", "x.json", "--hosts", "a", "--", *MPIRUN, "true"], "1 host name"),
        (["verify", "x.json", "--bind", "pu", "--", *MPIRUN, "true"], "cannot bind"),
        (["verify", "x.json", "--mpicc", "no", "--", *MPIRUN, "true"], "compiler 'no'"),
        ([*WORLD, *HOSTS, "--", *MPIRUN], "has no program"),
        ([*WORLD, "--", *MPIRUN, "true"], "2 hosts have no known name"),
        ([*WORLD, *HOSTS, "--", *MPIRUN[:2], 3, "true"], "starts 3 ranks, but p.npz"),
        ([*WORLD, *HOSTS, "--mpicc", "no", "--", *MPIRUN, "true"], "compiler 'no'"),
    ],
)
def test_invalid_verify_input_is_reported_in_one_line(
    topoloom_with_placement: Command, words: list[object], message: str
) -> None:
    done = topoloom_with_placement(*words)
    assert done.status == 2
    assert done.out == ""
    assert message in done.err
    assert done.err.startswith("topoloom: ")
    assert done.err.count("\n") == 1
    assert not list(Path.cwd().glob(".topoloom-*"))


@pytest.fixture
def stdin_with_text(tmp_path: Path) -> Iterator[None]:
    """Redirect standard input from a file with one line."""
    text = tmp_path / "input"
    text.write_text("what the program reads\n")
    original = os.dup(0)
    with text.open() as file:
        os.dup2(file.fileno(), 0)
    yield
    os.dup2(original, 0)
    os.close(original)


def test_standard_input_that_would_reach_another_rank_is_refused(
    topoloom_with_placement: Command, stdin_with_text: None
) -> None:
    done = topoloom_with_placement(*WORLD, *HOSTS, "--", *MPIRUN, "true")
    assert done.status == 2
    assert "--apply world and standard input are mutually exclusive" in done.err
