# SPDX-License-Identifier: BSD-3-Clause
"""Launchers bind ranks as exported, according to the affinity that ranks report."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path
from typing import Any

import pytest
from own_process import topoloom
from several_hosts import SeveralHosts, read_locations

from topoloom import load_placement, save_graph
from topoloom.graphs import ring

HOSTS = "alpha,beta,gamma"
#: hwloc topology of a machine with one core and its hardware threads 0 and 1
ONE_CORE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3"
 allowed_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1"
 gp_index="1">
<object type="Package" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
 complete_nodeset="0x1" gp_index="2">
<object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
 complete_nodeset="0x1" gp_index="3" local_memory="1000000000"/>
<object type="Core" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
 complete_nodeset="0x1" gp_index="4">
<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
 complete_nodeset="0x1" gp_index="5"/>
<object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
 complete_nodeset="0x1" gp_index="6"/>
</object></object></object></topology>
"""
MACHINE = """format = "topoloom-machine"
version = 1
[topology]
kind = "mesh"
size = [3]
[node]
levels = [{slots}]
cpus = {cpus}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a directory with profiles of rings and machines of three nodes."""
    monkeypatch.chdir(tmp_path)
    for ranks in (3, 5):
        save_graph(f"ring{ranks}.npz", ring(ranks, 1000))
    (tmp_path / "two.toml").write_text(MACHINE.format(slots=2, cpus='["0", "1"]'))
    (tmp_path / "one.toml").write_text(MACHINE.format(slots=1, cpus='["0-1"]'))
    (tmp_path / "core.xml").write_text(ONE_CORE)
    return tmp_path


def run(
    machine: str, bind: str, profile: str, command: list[str], hosts: str = HOSTS
) -> subprocess.CompletedProcess[str]:
    where = ["--machine", machine, "--hosts", hosts, "--mapper", "random"]
    options = ["--seed", "2", "--bind", bind, "--graph", profile, "-o", "x.json"]
    return topoloom("run", *where, *options, "--", *command)


def slots_of(placement: str) -> list[tuple[str, int]]:
    """Return (host, slot of the host) of each rank."""
    placed = load_placement(placement)
    assert placed.hosts is not None
    per_node = placed.machine.slots_per_node
    slots = placed.placement.slots.tolist()
    return [(placed.hosts[slot // per_node], slot % per_node) for slot in slots]


@pytest.mark.parametrize("bind", ["core", "pu"])
def test_every_launcher_binds_each_rank_to_the_cpus_of_its_slot(
    several_hosts: SeveralHosts, folder: Path, bind: str
) -> None:
    command = several_hosts.command("-n", 5, several_hosts.where)
    done = run("two.toml", bind, "ring5.npz", command)
    assert done.returncode == 0, done.stderr
    assert "not cores" not in done.stderr
    located = [(s.host, s.cores) for s in read_locations(done.stdout, 5)]
    assert located == [(host, (slot,)) for host, slot in slots_of("x.json")]
    hosts = [host for host, _ in located]
    changes = sum(a != b for a, b in itertools.pairwise(hosts))
    assert changes >= len(set(hosts)), "no host returns after another one"


def test_open_mpi_binds_to_hardware_threads_of_one_core(
    open_mpi: SeveralHosts, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HWLOC_XMLFILE", str(folder / "core.xml"))
    monkeypatch.setenv("HWLOC_THISSYSTEM", "1")
    command = open_mpi.command("-n", 5, open_mpi.where)
    done = run("two.toml", "pu", "ring5.npz", command)
    assert done.returncode == 0, done.stderr
    located = [(s.host, s.cores) for s in read_locations(done.stdout, 5)]
    assert located == [(host, (slot,)) for host, slot in slots_of("x.json")]
    # The machine has only one core, so binding to two cores fails.
    assert run("two.toml", "core", "ring5.npz", command).returncode == 2


def test_mpich_binds_to_a_core_or_to_its_first_thread(
    mpich: SeveralHosts, folder: Path
) -> None:
    command = mpich.command("-n", 3, mpich.where)
    for bind, cpus in (("core", (0, 1)), ("pu", (0,))):
        done = run("one.toml", bind, "ring3.npz", command)
        assert done.returncode == 0, done.stderr
        assert {at.cores for at in read_locations(done.stdout, 3)} == {cpus}


def test_the_machine_detected_on_this_host_gives_valid_bindings(
    several_hosts: SeveralHosts, folder: Path, topoloom: Any
) -> None:
    assert topoloom("machine", "detect", "-o", "here.toml").status == 0
    document = Path("here.toml").read_text()
    assert "cpus = [" in document
    save_graph("ring2.npz", ring(2, 1000))
    command = several_hosts.command("-n", 2, several_hosts.where)
    done = run("here.toml", "core", "ring2.npz", command, hosts="alpha")
    assert done.returncode == 0, done.stderr
    cpus = load_placement("x.json").node.cpus
    wanted = [cpus[slot] for _, slot in slots_of("x.json")]
    assert [at.cores for at in read_locations(done.stdout, 2)] == wanted
