# SPDX-License-Identifier: BSD-3-Clause
"""How launcher formats bind ranks to cores, hardware threads and devices."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import (
    Allocation,
    Error,
    Machine,
    Placement,
    PlacementFile,
    save_placement,
)
from topoloom.launch.command_line import parse_command
from topoloom.launch.exports.launch_formats import find_format
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.launch.launcher import Launch, Launcher
from topoloom.launch.launchers import flux, hydra, intel, openmpi, srun
from topoloom.launch.nearest_devices import nearest_devices
from topoloom.nodes.node_parts import Device, NodeParts

#: Two packages of two cores with two threads each, in a common Linux numbering.
NODE = NodeParts(
    cpus=((0, 4), (2, 6), (1, 5), (3, 7)),
    devices=(
        Device("cuda0", "gpu", (0, 1)),
        Device("cuda1", "gpu", (2, 3)),
        Device("mlx5_0", "nic", (2, 3)),
    ),
)
MACHINE = "mesh:3+node:2:2,distance=1:10"
ALIKE = [1, 5, 0, 4]  # slots 1 and 0 of both nodes
UNLIKE = [1, 4, 0, 5]


def make_placement(
    slots: list[int],
    bind: str | None = None,
    node: NodeParts = NODE,
    cores: int = 1,
    machine: str = MACHINE,
) -> HostPlacement:
    hosts = ["a", "b", "c"]
    return host_placement(Machine(machine), range(3), slots, hosts, cores, node, bind)


def write_format(name: str, placement: HostPlacement) -> str:
    return find_format(name).write(placement)


def test_a_rankfile_numbers_the_first_threads_of_cores_consecutively() -> None:
    text = write_format("openmpi-rankfile", make_placement([3, 0, 6], "pu"))
    assert text == "rank 0=a slot=6\nrank 1=a slot=0\nrank 2=b slot=4\n"
    how = find_format("openmpi-rankfile").format_usage_command(
        make_placement([3], "pu")
    )
    assert how.startswith("mpirun --use-hwthread-cpus --rankfile FILE")
    assert how.endswith("rankfile:file=FILE:hwtcpus)")


def test_cores_with_and_without_threads_are_counted_by_their_threads() -> None:
    hybrid = NodeParts(cpus=((0, 1), (2, 3), (4,), (5,)))
    text = write_format("openmpi-rankfile", make_placement([3, 2, 1], "pu", hybrid))
    assert [line.partition("slot=")[2] for line in text.splitlines()] == ["5", "4", "2"]


def test_a_rankfile_of_cores_is_the_same_with_and_without_bind() -> None:
    slots = [3, 0, 6]
    assert write_format(
        "openmpi-rankfile", make_placement(slots, "core")
    ) == write_format("openmpi-rankfile", make_placement(slots))


def test_mpich_bindings_list_the_cpus_of_consecutive_ranks() -> None:
    assert write_format("mpich-hostfile", make_placement([3, 0, 6, 2], "core")) == (
        "a:2 binding=user:3+7,0+4\nb:1 binding=user:1+5\na:1 binding=user:1+5\n"
    )
    assert (
        write_format("mpich-hostfile", make_placement([3, 0], "pu"))
        == "a:2 binding=user:3,0\n"
    )


def test_srun_binds_ranks_with_equal_slots_on_all_nodes() -> None:
    cores = find_format("slurm-hostfile").format_usage_command(
        make_placement(ALIKE, "core")
    )
    assert "--cpu-bind=mask_cpu:0x44,0x11 --gpu-bind=map_gpu:0,0 -n 4" in cores
    threads = find_format("slurm-hostfile").format_usage_command(
        make_placement(ALIKE, "pu")
    )
    assert "--cpu-bind=map_cpu:2,0 --gpu-bind=map_gpu:0,0 -n 4" in threads
    fewer = find_format("slurm-hostfile").format_usage_command(
        make_placement([5, 1, 0], "pu")
    )
    assert "--cpu-bind=map_cpu:2,0 --gpu-bind=map_gpu:0,0 -n 3" in fewer
    unlike = find_format("slurm-hostfile").format_usage_command(
        make_placement(UNLIKE, "pu")
    )
    assert "cpu-bind" not in unlike


def test_bound_placements_are_lossless_if_the_launcher_can_bind() -> None:
    lossy = {
        name: {
            str(slots): find_format(name).find_loss(make_placement(slots, "core"))
            for slots in (ALIKE, UNLIKE)
        }
        for name in ("mpich-hostfile", "slurm-hostfile", "mpich-rankmap", "bindings")
    }
    assert lossy["mpich-hostfile"] == {str(ALIKE): None, str(UNLIKE): None}
    assert lossy["bindings"] == {str(ALIKE): None, str(UNLIKE): None}
    assert lossy["slurm-hostfile"][str(ALIKE)] is None
    assert lossy["slurm-hostfile"][str(UNLIKE)] is not None
    assert None not in lossy["mpich-rankmap"].values()


@given(st.permutations(range(12)), st.integers(1, 12), st.sampled_from(["core", "pu"]))
def test_all_launchers_use_the_same_cpus(
    slots: list[int], ranks: int, bind: str
) -> None:
    one = make_placement(slots[:ranks], bind)
    wanted = [NODE.cpus[slot % 4][: 1 if bind == "pu" else 2] for slot in slots[:ranks]]
    assert [one.cpus(rank) for rank in range(ranks)] == wanted

    found = []
    for line in write_format("mpich-hostfile", one).splitlines():
        host, _, cpus = line.partition(" binding=user:")
        each = [tuple(map(int, rank.split("+"))) for rank in cpus.split(",")]
        assert host.endswith(f":{len(each)}")
        found += each
    assert found == wanted

    rows = [line.split() for line in write_format("bindings", one).splitlines()[1:]]
    assert [row[3] for row in rows] == [",".join(map(str, cpus)) for cpus in wanted]

    if bind == "pu":
        threads = [cpu for cpus in NODE.cpus for cpu in cpus]
        lines = write_format("openmpi-rankfile", one).splitlines()
        logical = [int(line.partition("slot=")[2]) for line in lines]
        assert [(threads[index],) for index in logical] == wanted


def apply_launcher(
    launcher: Launcher, text: str, folder: Path, version: tuple[int, ...], bind: str
) -> Launch:
    command = parse_command(text.split(), launcher.SYNTAX)
    return launcher.apply(command, make_placement(ALIKE, bind), folder, version)


def test_open_mpi_is_started_with_binding_options(tmp_path: Path) -> None:
    four = apply_launcher(openmpi, "mpirun -n 4 ./app", tmp_path, (4, 1, 4), "pu")
    assert four.command[1:3] == ["--use-hwthread-cpus", "--rankfile"]
    five = apply_launcher(openmpi, "mpirun -n 4 ./app", tmp_path, (5, 0, 11), "pu")
    assert five.command[4] == f"rankfile:file={tmp_path}/rankfile:hwtcpus"
    cores = apply_launcher(openmpi, "mpirun -n 4 ./app", tmp_path, (4, 1, 4), "core")
    assert cores.command[1] == "--rankfile"
    assert {four.loss, five.loss, cores.loss} == {None}


@pytest.mark.parametrize(
    ("launcher", "variable", "options", "environment"),
    [
        (intel, "PMI_RANK", "-machinefile", {"I_MPI_PIN": "off"}),
        (flux, "FLUX_TASK_RANK", "-o cpu-affinity=off", {}),
    ],
)
def test_ranks_bind_themselves_under_launchers_without_binding(
    launcher: Launcher,
    variable: str,
    options: str,
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    start = "flux run" if launcher is flux else "mpirun"
    command = parse_command([*start.split(), "-n", "4", "./app"], launcher.SYNTAX)
    made = launcher.apply(command, make_placement(UNLIKE, "core"), tmp_path, (1, 0))
    before, own = made.command[: made.command.index("sh")], made.command[-5:]
    assert options in " ".join(before)
    assert environment.items() <= made.environment.items()
    assert f"$(({variable} + 1))" in own[2]
    assert own[3] == "2,6 0,4 0,4 2,6"
    assert own[4] == "./app"
    assert made.loss is None


@pytest.mark.parametrize(("bind", "cpus"), [("core", 2), ("pu", 1)])
def test_ranks_bind_themselves_under_srun(tmp_path: Path, bind: str, cpus: int) -> None:
    """A stub of taskset reports to which CPUs each rank would be bound."""
    command = parse_command(["srun", "-n", "4", "./app", "-c", "x y"], srun.SYNTAX)
    made = srun.apply(command, make_placement(UNLIKE, bind), tmp_path, (22, 5))
    head = made.command.index("sh")
    assert made.command[:head] == [
        "srun",
        "-N",
        "2",
        "-m",
        "arbitrary",
        "--cpu-bind=none",
        "-n",
        "4",
    ]
    (tmp_path / "taskset").write_text('#!/bin/sh\nprintf "%s;" "$@"\n')
    (tmp_path / "taskset").chmod(0o755)
    for rank, slot in enumerate(UNLIKE):
        output = subprocess.run(
            made.command[head:],
            env={"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_PROCID": str(rank)},
            capture_output=True,
            text=True,
            check=True,
        )
        wanted = ",".join(map(str, NODE.cpus[slot % 4][:cpus]))
        assert output.stdout == f"-c;{wanted};./app;-c;x y;"
    assert made.loss is None


def test_cpu_lists_too_long_for_a_command_line_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topoloom.launch.launchers.taskset_wrapper.LONGEST_ARGUMENT", 8)
    command = parse_command(["srun", "-n", "4", "./app"], srun.SYNTAX)
    made = srun.apply(command, make_placement(UNLIKE, "core"), tmp_path, (22, 5))
    assert "sh" not in made.command
    assert made.loss is not None
    alike = srun.apply(command, make_placement(ALIKE, "core"), tmp_path, (22, 5))
    assert alike.loss is not None


@pytest.mark.parametrize(
    ("launcher", "text", "version"),
    [
        (openmpi, "mpirun --bind-to none -n 4 ./app", (4, 1, 4)),
        (hydra, "mpiexec -bind-to core -n 4 ./app", (4, 0)),
        (srun, "srun --cpu-bind=none -n 4 ./app", (22, 5)),
        (intel, "mpirun -binding cell=core -n 4 ./app", (2021, 9)),
    ],
)
def test_a_command_with_its_own_binding_is_refused(
    launcher: Launcher, text: str, version: tuple[int, ...], tmp_path: Path
) -> None:
    with pytest.raises(Error, match="leave that option out"):
        apply_launcher(launcher, text, tmp_path, version, "core")


@pytest.mark.parametrize(
    ("node", "cores", "bind", "message"),
    [
        (NodeParts(), 1, "core", "the machine has no CPUs of its slots"),
        (NODE, 1, "thread", "no thing to bind to 'thread'; there are: core, pu"),
        (NODE, 2, "core", "bind and cores_per_slot are mutually exclusive"),
    ],
)
def test_impossible_bindings_are_refused(
    node: NodeParts, cores: int, bind: str, message: str
) -> None:
    with pytest.raises(Error) as caught:
        make_placement([0], bind, node, cores)
    assert message in str(caught.value)


def test_the_bindings_table_has_cpus_and_devices_of_each_rank() -> None:
    assert write_format("bindings", make_placement([3, 0, 6])) == (
        "# rank host slot cpus gpu nic\n"
        "0 a 3 3,7 cuda1 mlx5_0\n"
        "1 a 0 0,4 cuda0 mlx5_0\n"
        "2 b 2 1,5 cuda1 mlx5_0\n"
    )
    unknown = write_format("bindings", make_placement([3], node=NodeParts()))
    assert unknown.splitlines()[1] == "0 a 3 - - -"


def test_ranks_near_several_devices_share_them() -> None:
    near = tuple(Device(f"cuda{i}", "gpu", (0, 1, 2, 3)) for i in range(2))
    both = make_placement([2, 0, 3, 1, 4], node=NodeParts(devices=near))
    assert nearest_devices(both, "gpu") == ["cuda1", "cuda0", "cuda1", "cuda0", "cuda0"]
    assert nearest_devices(both, "nic") == [None] * 5


@st.composite
def draw_devices(draw: st.DrawFn) -> tuple[Device, ...]:
    near = st.sets(st.integers(0, 7), min_size=1).map(lambda s: tuple(sorted(s)))
    count = draw(st.integers(1, 4))
    return tuple(Device(f"gpu{i}", "gpu", draw(near)) for i in range(count))


@given(draw_devices(), st.permutations(range(24)), st.integers(1, 24))
def test_equally_near_devices_are_shared_evenly(
    gpus: tuple[Device, ...], slots: list[int], ranks: int
) -> None:
    text = "mesh:3+node:2:2:2,distance=1:4:9"
    machine = Machine(text)
    one = make_placement(slots[:ranks], node=NodeParts(devices=gpus), machine=text)
    by_name = {gpu.name: gpu for gpu in gpus}

    def compute_distance(slot: int, gpu: Device) -> int:
        return min(machine.distance(slot, near) for near in gpu.slots)

    shares: dict[tuple[int, frozenset[str]], list[str]] = {}
    for slot, name in zip(slots, nearest_devices(one, "gpu"), strict=False):
        assert name is not None
        least = min(compute_distance(slot % 8, gpu) for gpu in gpus)
        assert compute_distance(slot % 8, by_name[name]) == least
        near = frozenset(
            gpu.name for gpu in gpus if compute_distance(slot % 8, gpu) == least
        )
        shares.setdefault((slot // 8, near), []).append(name)
    for (_, near), names in shares.items():
        counts = Counter({name: 0 for name in near})
        counts.update(names)
        assert max(counts.values()) - min(counts.values()) <= 1


@pytest.fixture
def placement_file(tmp_path: Path) -> Path:
    machine = Machine(MACHINE)
    allocation = Allocation(machine, np.array([0, 1], dtype=np.uint32))
    slots = Placement(allocation, np.array(ALIKE, dtype=np.uint32))
    path = tmp_path / "x.json"
    save_placement(path, PlacementFile(machine, allocation, slots, ("a", "b"), NODE))
    return path


def test_export_binds_to_cpus_of_the_placement(
    topoloom: Any, placement_file: Path
) -> None:
    bound = topoloom("export", placement_file, "--to", "mpich-hostfile", "--bind", "pu")
    assert bound.out.splitlines()[0] == "a:1 binding=user:2"
    written = topoloom(
        *(
            "export",
            placement_file,
            "--to",
            "slurm-hostfile",
            "--bind",
            "core",
            "-o",
            "h",
        )
    )
    assert written.out == (
        "use it:  SLURM_HOSTFILE=h srun -m arbitrary "
        "--cpu-bind=mask_cpu:0x44,0x11 --gpu-bind=map_gpu:0,0 -n 4 ./app\n"
    )
    assert written.err == ""


@pytest.mark.parametrize(
    ("target", "options"),
    [
        # Slurm's -c counts hardware threads.
        ("slurm-hostfile", ["OMP_NUM_THREADS=2", "OMP_PLACES=cores", "-c", "4"]),
        ("mpich-rank-order", ["OMP_NUM_THREADS=2", "OMP_PLACES=cores", "-c", "4"]),
        ("flux-taskmap", ["OMP_NUM_THREADS=2", "-c", "2", "cpu-affinity=per-task"]),
        ("hostfile", ["-x", "OMP_NUM_THREADS=2", "OMP_PLACES=cores", "slot:PE=2"]),
        ("openmpi-rankfile", ["-x", "OMP_NUM_THREADS=2", "OMP_PLACES=cores"]),
        ("mpich-rankmap", ["-genv", "OMP_NUM_THREADS", "2", "-bind-to", "core:2"]),
        ("mpich-hostfile", ["-genv", "OMP_NUM_THREADS", "2"]),
        ("intel-machinefile", ["OMP_NUM_THREADS", "I_MPI_PIN_DOMAIN", "4:compact"]),
        ("pjm-vcoordfile", ["OMP_NUM_THREADS=2"]),
        ("bluegene-map", ["--envs", "OMP_NUM_THREADS=2"]),
        ("jsrun-erf", ["OMP_NUM_THREADS=2", "OMP_PLACES=cores"]),
    ],
)
def test_commands_of_hybrid_jobs_name_cores_and_threads(
    target: str, options: list[str]
) -> None:
    machine = Machine("torus:3x1x1+node:2:2")
    hosts = ["a", "b", "c"]
    placed = host_placement(
        machine, range(3), [0, 2, 4, 6, 8, 10], hosts, node=NODE, slots_per_rank=2
    )
    entry = find_format(target)
    words = entry.format_usage_command(placed).split()
    assert set(options) <= set(words)
    alone = host_placement(machine, range(3), range(12), hosts, node=NODE)
    single = entry.format_usage_command(alone)
    assert "OMP_" not in single
    assert " -c " not in single
    # Threads of unbound ranks would all be placed on the first cores.
    assert ("OMP_PLACES" in " ".join(words)) == entry.hybrid.binds


def test_export_refuses_to_bind_without_cpus(
    topoloom: Any, placement_file: Path
) -> None:
    document = json.loads(placement_file.read_text())
    del document["node"]
    placement_file.write_text(json.dumps(document))
    refused = topoloom("export", placement_file, "--to", "list", "--bind", "core")
    assert refused.status == 2
    assert len(refused.err.splitlines()) == 1
    assert "cannot bind to a core" in refused.err


def test_placements_contain_cpus_and_devices_of_the_machine(
    topoloom: Any, tmp_path: Path
) -> None:
    (tmp_path / "m.toml").write_text(
        'format = "topoloom-machine"\nversion = 1\n'
        '[topology]\nkind = "torus"\nsize = [1]\n'
        '[node]\nlevels = [2, 2]\nnames = ["package", "node"]\n'
        'cpus = ["0,4", "2,6", "1,5", "3,7"]\n'
        'devices = [{ name = "hsn0", kind = "nic", slots = "0-1" }]\n'
    )
    topoloom("pattern", "generate", "ring", "--ranks", 4, "-o", "ring.npz")
    done = topoloom("map", "ring.npz", "--machine", "m.toml", "-o", "x.json")
    assert done.status == 0, done.err
    rows = topoloom("export", "x.json", "--to", "bindings").out.splitlines()[1:]
    assert {row.split()[3] for row in rows} == {"0,4", "2,6", "1,5", "3,7"}
    assert {row.split()[5] for row in rows} == {"hsn0"}
    shown = topoloom("machine", "show", "m.toml", "--json").json
    assert shown["costs"] == {"package": 8, "node": 16, "hop": 16}
    assert shown["devices"] == [{"name": "hsn0", "kind": "nic", "slots": "0-1"}]
    assert "nic hsn0          slots 0-1\n" in topoloom("machine", "show", "m.toml").out
