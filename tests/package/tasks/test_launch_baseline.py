# SPDX-License-Identifier: BSD-3-Clause
"""A launch line selects slots, is the baseline of gains, and is a mapper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topoloom import load_placement, save_graph
from topoloom.graphs import stencil

if TYPE_CHECKING:
    from tests.conftest import Command

LINES = ["srun -m cyclic:cyclic", "openmpi4 --map-by ppr:2:numa", "mpich -ppn 3"]
NODES = """format = "topoloom-machine"
version = 1
[topology]
kind = "torus"
size = [3, 2]
[node]
levels = [4, 2]
names = ["numa", "node"]
shared = { package = 4 }
"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_graph("p.npz", stencil((6, 4), 5, bytes=1000))
    Path("m.toml").write_text(NODES)


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize("line", LINES)
def test_a_launch_line_is_the_baseline_and_a_mapper(
    line: str, topoloom: Command
) -> None:
    given = ("p.npz", "-m", "m.toml", "--launcher", line)
    mapped = topoloom("map", *given, "--mapper", f"launcher({line})", "-o", "x.json")
    assert mapped.status == 0, mapped.err
    assert f"as {line} does" in mapped.out
    judged = topoloom("judge", *given, "--json").json
    file = load_placement(Path("x.json"))
    # The placement is the first one, so it gains nothing over the baseline.
    assert file.placement.slots.tolist() == file.allocation.slots.tolist()
    assert file.values["hop_bytes"] == judged["block"]["hop_bytes"]
    compared = topoloom(
        "compare", *given, "--mappers", f"launcher({line}),hilbert", "--json"
    ).json
    rows = {row["mapper"]: row["hop_bytes"] for row in compared["results"]}
    assert rows["block"] == rows[f"launcher({line})"] == file.values["hop_bytes"]
    again = topoloom("judge", "p.npz", "x.json", "--json").json
    assert again["block"]["hop_bytes"] == file.values["hop_bytes"]


@pytest.mark.usefixtures("job")
def test_cores_per_rank_are_those_of_the_launch_line(topoloom: Command) -> None:
    words = ("map", "p.npz", "-m", "m.toml", "--mapper", "block", "-o", "x.json")
    done = topoloom(*words, "--launcher", "srun -c 2 -m cyclic")
    assert done.status == 0, done.err
    assert load_placement(Path("x.json")).cores_per_rank == 2


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--launcher", "srun --frob"], "--launcher 'srun --frob': "),
        (["--launcher", "foo"], "no launcher 'foo'"),
        (
            ["--launcher", "srun -m cyclic", "--ranks-per-node", "2"],
            "cannot be combined with a launch line",
        ),
        (
            ["--launcher", "srun -c 2", "--cores-per-rank", "4"],
            "--cores-per-rank is 4, but 'srun -c 2' gives each rank 2",
        ),
        (
            ["--launcher", "srun", "-m", "torus:2x2", "--imbalance", "0"],
            "with a launch line",
        ),
        (["--mapper", "launcher(foo)"], "no launcher 'foo'"),
        (
            ["--launcher", "srun -n 24 -m block,Pack", "--mapper", "launcher(srun)"],
            "on slots that the job's launcher does not use",
        ),
        (
            ["--mapper", "launcher(mpirun --map-by l3cache)"],
            "--launcher needs L3 caches, which the machine does not describe",
        ),
    ],
)
def test_wrong_launch_lines_are_refused(
    words: list[str], message: str, topoloom: Command
) -> None:
    done = topoloom("map", "p.npz", "-m", "m.toml", *words)
    assert done.status == 2
    assert message in done.err
    assert done.err.count("\n") == 1
