# SPDX-License-Identifier: BSD-3-Clause
"""Under a real Slurm with separate node networks, ranks start and messages arrive."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from built_programs import NAP_SOURCE, compile_program
from network_hosts import (
    OVER_TCP,
    can_have_networks,
    count_messages_into_hosts,
    network_hosts,
)
from own_process import TOPOLOOM
from real_slurm import RealSlurm, describe_crossed_nodes, start_slurm
from several_hosts import PROGRAMS

from topoloom import load_placement, save_graph
from topoloom.graphs import ring

#: One pytest worker, because the tests share Slurm daemons.
pytestmark = pytest.mark.xdist_group("slurm_network")

NODES = ("n1", "n2", "n3")
BYTES = 300_000


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSlurm]:
    """Start a Slurm of three nodes with two cores each, on separate hosts."""
    if not can_have_networks() or os.geteuid() != 0:
        pytest.skip("starting Slurm daemons on separate hosts requires root")
    folder = tmp_path_factory.mktemp("network")
    with pytest.MonkeyPatch.context() as patch, network_hosts(NODES, folder) as network:
        patch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin")
        cores = "CPUs=2 Sockets=1 CoresPerSocket=2"
        with start_slurm({"n[1-3]": cores}, "", network) as running:
            yield running


def test_srun_places_and_binds_ranks_that_communicate_over_the_network(
    slurm: RealSlurm, tmp_path: Path
) -> None:
    assert slurm.network is not None
    words = ["mpicc.mpich", "-w", PROGRAMS / "across.c", NAP_SOURCE]
    across = compile_program("across", words)
    (tmp_path / "m.toml").write_text(describe_crossed_nodes(3))
    save_graph(tmp_path / "ring.npz", ring(5, 1000))
    placing = ["--machine", "m.toml", "--bind", "core", "--graph", "ring.npz"]
    mapping = ["--mapper", "random", "--seed", "2", "-o", "x.json"]
    command = ["srun", "--mpi=pmi2", "-n", "5", str(across), str(BYTES)]
    words = [*TOPOLOOM, "run", *placing, *mapping, "--", *command]
    before = {node: slurm.network.count_received_bytes(node) for node in NODES}
    variables = " ".join(f"{name}={value}" for name, value in OVER_TCP.items())
    script = f"cd {tmp_path}; export {variables}; {shlex.join(words)}"
    output = slurm.run_in_job("-N3 --exclusive", script)

    slots = load_placement(tmp_path / "x.json").placement.slots.tolist()
    hosts = [f"n{slot // 2 + 1}" for slot in slots]
    assert sorted(output.splitlines()) == [
        f"{rank} {host} {slurm.network.addresses[host]} {'10'[slot % 2]}"
        for rank, (host, slot) in enumerate(zip(hosts, slots, strict=True))
    ]
    for node, messages in count_messages_into_hosts(hosts).items():
        assert (
            slurm.network.count_received_bytes(node) - before[node] >= messages * BYTES
        )


def test_srun_records_a_program_once_and_places_it_from_then_on(
    slurm: RealSlurm, tmp_path: Path
) -> None:
    words = ["mpicc.mpich", "-w", PROGRAMS / "across.c", NAP_SOURCE]
    across = compile_program("across", words)
    (tmp_path / "m.toml").write_text(describe_crossed_nodes(3))
    placing = "--store store --machine m.toml --mapper random --seed 2"
    run = f"{shlex.join(TOPOLOOM)} run {placing} --mpicc mpicc.mpich --"
    command = f"srun --mpi=pmi2 -n 5 {across}"
    variables = " ".join(f"{name}={value}" for name, value in OVER_TCP.items())
    script = f"""
        cd {tmp_path}; export {variables}
        {run} {command} 1000 >first 2>first.err
        {run} {command} 1000 >second 2>second.err
        {run} {command} 2000 >third 2>third.err
        {shlex.join(TOPOLOOM)} runs --store store --json
    """
    runs = json.loads(slurm.run_in_job("-N3 --exclusive", script))["runs"]
    assert [run["kind"] for run in runs] == ["recorded", "placed", "recorded"]
    assert [run["partition"] for run in runs] == ["all"] * 3
    assert {run["hosts"] for run in runs} == {"n[1-3]"}
    assert "next run will be placed" in (tmp_path / "first.err").read_text()
    [placement] = {run["placement"] for run in runs[:2]}
    [stored] = (tmp_path / "store").glob(f"files/*/{placement}")
    slots = load_placement(stored).placement.slots.tolist()
    lines = sorted((tmp_path / "second").read_text().splitlines())
    assert [line.split()[1] for line in lines] == [f"n{s // 2 + 1}" for s in slots]


def test_export_checks_the_start_hosts_with_srun(
    slurm: RealSlurm, tmp_path: Path
) -> None:
    (tmp_path / "m.toml").write_text(describe_crossed_nodes(3))
    save_graph(tmp_path / "ring.npz", ring(5, 1000))
    place = "map ring.npz --machine m.toml --mapper random --seed 2 -o x.json"
    export = "export x.json --to slurm-hostfile --check -o h --hosts"
    words = shlex.join(TOPOLOOM)
    script = f"""
        cd {tmp_path}
        {words} {place}
        srun -n6 sleep 1000 &
        until squeue --steps | grep -q sleep; do sleep 0.1; done
        {words} {export} "n[1-3]" 2>&1
        kill $! && echo did not wait for another step
        wait $! || true
        cp h right
        {words} {export} "n1,n2,n9" 2>&1 || echo status $?
    """
    output = slurm.run_in_job("-N3 --exclusive", script).splitlines()
    (checked,) = (line for line in output if line.startswith("checked: Slurm "))
    assert checked.endswith("would start all 5 ranks as placed")
    assert "did not wait for another step" in output
    refused, status = output[-2:]
    assert refused.startswith("topoloom: srun refuses the placement: srun: error:")
    assert status == "status 1"
    assert (tmp_path / "h").read_text() == (tmp_path / "right").read_text()


def test_export_does_not_run_srun_outside_of_a_job(
    slurm: RealSlurm, tmp_path: Path
) -> None:
    save_graph(tmp_path / "ring.npz", ring(2, 1000))
    where = f"--machine mesh:2 -o {tmp_path}/x.json"
    slurm.run_command(*TOPOLOOM, "map", tmp_path / "ring.npz", *where.split())
    export = ["export", f"{tmp_path}/x.json", "--to", "slurm-hostfile", "--check"]
    done = slurm.run_command(*TOPOLOOM, *export)
    assert done.returncode == 2
    assert "only inside a job" in done.stderr
    assert len(done.stderr.splitlines()) == 1
