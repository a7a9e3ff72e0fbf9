# SPDX-License-Identifier: BSD-3-Clause
"""Launcher commands are split before the program, and get placement options."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error, Machine
from topoloom.launch.command_line import CommandLine, parse_command
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.launch.launcher import Launch, Launcher
from topoloom.launch.launchers import flux, hydra, intel, openmpi, srun
from topoloom.launch.launchers.launcher_commands import read_command


def make_placement(machine: str = "mesh:3+node:2") -> HostPlacement:
    hosts = ["alpha", "beta", "gamma"]
    return host_placement(Machine(machine), range(3), [5, 0, 4, 1][:3], hosts)


def parse_launch_command(launcher: Launcher, text: str) -> CommandLine:
    return parse_command(text.split(), launcher.SYNTAX)


def apply_launcher(
    launcher: Launcher,
    text: str,
    folder: Path,
    version: tuple[int, ...],
    machine: str = "mesh:3+node:2",
) -> Launch:
    return launcher.apply(
        parse_launch_command(launcher, text), make_placement(machine), folder, version
    )


@pytest.mark.parametrize(
    ("launcher", "text", "program", "ranks"),
    [
        (openmpi, "mpirun -n 4 ./app -n 9", "./app -n 9", 4),
        (openmpi, "mpirun --mca btl tcp,self -np 4 -x A=1 ./app", "./app", 4),
        (openmpi, "mpirun -n 2 ./a : -n 3 ./b", "./a", 5),
        (openmpi, "mpirun --map-by=:OVERSUBSCRIBE ./app", "./app", None),
        (hydra, "mpiexec -genv A 1 -n=4 ./app --x", "./app --x", 4),
        (hydra, "mpiexec -hosts a,b -np 4 ./app : -np 1 ./b", "./app", 5),
        (hydra, "mpiexec -genv A=1 -env B 2 -n 4 ./app A=1", "./app A=1", 4),
        (intel, "mpirun -genv I_MPI_DEBUG=5 -tune -n 4 ./app", "./app", 4),
        (flux, "flux run -n4 -c 2 -o mpi=none -x ./app -n 9", "./app -n 9", 4),
        (srun, "srun -n4 -N2 ./app : 3", "./app : 3", 4),
        (srun, "srun --ntasks=4 -lu --mpi=pmi2 ./app", "./app", 4),
        (srun, "srun --exclusive --cpu-bind none ./app", "./app", None),
    ],
)
def test_a_command_line_is_split_at_the_program(
    launcher: Launcher, text: str, program: str, ranks: int | None
) -> None:
    line = parse_launch_command(launcher, text)
    assert " ".join(line.segments[0].program) == program
    assert line.rank_count() == ranks


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mpirun -n 4", "has no program"),
        ("mpirun --hostfle h ./app", "did you mean 'hostfile'"),
        ("mpirun --mca btl", "needs 2 more words"),
    ],
)
def test_an_ambiguous_command_line_is_refused(text: str, message: str) -> None:
    with pytest.raises(Error, match=message.replace("?", r"\?")):
        parse_launch_command(openmpi, text)


def test_subcommands_that_launch_nothing_are_refused() -> None:
    with pytest.raises(Error, match=r"only 'flux run' supports .*, not 'flux submit'"):
        parse_launch_command(flux, "flux submit -n 4 ./app")


def test_open_mpi_4_is_started_with_a_rankfile(tmp_path: Path) -> None:
    made = apply_launcher(
        openmpi, "mpirun --hostfile h -n 3 ./app -x", tmp_path, (4, 1, 4)
    )
    rankfile = f"{tmp_path}/rankfile"
    wanted = f"mpirun --rankfile {rankfile} -n 3 ./app -x"
    assert made.command == wanted.split()


def test_open_mpi_5_is_started_with_a_rankfile_and_a_hostfile(tmp_path: Path) -> None:
    made = apply_launcher(openmpi, "mpirun -n 3 ./app", tmp_path, (5, 0, 11))
    assert made.command[1:5] == [
        *("--hostfile", f"{tmp_path}/hostfile"),
        *("--map-by", f"rankfile:file={tmp_path}/rankfile"),
    ]
    # Hosts without ranks are omitted.
    assert (tmp_path / "hostfile").read_text() == "gamma slots=2\nalpha slots=2\n"


@pytest.mark.parametrize(
    "text", ["mpirun --bind-to none -n 3 ./app", "mpirun --oversubscribe -n 3 ./app"]
)
def test_open_mpi_binds_only_on_request(tmp_path: Path, text: str) -> None:
    made = apply_launcher(openmpi, text, tmp_path, (4, 1, 4))
    hosts = tmp_path / "hosts-of-ranks"
    assert made.command[1:5] == ["--hostfile", str(hosts), "--map-by", "seq"]
    assert hosts.read_text() == "gamma\nalpha\ngamma\n"
    assert made.loss is not None


def test_open_mpi_does_not_bind_the_only_rank_of_a_node_to_one_core(
    tmp_path: Path,
) -> None:
    machine = Machine("mesh:3")
    one_each = host_placement(machine, range(3), [2, 0, 1], ["a", "b", "c"])
    made = openmpi.apply(
        parse_launch_command(openmpi, "mpirun ./app"), one_each, tmp_path, (4, 1, 4)
    )
    assert "seq" in made.command
    assert made.loss is None
    assert made.command[-3:] == ["-n", "3", "./app"]


def test_srun_reads_the_host_of_each_rank_from_a_file(tmp_path: Path) -> None:
    made = apply_launcher(srun, "srun -N 3 --ntasks=3 -c 2 ./app", tmp_path, (22, 5))
    wanted = "srun -N 2 -m arbitrary --ntasks=3 -c 2 ./app"
    assert made.command == wanted.split()
    path = Path(made.environment["SLURM_HOSTFILE"])
    assert path.read_text() == "gamma\nalpha\ngamma\n"


def test_intel_mpi_is_started_with_a_machine_file(tmp_path: Path) -> None:
    made = apply_launcher(intel, "mpirun -f h -n 3 ./app", tmp_path, (2021, 9))
    file = tmp_path / "machinefile"
    assert made.command == f"mpirun -machinefile {file} -n 3 ./app".split()
    assert file.read_text() == "gamma:1\nalpha:1\ngamma:1\n"
    assert made.environment == {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "off"}


def test_flux_reads_the_host_of_each_rank_from_a_file(tmp_path: Path) -> None:
    made = apply_launcher(flux, "flux run -N 3 -n 3 -c2 ./app", tmp_path, (0, 70))
    file = tmp_path / "hosts-of-ranks"
    wanted = f"flux run -N 2 --requires=hosts:gamma,alpha --taskmap=hostfile:{file}"
    assert made.command == [*wanted.split(), "-n", "3", "-c2", "./app"]
    assert file.read_text() == "gamma\nalpha\ngamma\n"


@pytest.mark.parametrize(
    ("nodes", "order"),
    [
        # Slurm fills nodes in its own order: ranks 2 and 0 are on gamma.
        ("gamma,alpha,beta", "2,0,1"),
        # One node would have two ranks, but the next node only one.
        ("alpha,beta,gamma", None),
        # The job has only some of the hosts, or no job exists.
        ("alpha,beta", None),
        ("", None),
    ],
)
def test_cray_mpich_renumbers_ranks_if_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: str, order: str | None
) -> None:
    monkeypatch.setenv("CRAY_MPICH_VERSION", "8.1.29")
    monkeypatch.setenv("SLURM_JOB_NODELIST", nodes)
    monkeypatch.setenv("MPICH_RANK_REORDER_METHOD", "2")
    made = apply_launcher(srun, "srun -n 3 ./app", tmp_path, (22, 5))
    if order is None:
        assert "arbitrary" in made.command
        assert made.environment["MPICH_RANK_REORDER_METHOD"] == "1"
        return
    wanted = "srun -N 2 -w gamma,alpha -m block:block -n 3 ./app"
    assert made.command == wanted.split()
    assert made.environment["MPICH_RANK_REORDER_METHOD"] == "3"
    text = Path(made.environment["MPICH_RANK_REORDER_FILE"]).read_text()
    assert text.splitlines()[-1] == order


@pytest.mark.parametrize(
    ("launcher", "text", "version"),
    [
        (openmpi, "mpirun --map-by node -n 3 ./app", (4, 1, 4)),
        (openmpi, "mpirun --rankfile r -n 3 ./app", (4, 1, 4)),
        (openmpi, "mpirun -bynode -n 3 ./app", (4, 1, 4)),
        (hydra, "mpiexec -ppn 2 -n 3 ./app", (4, 0)),
        (srun, "srun -m cyclic -n 3 ./app", (22, 5)),
        (intel, "mpirun -perhost 2 -n 3 ./app", (2021, 9)),
        (flux, "flux run --taskmap=cyclic -n 3 ./app", (0, 70)),
    ],
)
def test_a_command_that_places_its_ranks_itself_is_refused(
    tmp_path: Path, launcher: Launcher, text: str, version: tuple[int, ...]
) -> None:
    with pytest.raises(Error, match="places its ranks itself"):
        apply_launcher(launcher, text, tmp_path, version)


def test_hosts_are_read_from_the_launcher_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "h").write_text("# mine\nalpha slots=2\n\nbeta:3 # two\nroot@gamma\n")
    names = ["alpha", "beta", "gamma"]
    file = tmp_path / "h"
    assert (
        openmpi.list_hosts(
            parse_launch_command(openmpi, f"mpirun --hostfile {file} ./app")
        )
        == names
    )
    assert (
        hydra.list_hosts(parse_launch_command(hydra, f"mpiexec -f {file} ./app"))
        == names
    )
    assert (
        openmpi.list_hosts(
            parse_launch_command(openmpi, "mpirun -H alpha:2,beta,gamma ./app")
        )
        == names
    )
    assert openmpi.list_hosts(parse_launch_command(openmpi, "mpirun ./app")) is None
    monkeypatch.setenv("SLURM_JOB_NODELIST", "cn[09-10]")
    assert srun.list_hosts(parse_launch_command(srun, "srun ./app")) == ["cn09", "cn10"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["sh", "job.sh"], "'sh' is not a supported launcher"),
        (["no-such-mpirun", "./app"], "there is no program 'no-such-mpirun'"),
    ],
)
def test_an_unknown_launcher_is_refused(command: list[str], message: str) -> None:
    with pytest.raises(Error, match=message):
        read_command(command)


@pytest.mark.parametrize(
    ("launcher", "text", "version"),
    [
        (openmpi, "mpirun (Open MPI) 5.0.11", (5, 0, 11)),
        (openmpi, "mpirun.openmpi (OpenRTE) 4.1.4", (4, 1, 4)),
        (hydra, "HYDRA build details:\n    Version:         4.0.2\n", (4, 0)),
        (srun, "slurm-wlm 22.05.8", (22, 5)),
        (openmpi, "HYDRA build details:", None),
        (
            intel,
            "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 1",
            (2021, 9),
        ),
        (intel, "Intel(R) MPI Library for Linux* OS, Version 2019 Update 7", (2019, 0)),
        (hydra, "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 1", None),
        (flux, "commands:    \t\t0.70.0\nlibflux-core:\t\t0.70.0\n", (0, 70)),
        (flux, "mpirun (Open MPI) 5.0.11", None),
        (srun, "mpirun (Open MPI) 5.0.11", None),
    ],
)
def test_launchers_are_recognized_by_version(
    launcher: Launcher, text: str, version: tuple[int, ...] | None
) -> None:
    assert launcher.parse_version(text) == version
