# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom simulate`: tables, JSON, and errors."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

    from topoloom.simulate.result import ReportProgress

MACHINE = "torus:4x4,bandwidth=1GB/s,latency=1us+node:1,startup=0us,latency=0us"
TOPOLOOM = Path(sys.executable).with_name("topoloom")


@pytest.fixture
def topoloom_with_placements(topoloom: Command) -> Command:
    """Write a pattern p.npz and two placements x.json and y.json."""
    words = ["stencil2d", "--grid", "4x4", "--bytes", "1MB"]
    assert topoloom("pattern", "generate", *words, "-o", "p.npz").status == 0
    for name, mapper in (("x.json", "hilbert"), ("y.json", "random")):
        mapped = topoloom("map", "p.npz", "-m", MACHINE, "--mapper", mapper, "-o", name)
        assert mapped.status == 0
    return topoloom


def test_predicted_and_simulated_times_are_printed_side_by_side(
    topoloom_with_placements: Command,
) -> None:
    done = topoloom_with_placements(
        "simulate", "p.npz", "x.json", "y.json", "--with", "simgrid"
    )
    assert done.status == 0
    assert "16 ranks on 4x4 torus, by simgrid" in done.out
    block, x, y = (
        next(line.split() for line in done.out.splitlines() if f" {name} " in line)
        for name in ("block", "x.json", "y.json")
    )
    # 1 MB over one link.
    assert block[-8:] == ["1", "ms", "1.001", "ms", "1.001", "ms", "+0.0", "%"]
    # Four messages share the busiest link.
    assert x[-8:] == ["4", "ms", "4.002", "ms", "4.001", "ms", "-299.7", "%"]
    assert float(y[-2]) < -299.7


def test_times_in_switches_are_printed_beside_predictions(
    topoloom_with_placements: Command,
) -> None:
    given = ("simulate", "p.npz", "x.json", "--with", "switches")
    document = topoloom_with_placements(*given, "--json").json
    assert document["simulator"] == "switches"
    assert document["complete"] is True
    for each in document["results"]:
        # Headers are 32 of 4096 bytes per packet.
        assert each["simulated_seconds"] > 1.007 * each["predicted_seconds"]
        assert each["simulated_seconds"] < 1.5 * each["predicted_seconds"]
        busy = [one["sending"] for one in each["busiest_channels"]]
        assert 1 >= busy[0] == max(busy) > 0.8
    text = topoloom_with_placements(*given).out
    assert "busiest channels" in text
    assert document["results"][0]["busiest_channels"][0]["channel"] in text
    for each in document["results"]:
        # A switch is less busy than its busiest output, because its outputs never all
        # send as much.
        switches = [one["sending"] for one in each["busiest_switches"]]
        assert switches == sorted(switches, reverse=True)
        assert 0 < switches[0] <= each["busiest_channels"][0]["sending"]
    assert document["results"][0]["busiest_switches"][0]["output"] in text
    slower = topoloom_with_placements(*given, "--switch", "rosetta", "--json").json[
        "results"
    ][0]
    assert slower["simulated_seconds"] != document["results"][0]["simulated_seconds"]
    wrong = topoloom_with_placements(*given, "--switch", "rosette")
    assert wrong.status == 2
    assert "no switch 'rosette' (did you mean 'rosetta'?)" in wrong.err
    wrong = topoloom_with_placements(
        "simulate", "p.npz", "x.json", "--switch", "rosetta"
    )
    assert wrong.status == 2
    assert "simgrid does not simulate switches" in wrong.err


def test_simulation_json_has_each_placement_and_block_order(
    topoloom_with_placements: Command,
) -> None:
    document = topoloom_with_placements(
        "simulate", "p.npz", "x.json", "y.json", "--json"
    ).json
    assert document["machine"] == MACHINE
    assert (document["simulator"], document["ranks"]) == ("simgrid", 16)
    block, x, y = document["results"]
    assert [each["placement"] for each in (block, x, y)] == [None, "x.json", "y.json"]
    assert [each["mapper"] for each in (block, x, y)] == ["block", "hilbert", "random"]
    assert block["predicted_seconds"] == pytest.approx(1.001e-3)
    for each in (block, x, y):
        assert each["simulated_seconds"] == pytest.approx(
            each["predicted_seconds"], rel=0.02
        )
    assert y["congestion_seconds"] > x["congestion_seconds"]


def test_phases_are_simulated_sequentially(topoloom: Command) -> None:
    words = ["bruck", "--ranks", "16", "--bytes", "1MB", "--phases"]
    topoloom("pattern", "generate", *words, "-o", "p.npz")
    document = topoloom("simulate", "p.npz", "-m", MACHINE, "--json").json
    assert document["phases"] == 4
    (block,) = document["results"]
    assert [phase["simulated_seconds"] for phase in block["by_phase"]] == [
        pytest.approx(phase["predicted_seconds"], rel=0.02)
        for phase in block["by_phase"]
    ]
    assert block["simulated_seconds"] == pytest.approx(
        sum(phase["simulated_seconds"] for phase in block["by_phase"])
    )
    assert "; 4 phases" in topoloom("simulate", "p.npz", "-m", MACHINE).out


def test_a_pattern_without_messages_takes_no_time(topoloom: Command) -> None:
    topoloom("pattern", "generate", "ring", "--ranks", "1", "-o", "ring.npz")
    Path("diagonal.mat").write_text("5 0\n0 7\n")
    for pattern in ("ring.npz", "diagonal.mat"):
        document = topoloom("simulate", pattern, "-m", MACHINE, "--json").json
        (block,) = document["results"]
        assert (block["predicted_seconds"], block["simulated_seconds"]) == (0, 0)


def test_simulated_ranks_are_in_launcher_order(topoloom: Command) -> None:
    """Two ranks exchange 1 MB over 1 GB/s unless they share a node."""
    topoloom(
        "pattern", "generate", "ring", "--ranks", "2", "--bytes", "1MB", "-o", "p.npz"
    )
    machine = "torus:4,bandwidth=1GB/s,latency=1us+node:2,memory=100GB/s"
    words = ["simulate", "p.npz", "-m", machine, "--nodes", 2, "--json"]
    for options, seconds in (
        (["--ranks-per-node", 1], 1e-3),
        (["--launcher", "mpich"], 0),
    ):
        (block,) = topoloom(*words, *options).json["results"]
        assert block["simulated_seconds"] == pytest.approx(seconds, abs=1e-4)


def test_ranks_on_shared_slots_can_be_simulated(topoloom: Command) -> None:
    topoloom(
        "pattern",
        "generate",
        "stencil2d",
        "--grid",
        "8x8",
        "--bytes",
        "1MB",
        "-o",
        "p.npz",
    )
    words = ["p.npz", "-m", MACHINE, "--imbalance", "0", "-o", "x.json"]
    assert topoloom("map", *words).status == 0
    document = topoloom("simulate", "p.npz", "x.json", "--json").json
    assert [each["mapper"] for each in document["results"]] == ["block", "auto"]
    for each in document["results"]:
        assert each["simulated_seconds"] == pytest.approx(
            each["predicted_seconds"], rel=0.02
        )


def test_a_report_shows_simulated_times_and_the_busiest_channels(
    topoloom_with_placements: Command,
) -> None:
    simulated = topoloom_with_placements(
        "simulate", "p.npz", "x.json", "--with", "switches", "--json"
    )
    words = ("report", "x.json", "-o", "r.html", "--json")
    plain = topoloom_with_placements(*words).json
    assert "busiest_channels" not in plain["placements"][0]
    assert 'id="simulated"' not in Path("r.html").read_text()
    document = topoloom_with_placements(*words, "--with", "switches").json
    page = Path("r.html").read_text()
    assert "Simulated by switches" in page
    results = simulated.json["results"]
    for view, one in zip(document["placements"], results, strict=True):
        assert view["simulated_seconds"] == one["simulated_seconds"]
        assert view["busiest_channels"] == one["busiest_channels"]
        assert view["busiest_switches"] == one["busiest_switches"]
        assert one["busiest_channels"][0]["channel"] in page
    wrong = topoloom_with_placements(*words, "--switch", "rosetta")
    assert (wrong.status, wrong.err) == (
        2,
        "topoloom: --switch is for --with switches\n",
    )


def test_switches_simulate_a_goal_program(topoloom: Command) -> None:
    Path("two.goal").write_text(
        "num_ranks 2\nrank 0 {\nl1: send 1000000b to 1\n}\n"
        "rank 1 {\nl1: recv 1000000b from 0\nl2: calc 5000000\nl2 requires l1\n}\n"
    )
    Path("two.txt").write_text("// by hand\n" + Path("two.goal").read_text())
    for name in ("two.goal", "two.txt"):
        found = topoloom("simulate", name, "-m", MACHINE, "--with", "switches")
        assert found.status == 0
        assert f"{name} is played as it is in the file" in found.err
    words = ["simulate", "two.goal", "-m", MACHINE, "--with", "switches", "--json"]
    (result,) = topoloom(*words).json["results"]
    extra = result["simulated_seconds"] - result["predicted_seconds"]
    assert 0.005 <= extra < 0.0051


def test_other_simulators_send_goal_messages_concurrently(topoloom: Command) -> None:
    Path("two.goal").write_text("num_ranks 2\nrank 0 {\nl1: calc 8\n}\n")
    found = topoloom("simulate", "two.goal", "-m", MACHINE)
    assert found.status == 0
    assert "two.goal is simulated as a pattern" in found.err


def test_schedules_of_a_collective_are_simulated_in_switches(
    topoloom: Command,
) -> None:
    machine = f"{MACHINE.partition('+')[0]}+node:1,startup=1us"
    words = ["collective", "simulate", "allgather", "-n", "16", "--bytes", "64KiB"]
    words += ["-m", machine]
    document = topoloom(*words, "--schedule", "ring,bruck", "--json").json
    found = {each["name"]: each for each in document["schedules"]}
    assert set(found) == {"ring", "bruck"}
    # 15 rounds of 64 KiB over 1 GB/s, with headers.
    assert found["ring"]["simulated_seconds"] > 15 * 65536 / 1e9 * 4096 / 4064
    for each in found.values():
        assert 0.5 < each["simulated_seconds"] / each["predicted_seconds"] < 4
        assert 0 < each["busiest_channels"][0]["sending"] <= 1
    assert "simulated" in topoloom(*words).out
    fastest = topoloom(*words, "--json").json["schedules"]
    assert ["simulated_seconds" in each for each in fastest[:6]] == [True] * 5 + [False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "torus:4x4,bandwidth=1GB/s"], "the startup cost of"),
        ([], "nothing to simulate on; add --machine or --placement"),
    ],
)
def test_collectives_that_cannot_be_simulated_are_refused_in_one_line(
    topoloom: Command, options: list[str], message: str
) -> None:
    refused = topoloom("collective", "simulate", "allgather", "-n", "16", *options)
    assert (refused.status, refused.out) == (2, "")
    assert message in refused.err
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["p.npz"], "--machine is missing; name a placement file or a machine"),
        (
            ["p.npz", "x.json", "--with", "ns3"],
            "no simulator 'ns3'; there are: simgrid",
        ),
        (["p.npz", "none.json"], "none.json: No such file or directory"),
        (["p.npz", "x.json", "-m", MACHINE], "leave out the machine"),
        (
            ["p.npz", "x.json", "z.json"],
            "z.json is for torus:16, but x.json for torus:",
        ),
        (["q.npz", "x.json"], "x.json places 16 ranks, but q.npz has 9"),
        (["p.npz", "empty.json"], "empty.json"),
        (["p.npz", "-m", "torus:4x4"], "4x4 torus gives no bandwidths"),
        (
            ["p.npz", "-m", "torus:1,bandwidth=1GB/s+node:16"],
            "there are no links, and how fast the node's memory is, is not known",
        ),
        (["p.npz", "x.json", "--ranks-per-node", "2"], "leave out the launcher"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_invalid_simulation_input_is_refused_in_one_line(
    topoloom_with_placements: Command, words: list[str], message: str
) -> None:
    topoloom_with_placements(
        "pattern", "generate", "stencil2d", "--grid", "3x3", "-o", "q.npz"
    )
    topoloom_with_placements("map", "p.npz", "-m", "torus:16", "-o", "z.json")
    Path("empty.json").touch()
    refused = topoloom_with_placements("simulate", *words)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith("topoloom: ")
    assert refused.err.count("\n") == 1
    assert message in refused.err


def test_without_simgrid_the_package_is_named(
    topoloom_with_placements: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path.cwd()))
    refused = topoloom_with_placements("simulate", "p.npz", "x.json")
    assert refused.status == 2
    assert "SimGrid is not installed" in refused.err
    assert "libsimgrid-dev" in refused.err


@pytest.mark.parametrize(
    ("number", "status", "expected"),
    [
        (signal.SIGINT, 130, "topoloom: interrupted\n"),
        (signal.SIGTERM, 143, ""),
    ],
)
def test_signals_end_simgrid_without_leftover_files_or_processes(
    number: signal.Signals, status: int, expected: str, tmp_path: Path
) -> None:
    """The simulation takes many seconds."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = ["pattern", "generate", "alltoall", "--ranks", "96", "--bytes", "1MB"]
    subprocess.run([TOPOLOOM, *words, "-o", "p.npz"], cwd=tmp_path, check=True)
    network = "torus:96,bandwidth=1GB/s,latency=1us"
    process = subprocess.Popen(
        [TOPOLOOM, "simulate", "p.npz", "-m", network],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not list_processes_in(scratch):
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate(timeout=600)
    assert (process.returncode, errors) == (status, expected)
    assert not list(scratch.iterdir())
    while list_processes_in(scratch):
        time.sleep(0.05)


def test_ctrl_c_prints_the_placements_simulated_so_far(
    topoloom: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Block order needs one node; with the other placement nodes exchange terabytes."""
    topoloom(
        "pattern", "generate", "ring", "--ranks", "16", "--bytes", "1TB", "-o", "p.npz"
    )
    machine = "torus:4x4,bandwidth=1GB/s,latency=1us+node:16,memory=10GB/s"
    words = ["p.npz", "-m", machine, "--mapper", "random", "-o", "x.json"]
    assert topoloom("map", *words).status == 0
    begun: list[str] = []

    @contextlib.contextmanager
    def interrupt_second_simulation(title: str, unit: str) -> Iterator[ReportProgress]:
        begun.append(title)

        def interrupt_on_progress(done: int, total: int) -> None:
            if len(begun) == 2:
                signal.raise_signal(signal.SIGINT)

        yield interrupt_on_progress

    monkeypatch.setattr(
        "topoloom.cli.console.make_progress_bar", interrupt_second_simulation
    )
    command = ["simulate", "p.npz", "x.json", "--with", "switches"]
    for as_json in (False, True):
        begun.clear()
        ended = topoloom(*command, "--json") if as_json else topoloom(*command)
        assert ended.err == "topoloom: interrupted after 1 placement of 2\n"
        assert ended.status == 130
        if as_json:
            assert ended.json["complete"] is False
            assert [each["mapper"] for each in ended.json["results"]] == ["block"]
        else:
            assert "block (default)" in ended.out
            assert "x.json" not in ended.out


def list_processes_in(scratch: Path) -> list[str]:
    """List the processes that run in this directory, even if it was removed."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(scratch) in str((process / "cwd").readlink()):
                found.append(process.name)
        except OSError:
            continue
    return found
