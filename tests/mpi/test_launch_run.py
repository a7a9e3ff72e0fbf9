# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run` starts a program as placed, and never breaks the user's command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from json_documents import check_document
from own_process import topoloom
from several_hosts import Location, SeveralHosts, read_locations

from topoloom import CommGraph, load_placement, save_graph
from topoloom.graphs import ring

HOSTS = "alpha,beta,gamma,delta"
CORES = ["--machine", "mesh:4+node:2", "--hosts", HOSTS]
NODES = ["--machine", "mesh:4", "--hosts", HOSTS]
RANDOM = ["--mapper", "random", "--seed", "3"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a directory with profiles of rings."""
    monkeypatch.chdir(tmp_path)
    for ranks in (4, 6):
        save_graph(f"ring{ranks}.npz", ring(ranks, 1000))
    return tmp_path


def run_with_placement(
    *words: object, standard_input: str = ""
) -> subprocess.CompletedProcess[str]:
    return topoloom("run", *words, standard_input=standard_input)


def make_host_command(several_hosts: SeveralHosts, *words: object) -> list[str]:
    """Build a launcher command that names the hosts."""
    option = "-hosts" if several_hosts.mpi.is_hydra else "--host"
    return several_hosts.command(option, HOSTS, *words)


def read_expected_locations(placement: str, cores: bool) -> list[Location]:
    given = load_placement(placement)
    assert given.hosts is not None
    nodes = np.asarray(given.allocation.nodes).tolist()
    per_node = given.machine.slots_per_node
    anywhere = tuple(sorted(os.sched_getaffinity(0)))
    return [
        Location(
            given.hosts[nodes.index(slot // per_node)],
            (slot % per_node,) if cores else anywhere,
        )
        for slot in np.asarray(given.placement.slots).tolist()
    ]


@pytest.mark.every_mpi
def test_run_puts_each_rank_on_its_host(
    several_hosts: SeveralHosts, folder: Path
) -> None:
    command = several_hosts.command("-n", 6, several_hosts.where)
    where = [*CORES, *RANDOM, "--graph", "ring6.npz", "-o", "x.json"]
    done = run_with_placement(*where, "--", *command)
    assert done.returncode == 0, done.stderr
    assert "6 ranks placed with random: hop-bytes" in done.stderr
    assert "placed run" in done.stderr
    assert "placement" in done.stderr.splitlines()[-1]  # the advice
    # Open MPI also binds to cores; MPICH binds only on request.
    cores = not several_hosts.mpi.is_hydra
    assert read_locations(done.stdout, 6) == read_expected_locations("x.json", cores)


def test_run_places_by_the_phases_of_a_recorded_program(
    several_hosts: SeveralHosts, folder: Path
) -> None:
    phases = np.array([[0, 0, 1, 500, 1], [1, 2, 3, 900, 1]])
    graph = CommGraph.from_edges(4, [0, 2], [1, 3], [500, 900])
    save_graph("p.npz", graph, {"phases": phases})
    command = several_hosts.command("-n", 4, several_hosts.where)
    where = [*CORES, "--graph", "p.npz", "-o", "x.json"]
    done = run_with_placement(*where, "--objective", "congestion", "--", *command)
    assert done.returncode == 0, done.stderr
    assert "4 ranks placed with auto: congestion by phase" in done.stderr
    assert load_placement("x.json").objective == "congestion"
    unknown = run_with_placement(*where, "--objective", "timed", "--", *command)
    assert unknown.returncode == 2
    assert unknown.stdout == ""
    assert "no objective 'timed'" in unknown.stderr


def test_run_records_first_if_it_has_to_place_now(
    several_hosts: SeveralHosts, folder: Path
) -> None:
    command = make_host_command(several_hosts, "-n", 4, several_hosts.where)
    where = ["--now", "--machine", "mesh:4", "--json", "-o", "x.json"]
    done = run_with_placement(*where, "--", *command)
    assert done.returncode == 0, done.stderr
    report = check_document(done.stderr.splitlines()[-1])
    assert set(report["seconds"]) == {"recorded", "placed"}
    assert 0 <= report["advice"]["mpi_share_at_most"] <= 1
    second_run = "\n".join(done.stdout.splitlines()[-4:])
    located = read_locations(second_run, 4)
    assert [s.host for s in located] == [
        s.host for s in read_expected_locations("x.json", False)
    ]


def test_run_passes_the_input_and_the_exit_status_through(
    several_hosts: SeveralHosts, folder: Path
) -> None:
    text = "what the program reads\n" * 20
    command = several_hosts.command("-n", 4, several_hosts.where, 7, len(text))
    done = run_with_placement(
        *NODES, "--graph", "ring4.npz", "--", *command, standard_input=text
    )
    assert done.returncode == 7, done.stderr
    assert done.stdout.endswith(text)


def test_both_runs_read_all_of_a_piped_input(
    several_hosts: SeveralHosts, folder: Path
) -> None:
    text = "what the program reads\n" * 20
    where = [several_hosts.where, 0, len(text)]
    command = make_host_command(several_hosts, "-n", 4, *where)
    done = run_with_placement(*NODES, "--now", "--", *command, standard_input=text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(text) == 2


def test_a_program_that_fails_while_recorded_is_not_started_again(
    several_hosts: SeveralHosts, folder: Path
) -> None:
    command = make_host_command(several_hosts, "-n", 4, several_hosts.where, 5)
    done = run_with_placement(*NODES, "--now", "--", *command)
    assert done.returncode == 5, done.stderr
    assert len(done.stdout.splitlines()) == 4
    assert "the recorded run ended with status 5" in done.stderr


def test_a_core_that_does_not_exist_stops_run_before_the_program_starts(
    open_mpi: SeveralHosts, folder: Path
) -> None:
    machine = ["--machine", "mesh:4+node:4096", "--hosts", HOSTS]
    scattered = ["--mapper", "random", "--graph", "ring6.npz"]
    command = open_mpi.command("-n", 6, open_mpi.where)
    done = run_with_placement(*machine, *scattered, "--", *command)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "rejected the placement, nothing was started" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_more_ranks_than_cores_are_placed_on_hosts_when_oversubscribed(
    open_mpi: SeveralHosts, folder: Path
) -> None:
    machine = ["--machine", "mesh:2+node:3", "--hosts", "alpha,beta", "-o", "x.json"]
    options = ["--map-by", ":OVERSUBSCRIBE", "-n", 6, open_mpi.where]
    command = open_mpi.command(*options)
    done = run_with_placement(*machine, *RANDOM, "--graph", "ring6.npz", "--", *command)
    assert done.returncode == 0, done.stderr
    located = read_locations(done.stdout, 6)
    assert [s.host for s in located] == [
        s.host for s in read_expected_locations("x.json", False)
    ]


def test_a_command_of_two_programs_is_placed_as_one(
    several_hosts: SeveralHosts, folder: Path
) -> None:
    where = several_hosts.where
    command = several_hosts.command("-n", 2, where, ":", "-n", 4, where)
    placed = [*CORES, *RANDOM, "--graph", "ring6.npz", "-o", "x.json"]
    done = run_with_placement(*placed, "--", *command)
    assert done.returncode == 0, done.stderr
    located = read_locations(done.stdout, 6)
    assert [s.host for s in located] == [
        s.host for s in read_expected_locations("x.json", False)
    ]


@pytest.mark.parametrize(
    ("machine", "options", "message"),
    [
        (NODES, ["-n", 5], "starts 5 ranks, but ring4.npz has 4"),
        (["--machine", "mesh:4"], ["-n", 4], "4 hosts have no known name"),
        (["--machine", "mesh:5", "--hosts", HOSTS], ["-n", 4], "4 hosts for an"),
        (NODES, ["-n", 4, "--no-such-option"], "no option '--no-such-option'"),
        (["--machine", "mesh:3", "--hosts", "a,b,c"], ["-n", 4], "4 ranks, but the"),
    ],
)
def test_run_refuses_placements_that_it_cannot_apply_in_one_line(
    several_hosts: SeveralHosts,
    folder: Path,
    machine: list[str],
    options: list[object],
    message: str,
) -> None:
    command = several_hosts.command(*options, several_hosts.where)
    done = run_with_placement(*machine, "--graph", "ring4.npz", "--", *command)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("profile", [["--graph", "ring4.npz"], ["--now"]])
def test_a_command_that_places_its_own_ranks_is_not_changed(
    several_hosts: SeveralHosts, folder: Path, profile: list[str]
) -> None:
    own = ["-ppn", 2] if several_hosts.mpi.is_hydra else ["--map-by", "node"]
    command = several_hosts.command(*own, "-n", 4, several_hosts.where)
    done = run_with_placement(*NODES, *profile, "--", *command)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "the command places its ranks itself" in done.stderr
