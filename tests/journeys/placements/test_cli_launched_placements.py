# SPDX-License-Identifier: BSD-3-Clause
"""Placements that people already have: files of launchers in place of placements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

MACHINE = "torus:2x2+node:2"
FORMATS = ["openmpi-rankfile", "slurm-hostfile", "mpich-rankmap", "pjm-vcoordfile"]


@pytest.fixture
def placed(topoloom: Command) -> int:
    """Write g.npz and a random placement x.json; return its hop-bytes."""
    generate = ["pattern", "generate", "stencil2d", "--grid", "4x2", "-o", "g.npz"]
    assert topoloom(*generate).status == 0
    words = ["map", "g.npz", "-m", MACHINE, "-a", "cn[0-3]", "--mapper", "random"]
    assert topoloom(*words, "-o", "x.json").status == 0
    hop_bytes: int = topoloom("judge", "g.npz", "x.json", "--json").json["hop_bytes"]
    return hop_bytes


@pytest.mark.parametrize("target", FORMATS)
def test_a_launchers_file_is_judged_like_the_placement(
    topoloom: Command, placed: int, target: str
) -> None:
    assert topoloom("export", "x.json", "--to", target, "-o", "f").status == 0
    machine = ["-m", MACHINE, "-a", "cn[0-3]"]
    for name in ("f", f"{target}:f"):
        judged = topoloom("judge", "g.npz", name, *machine, "--json")
        assert judged.json["hop_bytes"] == placed
        assumes = "ranks take the slots of a host in the launcher's order" in judged.err
        assert assumes == (target != "openmpi-rankfile")
    improved = topoloom("map", "g.npz", *machine, "--placement", "f", "-o", "y.json")
    assert improved.status == 0
    assert topoloom("bound", "g.npz", "f", *machine).status == 0


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("rank 0=cn0 slot=0\n", [], "--machine is missing"),
        ("rank 0=n0 slot=0\n", ["-m", MACHINE], "rank 1 has no location"),
        ("rank 0=gpu7 slot=0\n", ["-m", MACHINE], "host 'gpu7' is not in the"),
        ("n0\n" * 8, ["-m", MACHINE], "more ranks on host 'n0' than the 2 slots"),
        ("n0\nn1\n", ["-m", MACHINE], "places 2 ranks, but the graph has 8"),
        ("hello, world\n", ["-m", MACHINE], "is neither a placement file nor in"),
        ("", ["-m", MACHINE], "the file is empty"),
    ],
)
def test_wrong_files_are_refused_in_one_line(
    topoloom: Command, placed: int, text: str, words: list[str], message: str
) -> None:
    Path("f").write_text(text)
    refused = topoloom("judge", "g.npz", "f", *words)
    assert refused.status == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1
