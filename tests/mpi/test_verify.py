# SPDX-License-Identifier: BSD-3-Clause
"""Ranks report their location at program start; messages name deviating ranks."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
from pathlib import Path

import pytest
from json_documents import check_document
from mpis import MPICH, OPEN_MPI_4, PROGRAMS, build_program
from own_process import topoloom
from several_hosts import SECONDS, SeveralHosts

from topoloom import (
    Allocation,
    Machine,
    Placement,
    PlacementFile,
    load_placement,
    save_placement,
)
from topoloom.nodes.node_parts import NodeParts

ROOT = Path(__file__).parents[2]
HERE = socket.gethostname()


def write_placement(
    file: Path, slots: list[int], hosts: list[str], cpus: list[tuple[int, ...]]
) -> Path:
    """Write a placement; each node has one slot per entry of `cpus`."""
    machine = Machine(f"mesh:{len(hosts)}" + f"+node:{len(cpus)}")
    allocation = Allocation.whole(machine)
    known = NodeParts(cpus=tuple(cpus)) if all(cpus) else NodeParts()
    result = PlacementFile(
        machine=machine,
        allocation=allocation,
        placement=Placement(allocation, slots),
        hosts=tuple(hosts),
        node=known,
        mapper="block",
    )
    save_placement(file, result)
    return file


def test_ranks_on_another_host_are_named_one_by_one(
    several_hosts: SeveralHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hosts = ["alpha", "beta.cluster"]
    option = "-hosts" if several_hosts.mpi.is_hydra else "--host"
    where = ["-n", 4, several_hosts.where]
    command = several_hosts.command(option, "alpha:2,beta:2", *where)
    as_it_is = write_placement(Path("a.json"), [0, 1, 2, 3], hosts, [(), ()])
    done = topoloom("verify", as_it_is, "--", *command)
    assert done.returncode == 0, done.stderr
    assert "topoloom: all 4 ranks are on the planned hosts (2)" in done.stderr
    assert len(done.stdout.splitlines()) == 4
    other = write_placement(Path("b.json"), [0, 2, 1, 3], hosts, [(), ()])
    done = topoloom("verify", other, "--", *command)
    assert done.returncode == 1
    start = done.stderr.index("topoloom: 2 of 4 ranks are not where the plan puts them")
    assert done.stderr[start:].splitlines()[1:3] == [
        "  rank 1 is on host alpha, planned on beta.cluster",
        "  rank 2 is on host beta, planned on alpha",
    ]
    assert not list(tmp_path.glob(".topoloom-*"))


def list_allowed_cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def test_unbound_ranks_are_distinguished_from_misplaced_ones(tmp_path: Path) -> None:
    first, second = list_allowed_cpus()[:2]
    program = build_program(MPICH, PROGRAMS / "where.c")
    own = write_placement(tmp_path / "x.json", [0, 1], [HERE], [(first,), (second,)])
    loose = topoloom("verify", own, "--", *MPICH.command(2, program))
    assert loose.returncode == 0
    assert "2 may run on more CPUs than planned" in loose.stderr
    strict = topoloom("verify", own, "--bind", "core", "--", *MPICH.command(2, program))
    assert strict.returncode == 1
    assert "rank 1 is not bound: it may run on CPUs" in strict.stderr
    swapped = write_placement(
        tmp_path / "y.json", [1, 0], [HERE], [(first,), (second,)]
    )
    mpirun, *rest = MPICH.command(2, program)
    bound = [mpirun, "-bind-to", "core", *rest]
    now = tmp_path / "now.json"
    right = topoloom("verify", own, "--bind", "core", "--write", now, "--", *bound)
    assert right.returncode == 0, right.stderr
    assert "where the plan puts them: on one host, bound to their CPUs" in right.stderr
    assert load_placement(now).placement.slots.tolist() == [0, 1]
    now.unlink()
    wrong = topoloom("verify", swapped, "--json", "--write", now, "--", *bound)
    assert wrong.returncode == 1
    assert load_placement(now).placement.slots.tolist() == [0, 1]
    document = check_document(wrong.stderr)
    assert document["written"] == {"file": str(now), "reason": None, "unbound": []}
    assert document["exit_status"] == 0
    assert not document["holds"]
    [seen] = document["programs"]
    assert [one["verdict"] for one in seen["elsewhere"]] == ["cpus", "cpus"]
    assert seen["elsewhere"][0]["planned"] == {"host": HERE, "cpus": str(second)}


def test_a_different_number_of_ranks_is_named_and_the_exit_status_kept(
    tmp_path: Path,
) -> None:
    program = build_program(OPEN_MPI_4, PROGRAMS / "where.c")
    own = write_placement(tmp_path / "x.json", [0, 1], [HERE], [(), ()])
    done = topoloom("verify", own, "--", *OPEN_MPI_4.command(3, program))
    assert done.returncode == 1
    assert "the plan is for 2 ranks, but the program has 3" in done.stderr
    failing = topoloom("verify", own, "--", *OPEN_MPI_4.command(2, program, 7))
    assert failing.returncode == 7


def test_a_command_without_verification_is_named(tmp_path: Path) -> None:
    own = write_placement(tmp_path / "x.json", [0, 1], [HERE], [(), ()])
    done = topoloom("verify", own, "--", *MPICH.command(2, "sleep", "0.1"))
    assert done.returncode == 1
    assert "not verified: the command ran no MPI program" in done.stderr
    source, static = tmp_path / "nothing.c", tmp_path / "static"
    source.write_text("int main(void) { return 0; }")
    subprocess.run(["cc", "-static", source, "-o", static], check=True)
    done = topoloom("verify", own, "--", *MPICH.command(2, static))
    assert done.returncode == 2
    assert f"{static} is linked statically" in done.stderr
    other = build_program(OPEN_MPI_4, PROGRAMS / "where.c")
    mixed = topoloom("verify", own, "--", *MPICH.command(2, other))
    assert mixed.returncode == 2
    assert f"{other} is linked with Open MPI 4" in mixed.stderr
    assert "belongs to MPICH" in mixed.stderr
    assert "start it with the launcher of Open MPI 4" in mixed.stderr
    assert "or name the program's compiler with --mpicc" in mixed.stderr
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\nexec {shlex.join(MPICH.command(2, other))}\n")
    script.chmod(0o755)
    hidden = topoloom("verify", own, "--", script)
    assert hidden.returncode == 2
    assert "cannot tell the MPI of the program" in hidden.stderr
    wrong = topoloom("verify", own, "--mpicc", "mpicc.mpich", "--", script)
    assert wrong.returncode == 1
    assert "uses another MPI than the preloaded library" in wrong.stderr
    assert len(wrong.stdout.splitlines()) == 2


def test_run_verifies_its_placement_or_reports_why_it_cannot(
    several_hosts: SeveralHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    topoloom("pattern", "generate", "ring", "-n", 4, "--bytes", 1000, "-o", "ring.npz")
    command = several_hosts.command("-n", 4, several_hosts.where)
    where = ["--machine", "mesh:2+node:2", "--hosts", "alpha,beta"]
    options = [*where, "--graph", "ring.npz", "--json"]
    done = topoloom("run", *options, "--", *command)
    assert done.returncode == 0, done.stderr
    verified = check_document(done.stderr.splitlines()[-1])["verified"]
    assert (verified["holds"], verified["reason"]) == (True, None)
    blind = topoloom("run", *options, "--mpicc", "nowhere", "--", *command)
    assert blind.returncode == 0, blind.stderr
    verified = check_document(blind.stderr.splitlines()[-1])["verified"]
    assert verified["reason"] == "there is no compiler 'nowhere'"


def test_a_program_can_verify_itself(tmp_path: Path) -> None:
    folders = [ROOT / "mpi" / name for name in ("verify", "process_map", "shim")]
    sources = [f for folder in folders for f in folder.glob("*.c")]
    sources = [
        f for f in sources if f.parent.name != "shim" and f.name != "init_hook.c"
    ]
    sources = [f for f in sources if f.name != "verify_agent.c"]
    program = tmp_path / "verify"
    include = [f"-I{folder}" for folder in folders]
    compiler = MPICH.compilers[".c"]
    own = PROGRAMS / "verify.c"
    subprocess.run([compiler, *include, own, *sources, "-o", program], check=True)
    plan = tmp_path / "plan"

    def verify_plan(text: str, *words: str) -> list[str]:
        plan.write_text(text)
        command = MPICH.command(2, program, plan, *words)
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=SECONDS
        )
        return sorted(done.stdout.splitlines(), reverse=True)  # one line per rank

    head = "# rank host slot cpus gpu nic\n"
    seats = f"0 {HERE} 0 - - -\n1 {HERE}.cluster 1 - - -\n"
    assert verify_plan(head + f"0 {HERE} 0 - - -\n1 {HERE} 1 - - -\n") == [
        "elsewhere 0"
    ]
    assert verify_plan(head + f"0 away 0 - - -\n1 {HERE} 1 - - -\n") == [
        f"topoloom: rank 0 is on host {HERE}, planned on away",
        "elsewhere 1",
    ]
    assert verify_plan(head + "0 127.0.0.1 0 - - -\n1 ::1 1 - - -\n") == [
        "topoloom: hosts planned by their addresses, as 127.0.0.1, are not compared",
        "elsewhere 0",
    ]
    assert verify_plan(head + seats, "inter") == [
        *["topoloom: not verified: an intercommunicator has two groups"] * 2,
        "elsewhere -1",
    ]
    for text, problem in (
        ("", "it has no ranks"),
        (head + "0 a 0\n", "line 2: expected: rank host slot cpus gpu nic"),
        (head + "0 a 0 - - -\n0 a 1 - - -\n", "line 3: the rank is given twice"),
        (head + "7 a 0 - - -\n", "ranks must be 0 to the number of lines - 1"),
        (head + "0 a 0 3-1 - -\n", "expected CPUs such as 0-3,8"),
    ):
        output, answer = verify_plan(text)
        assert problem in output
        assert answer == "elsewhere -1"
    assert (
        "the plan is for 3 ranks, but there are 2"
        in verify_plan(head + seats + "2 a 0 -\n")[0]
    )


def test_a_program_that_deletes_our_folder_keeps_its_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    away = write_placement(tmp_path / "x.json", [0, 1], ["a", "b"], [()])
    script = "rm -rf .topoloom-verify-*; sleep 0.1; exit 7"
    done = topoloom("verify", away, "--", *MPICH.command(1, "sh", "-c", script))
    assert done.returncode == 7, done.stderr
    assert (
        "not verified: the command ended with status 7 before its ranks" in done.stderr
    )


def test_run_continues_if_libraries_of_the_command_exclude_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    topoloom("pattern", "generate", "ring", "-n", 2, "--bytes", 1000, "-o", "ring.npz")
    parts = ["-n", 1, "-x", "LD_PRELOAD=libm.so.6", "echo", "one", ":", "-n", 1]
    command = ["mpirun.openmpi", *parts, "echo", "two"]
    where = ["--machine", "mesh:1+node:2", "--hosts", "localhost"]
    where += ["--graph", "ring.npz"]
    for words in (["run", *where], ["run", "--apply", "topologies"]):
        done = topoloom(*words, "--", *command)
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.split()) == ["one", "two"]
        assert "the parts of the command preload different libraries" in done.stderr
