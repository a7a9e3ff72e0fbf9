# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom study` of programs in SimGrid's MPI: every time is exact."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from json_documents import check_document
from mpis import PROGRAMS, SIMGRID, build_program
from own_process import topoloom

from topoloom.graphs.graph_file import load_graph
from topoloom.graphs.phases import add_phases, edge_rows, load_phases

RANKS = 8
MACHINE = ["--machine", "torus:8,bandwidth=1GB/s,latency=1us"]
METRIC = ["--metric", r"time: (\S+) s"]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return build_program(SIMGRID, PROGRAMS / "runs" / "studied.c")


def run_study(program: Path, *words: object) -> Any:
    command = ["--", "smpirun", "-np", RANKS, program]
    done = topoloom(
        "study", *MACHINE, *METRIC, "--store", "store", "--json", *words, *command
    )
    assert done.returncode == 0, done.stderr
    return check_document(done.stdout)


def list_medians(document: Any) -> list[float]:
    return [cell["median"] for cell in document["cells"]]


def test_all_messages_are_traced(program: Path) -> None:
    run_study(program)
    most = 1 << 16  # bytes of a part of the alltoall
    [file] = Path("store/files").glob("*/*.npz")
    rows = edge_rows(load_graph(file)).astype(int)
    sums = {(source, target): amount for source, target, amount, _ in rows.tolist()}
    # SimGrid's own messages, as of barriers and of communicators, are short.
    for rank in range(RANKS):
        peers = [peer for peer in range(rank % 2, RANKS, 2) if peer != rank]
        for peer in peers:
            own = most + 3003 * (peer == (rank + 2) % RANKS)
            broadcast = 5005 if rank < 2 or peer > rank else 0
            assert own <= sums.pop((rank, peer)) <= own + broadcast + 100
        ahead = 2002 + 1001 * (rank == 0)
        assert ahead <= sums.pop((rank, (rank + 1) % RANKS)) <= ahead + 100
    assert all(amount <= 100 for amount in sums.values())


def test_placement_and_collectives_change_the_simulated_time(program: Path) -> None:
    vary = ["--vary", "placement=launcher,gge,auto"]
    vary += ["--vary", "collectives=library,topoloom"]
    document = run_study(program, *vary)
    times = dict(zip([*"abcdef"], list_medians(document), strict=True))
    assert times["e"] < 0.95 * times["c"] < 0.8 * times["a"]
    assert times["b"] != times["a"]
    assert document["pairs_in_predicted_order"] == document["compared_pairs"] == 3
    assert run_study(program, *vary) == document
    assert len(document["interactions"]) == 2


def test_a_cell_that_fails_costs_only_itself(program: Path) -> None:
    document = run_study(
        program, "--vary", "end=,--fail", "--vary", "wait=,--wait 1,--wait 2"
    )
    whys = [cell["reason"] for cell in document["cells"]]
    assert [why is None for why in whys] == [True] * 3 + [False] * 3
    assert "exit status 3" in whys[3]
    first, second, third = list_medians(document)[:3]
    assert second - first == pytest.approx(1e-3, rel=1e-3)
    assert third - first == pytest.approx(2e-3, rel=1e-3)


def test_the_ranks_of_an_mpi_job_are_workers(program: Path) -> None:
    pool = ["mpirun.openmpi", "--oversubscribe", "-n", "3", sys.executable]
    words = ["-m", "mpi4py.futures", "-m", "topoloom", "study", *MACHINE, *METRIC]
    words += ["--store", "store", "--json", "--vary", "wait=,--wait 1,--wait 2"]
    done = subprocess.run(
        [*pool, *words, "--", "smpirun", "-np", str(RANKS), program],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    medians = list_medians(check_document(done.stdout))
    assert medians[2] - medians[0] == pytest.approx(2e-3, rel=1e-3)


def test_a_metric_must_be_in_the_output(program: Path) -> None:
    document = run_study(program, "--metric", "speed: ([0-9]+)")
    whys = {cell["reason"] for cell in document["cells"]}
    assert whys == {"the output does not match the metric"}
    assert list_medians(run_study(program))[0] > 0


@pytest.mark.parametrize(
    "options", [["--hosts", "a"], ["--fix", "0=1"], ["--bind", "core"]]
)
def test_options_of_launchers_are_refused(options: list[str], program: Path) -> None:
    command = ["--", "smpirun", "-np", "2", program]
    done = topoloom("study", *MACHINE, *options, "--store", "store", *command)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert options[0] in line


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["smpirun", "./x"], "has no number of ranks"),
        (["smpirun", "-np", "0", "./x"], "-np of smpirun is '0'"),
        (["smpirun", "-np", "2"], "names no program"),
        (["smpirun", "-np", "2", "-platform", "p", "./x"], "written for the machine"),
        (["smpirun", "-np", "9", "./x"], "9 ranks"),
    ],
)
def test_wrong_commands_are_refused(
    command: list[str], why: str, program: Path
) -> None:
    words = [str(program) if word == "./x" else word for word in command]
    done = topoloom("study", *MACHINE, "--store", "store", "--", *words)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert why in line


@pytest.mark.parametrize(
    ("rows", "columns", "limit"),
    [(8, 4, 1.0), (4, 8, 0.9)],
    ids=["launcher's order is best", "placement gains"],
)
def test_transpositions_are_phases_and_placement_does_not_slow_them_down(
    rows: int,
    columns: int,
    limit: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Placed as one phase, the first loses 15 %, and the second gains nothing."""
    monkeypatch.chdir(tmp_path)
    size, times = 1 << 15, 3
    program = build_program(SIMGRID, PROGRAMS / "runs" / "transpositions.c")
    words = ["--machine", "torus:4x2,bandwidth=1GB/s,latency=1us+node:4", *METRIC]
    words += ["--vary", "placement=launcher,auto", "--store", "store", "--json", "--"]
    words += ["smpirun", "-np", rows * columns, program]
    done = topoloom("study", *words, rows, columns, size, times)
    assert done.returncode == 0, done.stderr
    launcher, auto = list_medians(check_document(done.stdout))
    assert auto <= limit * launcher
    [file] = Path("store/files").glob("*/*.npz")
    phases = load_phases(file)
    found = [
        [tuple(row) for row in edge_rows(phase).tolist() if row[2] >= size]
        for phase in phases
    ]
    ranks = range(rows * columns)
    amounts = (size * times, times)
    pairs = [(a, b) for a in ranks for b in ranks if a != b]
    assert [phase for phase in found if phase] == [
        [(a, b, *amounts) for a, b in pairs if a // columns == b // columns],
        [(a, b, *amounts) for a, b in pairs if a % columns == b % columns],
    ]
    assert (
        edge_rows(add_phases(phases)).tolist() == edge_rows(load_graph(file)).tolist()
    )
