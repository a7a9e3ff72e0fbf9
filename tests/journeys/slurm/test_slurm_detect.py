# SPDX-License-Identifier: BSD-3-Clause
"""With a real Slurm, the machine and the job's part of it are detected."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from built_programs import NAP_SOURCE, compile_program
from real_slurm import PROGRAMS, SECONDS, RealSlurm, start_slurm

from topoloom import Error, load_placement, save_graph
from topoloom.graphs import ring
from topoloom.machines import load_machine_and_allocation

#: One pytest worker, because the tests share Slurm daemons.
pytestmark = pytest.mark.xdist_group("slurm_detect")

TOPOLOOM = f"""#!/bin/sh
exec '{sys.executable}' -c 'from topoloom.cli import main; main()' "$@"
"""
#: Node types with several sockets, cores and threads; a CPU is a thread or a core.
NODES = {
    "n[1-4]": "CPUs=4 Sockets=2 CoresPerSocket=2",
    "n[5-6]": "CPUs=8 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2",
    "n7": "CPUs=6 Sockets=1 CoresPerSocket=6 ThreadsPerCore=2",
    "n8": "CPUs=3",
}
#: Switches do not group nodes in the order of names, and n9 is on a separate network.
TOPOLOGY = """\
SwitchName=leaf1 Nodes=n[1,3-4]
SwitchName=leaf2 Nodes=n[2,5-7]
SwitchName=leaf3 Nodes=n8
SwitchName=core Switches=leaf[1-3]
SwitchName=island Nodes=n9
"""
NETWORK = "graph:8+4:0-8,1-8,2-8,3-9,4-9,5-9,6-9,7-10,11-8,11-9,11-10"
HOSTS = "n[1,3-4,2,5-8]"


@pytest.fixture(scope="module")
def topoloom_on_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Put a ``topoloom`` command into a directory on PATH."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "topoloom").write_text(TOPOLOOM)
    (folder / "topoloom").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}:/usr/sbin")
        lacking = [name for name in PROGRAMS if shutil.which(name) is None]
        if lacking:
            pytest.fail(f"{lacking} are not installed; `make test` installs them")
        yield folder


@pytest.fixture(scope="module")
def slurm(topoloom_on_path: Path) -> Iterator[RealSlurm]:
    """Run a Slurm with switches; n9 is a node like this machine."""
    with start_slurm({**NODES, "n9": describe_hardware()}, TOPOLOGY) as running:
        yield running


@pytest.fixture
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def describe_hardware() -> str:
    done = subprocess.run(["slurmd", "-C"], capture_output=True, text=True, check=True)
    keys = ("CPUs=", "SocketsPerBoard=", "CoresPerSocket=", "ThreadsPerCore=")
    return " ".join(word for word in done.stdout.split() if word.startswith(keys))


def detect_machine(slurm: RealSlurm, options: str, prefix: str = "") -> Any:
    shown = slurm.run_in_job(options, f"{prefix} topoloom machine detect --json")
    return json.loads(shown)


def list_job_slots(
    slurm: RealSlurm, number: str, monkeypatch: pytest.MonkeyPatch
) -> dict[str, list[int]]:
    """List the allocated slots of a job on each node."""
    monkeypatch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
    monkeypatch.setenv("SLURM_JOB_ID", number)
    given = load_machine_and_allocation("detect")
    per_node = given.allocation.machine.slots_per_node
    assert given.hosts is not None
    by_host = {}
    for host, node in zip(given.hosts, given.allocation.nodes.tolist(), strict=True):
        ours = [slot - node * per_node for slot in given.allocation.slots.tolist()]
        by_host[host] = [slot for slot in ours if 0 <= slot < per_node]
    return by_host


def test_a_job_detects_its_network_and_its_allocation(
    slurm: RealSlurm, working_directory: Path
) -> None:
    shown = detect_machine(slurm, "-w n[1-4] --exclusive")
    network, inside = remove_speeds(shown["machine"]).split("+node:")
    assert (network, inside) == (NETWORK, "2:2,distance=8:16:16")
    assert (shown["hosts"], shown["allocation"]) == (HOSTS, "n[1-4]")
    assert shown["allocated_slots"] == 16


#: Matches parts of printed machines that depend on the NICs of this host.
SPEEDS = re.compile(r"[0-9.]+ ?[GT]B/s|assumed: .* per node|(?<=11-8)@.*")


def remove_speeds(machine: str) -> str:
    """Remove the NIC speeds of this host."""
    return re.sub(r",bandwidth=[^+]*|@[0-9.]+GB/s", "", machine)


def test_the_documentation_shows_the_output_of_a_real_job(
    slurm: RealSlurm, working_directory: Path
) -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "machines" / "detect.md"
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text(), re.M | re.S)
    shown = [block for block in blocks if block.startswith("$ salloc -Q ")]
    assert len(shown) == 1
    salloc, *lines = shown[0].splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    printed = slurm.run_in_job(salloc.removeprefix("$ salloc -Q "), "\n".join(commands))
    wanted = [line for line in lines if not line.startswith("$ ")]
    shown_speeds, wanted_speeds = (
        [SPEEDS.sub("...", line) for line in each]
        for each in (printed.splitlines(), wanted)
    )
    assert shown_speeds == wanted_speeds


def test_the_allocation_has_the_order_of_srun(
    slurm: RealSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    with slurm.hold_allocation("-w n[4,2,5,1] -N4 -n4") as number:
        tasks = slurm.run_command(
            "srun", "--jobid", number, "-l", "printenv", "SLURMD_NODENAME"
        )
        order = [line.split()[1] for line in sorted(tasks.stdout.splitlines())]
        assert list(list_job_slots(slurm, number, monkeypatch)) == order


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ("-w n[1,3-4] -N3 -n5", {"n1": [0, 1, 2], "n3": [0], "n4": [0]}),
        ("-w n[1-2] --exclusive -N2 -n3", {"n1": [0, 1, 2, 3], "n2": [0, 1, 2, 3]}),
        # Slurm allocates one core on each of two sockets.
        ("-w n[1-2] -N2 -n4 --ntasks-per-node=2", {"n1": [0, 2], "n2": [0, 2]}),
        ("-w n[1-2] --exclusive --ntasks-per-node=2", {"n1": [0, 2], "n2": [0, 2]}),
        ("-w n1 -n2 -c2", {"n1": [0, 2]}),
        # Two threads of a core are one slot, whether Slurm counts threads or cores.
        ("-w n5 -n3", {"n5": [0, 2]}),
        ("-w n7 -n3", {"n7": [0, 1, 2]}),
        ("-w n7 -n3 -c2", {"n7": [0, 2, 4]}),
        ("-w n8 -n2", {"n8": [0, 1]}),
        # Together with a larger node, all nodes are described with 6 slots per socket.
        (
            "-w n[1,7] --exclusive -N2",
            {"n1": [0, 1, 6, 7], "n7": [0, 1, 2, 3, 4, 5]},
        ),
        # The components of a heterogeneous job are one allocation.
        ("-w n8 -n1 : -w n[1-2] -N2 -n2", {"n8": [0], "n1": [0], "n2": [0]}),
    ],
)
def test_slots_are_the_allocated_cores(
    slurm: RealSlurm,
    monkeypatch: pytest.MonkeyPatch,
    options: str,
    given: dict[str, list[int]],
) -> None:
    with slurm.hold_allocation(options) as number:
        assert list_job_slots(slurm, number, monkeypatch) == given


def test_jobs_that_share_a_node_have_different_slots(
    slurm: RealSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        slurm.hold_allocation("-w n1 -n1") as one,
        slurm.hold_allocation("-w n1 -n3") as other,
    ):
        taken = [
            list_job_slots(slurm, number, monkeypatch)["n1"] for number in (one, other)
        ]
    assert [len(each) for each in taken] == [1, 3]
    assert sorted(taken[0] + taken[1]) == [0, 1, 2, 3]


def test_every_task_of_a_job_array_detects_its_own_node(
    slurm: RealSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Slurm gives the last task the number of the whole array.
    options = ["--parsable", "--array=1-3", "-n4", "-N1", "-x", "n[5-9]"]
    submitted = slurm.run_command(
        "sbatch", *options, "-o", "/dev/null", "--wrap", "sleep 60"
    )
    array = submitted.stdout.strip()
    running = {}
    deadline = time.monotonic() + SECONDS
    while len(running) < 3:
        assert time.monotonic() < deadline
        listed = slurm.run_command(
            "squeue", "-h", "-j", array, "-t", "R", "-o", "%A %N"
        )
        running = dict(line.split() for line in listed.stdout.splitlines())
    assert array in running
    try:
        for number, host in running.items():
            assert list(list_job_slots(slurm, number, monkeypatch)) == [host]
    finally:
        slurm.run_command("scancel", array)


def test_a_step_of_one_task_detects_the_whole_job(
    slurm: RealSlurm, working_directory: Path
) -> None:
    shown = detect_machine(slurm, "-w n[1-2] -n8", "srun -n1 -N1 -w n2")
    assert shown["allocation"] == "n[1-2]"
    assert shown["allocated_slots"] == 8


def test_a_node_like_this_machine_has_the_caches_of_hwloc(
    slurm: RealSlurm, working_directory: Path
) -> None:
    alone = json.loads(
        slurm.run_command("topoloom", "machine", "detect", "--json").stdout
    )
    shown = detect_machine(slurm, "-w n9 --exclusive", "srun -N1 -n1")
    # As one of several nodes, it gets a hop weight.
    inside = alone["machine"].partition("+node:")[2]
    assert shown["machine"] == f"tree:1+node:{inside}:16"
    assert (shown["hosts"], shown["allocation"]) == ("n9", "n9")


def test_an_mpi_program_is_recorded_placed_and_started_by_srun(
    slurm: RealSlurm, working_directory: Path
) -> None:
    words = ["mpicc.mpich", "-w", NAP_SOURCE.parents[1] / "where.c", NAP_SOURCE]
    where = compile_program("where", words)
    output = slurm.run_in_job(
        "-w n[1-3] -N3 -n5",
        f"""
        topoloom record --mpicc mpicc.mpich -o p.npz -- srun --mpi=pmi2 -n5 {where} >&2
        topoloom run --machine detect --graph p.npz --mapper random --seed 2 \\
            -o x.json -- srun --mpi=pmi2 -n5 \\
            sh -c 'echo run $PMI_RANK $SLURMD_NODENAME; {where}'
        topoloom export x.json --to slurm-hostfile -o hosts >&2
        SLURM_HOSTFILE=hosts srun -n5 -m arbitrary \\
            sh -c 'echo export $SLURM_PROCID $SLURMD_NODENAME'
        """,
    )
    made = load_placement("x.json")
    assert made.hosts == ("n1", "n2", "n3")
    per_node, nodes = made.machine.slots_per_node, made.allocation.nodes.tolist()
    wanted = {
        f"{rank} {made.hosts[nodes.index(slot // per_node)]}"
        for rank, slot in enumerate(made.placement.slots.tolist())
    }
    lines = [line.partition(" ") for line in output.splitlines()]
    for how in ("run", "export"):
        assert {rest for word, _, rest in lines if word == how} == wanted
    assert [word for word, _, _ in lines if word.isdigit()] == ["0", "1", "2", "3", "4"]


def test_the_printed_topology_and_node_list_give_the_same_machine(
    slurm: RealSlurm, working_directory: Path
) -> None:
    save_graph("ring.npz", ring(4, 1000))
    slurm.run_in_job(
        "-w n[2,5] --exclusive",
        """
        scontrol show topology | grep -v island > topology.txt
        topoloom map ring.npz --machine topology.txt --mapper block -o x.json \\
            --allocation "$SLURM_JOB_NODELIST,n[7-8]" >&2
        srun sh -c 'echo $SLURMD_NODENAME $SLURM_TOPOLOGY_ADDR' > addresses.txt
        """,
    )
    made = load_placement("x.json")
    assert made.hosts == ("n2", "n5", "n7", "n8")
    assert remove_speeds(made.machine.text) == NETWORK
    job = load_machine_and_allocation("addresses.txt")
    assert set(job.hosts or ()) == {"n2", "n5"}
    assert job.allocation.machine.hops(0, 1) == 2


def test_stale_variables_of_a_job_are_an_error(
    slurm: RealSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    with slurm.hold_allocation("-w n1") as number:
        pass
    done = slurm.run_command("topoloom", "machine", "detect", SLURM_JOB_ID=number)
    assert (done.returncode, done.stdout) == (2, "")
    wanted = rf"SLURM_JOB_ID: job {number} has ended \((CANCELLED|COMPLETED)\); start"
    assert re.search(wanted, done.stderr)
    monkeypatch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
    for wrong, message in (
        ("987654", "Slurm has no job 987654"),
        ("x", "'x' is not"),
    ):
        monkeypatch.setenv("SLURM_JOB_ID", wrong)
        with pytest.raises(Error, match=f"SLURM_JOB_ID: {message}"):
            load_machine_and_allocation("detect")


def test_without_scontrol_the_variables_give_the_number_of_cpus(
    slurm: RealSlurm, working_directory: Path
) -> None:
    (working_directory / "scontrol").write_text("#!/bin/sh\nexit 1\n")
    (working_directory / "scontrol").chmod(0o755)
    shown = detect_machine(slurm, "-w n[1,3-4] -N3 -n5", "PATH=.:$PATH")
    assert shown["machine"].startswith("tree:3")
    assert (shown["hosts"], shown["allocation"]) == ("n[1,3-4]", "n[1,3-4]")
    assert shown["allocated_slots"] == 5


def test_without_switches_the_nodes_of_a_job_share_one_switch(
    topoloom_on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        start_slurm({"n[1-3]": NODES["n[1-4]"]}, "") as slurm,
        slurm.hold_allocation("-w n[1,3] -N2 -n3") as number,
    ):
        given = list_job_slots(slurm, number, monkeypatch)
        machine = load_machine_and_allocation("detect").allocation.machine
    assert given == {"n1": [0, 2], "n3": [0]}
    assert remove_speeds(machine.text) == "tree:2+node:2:2,distance=8:16:16"
