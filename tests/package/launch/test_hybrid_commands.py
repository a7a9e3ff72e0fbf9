# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom run` gives ranks of several cores their cores, threads and binding."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Machine
from topoloom.launch import srun_options
from topoloom.launch.command_line import parse_command
from topoloom.launch.exports.launch_formats import find_format
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.launch.launcher import Launch, Launcher
from topoloom.launch.launchers import flux, hydra, intel, openmpi, srun
from topoloom.launch.launchers.launcher_commands import LauncherCommand
from topoloom.nodes.node_parts import NO_PARTS, Device, NodeParts

#: Four cores with two threads each, and two GPUs.
NODE = NodeParts(
    cpus=((0, 4), (1, 5), (2, 6), (3, 7)),
    devices=(Device("cuda0", "gpu", (0, 1)), Device("cuda1", "gpu", (2, 3))),
)
VERSIONS: dict[str, tuple[int, ...]] = {"Open MPI": (5, 0, 11)}


def make_placement(node: NodeParts = NO_PARTS, ranks: int = 4) -> HostPlacement:
    """Place ranks of two cores on two hosts, rank by rank."""
    machine = Machine("mesh:2+node:4")
    slots = [0, 2, 4, 6][:ranks]
    return host_placement(machine, [0, 1], slots, ["a", "b"], 1, node, None, 2)


def apply_command(
    launcher: Launcher, text: str, folder: Path, node: NodeParts = NO_PARTS
) -> Launch:
    line = parse_command(text.split(), launcher.SYNTAX)
    version = VERSIONS.get(launcher.NAME, (1, 0))
    return LauncherCommand(launcher, version, line).apply(make_placement(node), folder)


@pytest.fixture(autouse=True)
def _without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "OMP_PLACES", "I_MPI_PIN_DOMAIN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(hydra, "_has_rankmap", lambda _: True)


@pytest.mark.parametrize(
    ("launcher", "text", "options"),
    [
        (openmpi, "mpirun -n 4 ./app", "-x OMP_NUM_THREADS=2 -x OMP_PLACES=cores"),
        (hydra, "mpiexec -n 4 ./app", "-bind-to core:2"),
        (intel, "mpirun -n 4 ./app", "-machinefile"),
        (srun, "srun -n 4 ./app", "-c 2 --hint=nomultithread"),
        (flux, "flux run -n 4 ./app", "-o cpu-affinity=per-task -c 2"),
    ],
)
def test_ranks_get_cores_and_threads_if_cpus_are_unknown(
    launcher: Launcher, text: str, options: str, tmp_path: Path
) -> None:
    made = apply_command(launcher, text, tmp_path)
    assert options in " ".join(made.command)
    if launcher is not openmpi:
        assert made.environment["OMP_NUM_THREADS"] == "2"
        assert made.environment["OMP_PLACES"] == "cores"
    if launcher is intel:
        assert made.environment["I_MPI_PIN_DOMAIN"] == "2:compact"
    assert made.loss is None


@pytest.mark.parametrize(
    ("launcher", "text"),
    [
        (intel, "mpirun -n 4 ./app"),
        (srun, "srun -n 4 -c 4 ./app"),
        (flux, "flux run -x -n 4 ./app"),
    ],
)
def test_ranks_are_bound_to_known_cpus(
    launcher: Launcher, text: str, tmp_path: Path
) -> None:
    made = apply_command(launcher, text, tmp_path, NODE)
    assert made.command[-2] == "0,4,1,5 2,6,3,7 0,4,1,5 2,6,3,7"
    assert made.environment["OMP_PLACES"] == "cores"
    if launcher is srun:  # with -c, the step would lack CPUs of the node
        assert "-c" not in made.command[: made.command.index("sh")]
    if launcher is flux:  # all CPUs of whole nodes
        assert made.command.count("-x") == 1
    assert made.loss == "the program chooses its GPUs"


@pytest.mark.parametrize(
    ("launcher", "text"),
    [
        (openmpi, "mpirun --bind-to none -n 4 ./app"),
        (hydra, "mpiexec -bind-to none -n 4 ./app"),
        (intel, "mpirun -bind-to none -n 4 ./app"),
        (srun, "srun --cpu-bind=none -n 4 ./app"),
    ],
)
@pytest.mark.parametrize("node", [NO_PARTS, NODE])
def test_a_command_that_binds_its_ranks_is_left_alone(
    launcher: Launcher, text: str, node: NodeParts, tmp_path: Path
) -> None:
    made = apply_command(launcher, text, tmp_path, node)
    assert "taskset" not in " ".join(made.command)
    assert "binding=" not in "".join(p.read_text() for p in tmp_path.iterdir())
    assert "OMP_PLACES" not in made.environment
    assert "OMP_PLACES=cores" not in made.command


def test_settings_of_the_user_take_precedence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = "mpirun -x OMP_NUM_THREADS=1 -n 4 ./app"
    assert "OMP_NUM_THREADS=2" not in apply_command(openmpi, mine, tmp_path).command
    kept = apply_command(srun, "srun -c 4 -n 4 ./app", tmp_path)
    assert kept.command.count("-c") == 1
    assert "--hint=nomultithread" not in kept.command
    hinted = apply_command(srun, "srun --threads-per-core=1 -n 4 ./app", tmp_path)
    assert "-c 2 --threads-per-core=1 -n 4" in " ".join(hinted.command)
    hinted = apply_command(srun, "srun --hint=multithread -n 4 ./app", tmp_path)
    assert "-c 2 --hint=multithread -n 4" in " ".join(hinted.command)
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    made = apply_command(openmpi, "mpirun -n 4 ./app", tmp_path)
    assert "OMP_NUM_THREADS=8" in made.command  # also on other hosts
    monkeypatch.setenv("I_MPI_PIN_DOMAIN", "socket")
    made = apply_command(intel, "mpirun -n 4 ./app", tmp_path)
    assert made.environment["I_MPI_PIN_DOMAIN"] == "socket"


@pytest.mark.parametrize(
    "setting", ["SLURM_THREADS_PER_CORE=1", "SLURM_HINT=nomultithread", "="]
)
def test_cpus_of_slurm_are_cores_with_one_thread_per_core(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _, value = setting.partition("=")
    if name:
        monkeypatch.setenv(name, value)
    line = parse_command(["srun", "-n", "4", "./app"], srun.SYNTAX)
    options = srun_options.find_core_options(line, make_placement(NODE))
    assert options == ["-c", "2" if name else "4"]
    unknown = srun_options.find_core_options(line, make_placement())
    assert unknown == ["-c", "2", *([] if name else ["--hint=nomultithread"])]


def test_each_program_of_a_command_gets_its_threads(tmp_path: Path) -> None:
    made = apply_command(openmpi, "mpirun -n 1 ./a : -n 3 ./b", tmp_path)
    first, second = " ".join(made.command).split(" : ")
    assert "-x OMP_NUM_THREADS=2" in first
    assert "-x OMP_NUM_THREADS=2" in second


def test_uneven_nodes_of_a_rank_order_are_started_as_planes() -> None:
    """Slurm's blocks would be 3 and 2 ranks."""
    machine = Machine("mesh:2+node:4")
    placed = host_placement(machine, [0, 1], [0, 1, 2, 3, 4], ["a", "b"])
    usage = find_format("mpich-rank-order").format_usage_command(placed)
    assert "srun -N 2 -m plane=4 -n 5" in usage
    even = host_placement(machine, [0, 1], [0, 1, 4], ["a", "b"])
    usage = find_format("mpich-rank-order").format_usage_command(even)
    assert "srun -N 2 -m block:block -n 3" in usage


def test_exports_say_where_gpus_are_left_to_the_program() -> None:
    placed = make_placement(NODE)
    rankfile = find_format("openmpi-rankfile").find_gpu_remark(placed)
    assert rankfile is not None
    assert "bindings" in rankfile
    for name in ("slurm-hostfile", "flux-taskmap", "jsrun-erf", "bindings", "json"):
        assert find_format(name).find_gpu_remark(placed) is None
    slurm = find_format("slurm-hostfile").format_usage_command(placed)
    assert "--gpu-bind=map_gpu:0,1" in slurm
    assert find_format("openmpi-rankfile").find_gpu_remark(make_placement()) is None
