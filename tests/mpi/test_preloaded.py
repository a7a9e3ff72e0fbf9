# SPDX-License-Identifier: BSD-3-Clause
"""Preloaded libraries are compiled with the job's MPI and loaded by all ranks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from mpis import MPIS, PROGRAMS, Mpi, build_program

from topoloom import Error
from topoloom.launch.launchers import hydra, openmpi, srun
from topoloom.launch.launchers.launcher_commands import RecognizedLauncher
from topoloom.preload.record import record
from topoloom.preload.shim.launcher import (
    LaunchProgram,
    add_preload,
    find_compiler,
)

OF_OPEN_MPI = RecognizedLauncher(openmpi, (4, 1, 4))
OF_MPICH = RecognizedLauncher(hydra, (4, 0))
THEIRS = """
#include <stdio.h>
#include <stdlib.h>
static void __attribute__((constructor)) here(void) {
    if (getenv("OMPI_COMM_WORLD_RANK") || getenv("PMI_RANK")) puts("theirs");
}
"""


def write_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_compiler_beside_the_launcher_is_preferred_also_behind_links(
    tmp_path: Path,
) -> None:
    real = write_program(tmp_path / "opt" / "mpirun.that")
    that = write_program(tmp_path / "opt" / "mpicc.that")
    link = tmp_path / "bin" / "mpirun"
    link.parent.mkdir()
    link.symlink_to("../opt/mpirun.that")
    plain = write_program(tmp_path / "bin" / "mpicc")
    assert find_compiler(LaunchProgram(link, OF_OPEN_MPI)).resolve() == that
    that.unlink()
    assert find_compiler(LaunchProgram(link, OF_OPEN_MPI)) == plain
    assert find_compiler(LaunchProgram(real, OF_OPEN_MPI), str(plain)) == plain


def test_a_missing_compiler_is_refused_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CRAYPE_VERSION", raising=False)
    with pytest.raises(Error, match="with --mpicc"):
        find_compiler(LaunchProgram(tmp_path / "srun", None))
    cray = write_program(tmp_path / "cc")
    monkeypatch.setenv("CRAYPE_VERSION", "2.7")
    assert find_compiler(LaunchProgram(tmp_path / "srun", None)) == cray


def preload_two_libraries(
    recognized: RecognizedLauncher | None, *words: str, **more: str
) -> tuple[list[str], dict[str, str]]:
    """Return a command and environment that preload two libraries."""
    libraries = [Path("/a.so"), Path("/b.so")]
    starter = LaunchProgram(Path("/bin/x"), recognized)
    return add_preload(starter, list(words), libraries, {"A": "1"}, more)


def test_preloaded_libraries_reach_the_ranks_of_each_launcher() -> None:
    inherited = {"B": "2", "LD_PRELOAD": "/c.so"}
    ours = "LD_PRELOAD=/a.so:/b.so:/c.so"
    options = ["-x", ours, "-x", "A=1"]
    words = ["mpirun", "-n", "2", "a", ":", "-n", "1", "b"]
    assert preload_two_libraries(OF_OPEN_MPI, *words, **inherited) == (
        ["mpirun", *options, "-n", "2", "a", ":", *options, "-n", "1", "b"],
        inherited,
    )
    options = ["-genv", *ours.split("="), "-genv", "A", "1"]
    words = ["-n", "2", "a"]
    command_line = preload_two_libraries(OF_MPICH, "mpiexec", *words, **inherited)[0]
    assert command_line == ["mpiexec", *options, *words]
    command, environment = preload_two_libraries(None, "srun", "a", **inherited)
    assert command == ["srun", "a"]
    assert environment["A"] == "1"
    assert environment["LD_PRELOAD"] == "/a.so:/b.so:/c.so"
    assert environment["OMPI_MCA_mca_base_env_list"] == f"{ours};A=1"
    starter = LaunchProgram(Path("/bin/x"), None)
    _, environment = add_preload(starter, ["srun"], [], {"A": "1;2"}, {})
    assert environment["A"] == "1;2"
    assert environment["OMPI_MCA_mca_base_env_list"] == "LD_PRELOAD=;A"


@pytest.mark.parametrize(
    ("recognized", "words", "theirs", "kept"),
    [
        (
            OF_OPEN_MPI,
            "-x LD_PRELOAD=/d.so -n 2 a -x LD_PRELOAD=/e.so",
            ":/d.so",
            "-n 2 a -x LD_PRELOAD=/e.so",
        ),
        (OF_OPEN_MPI, "-x LD_PRELOAD -n 2 a", ":/c.so", "-n 2 a"),
        (OF_OPEN_MPI, "-x LD_PRELOAD= -n 2 a", "", "-n 2 a"),
        (OF_OPEN_MPI, "-x B -n 1 a", ":/c.so", "-x B -n 1 a"),
        (OF_OPEN_MPI, "--what -x LD_PRELOAD=/d.so a", ":/c.so", None),
        (OF_MPICH, "-genv LD_PRELOAD /d.so -n 2 a", ":/d.so", "-n 2 a"),
        (OF_MPICH, "-genv LD_PRELOAD=/d.so a : b", ":/d.so", "a : b"),
        (
            OF_MPICH,
            "-genv LD_PRELOAD /d.so -n 2 -env LD_PRELOAD /e.so a",
            ":/e.so",
            "-n 2 a",
        ),
    ],
)
def test_libraries_preloaded_by_the_command_follow_ours(
    recognized: RecognizedLauncher, words: str, theirs: str, kept: str | None
) -> None:
    variables = {"LD_PRELOAD": f"/a.so:/b.so{theirs}", "A": "1"}
    forwarding = recognized.launcher.ENVIRONMENT_OPTION
    assert forwarding is not None
    options = forwarding.write(variables)
    command, _ = preload_two_libraries(
        recognized, "run", *words.split(), LD_PRELOAD="/c.so"
    )
    assert " ".join(command).replace(" : " + " ".join(options), " :") == " ".join(
        ["run", *options, words if kept is None else kept]
    )


@pytest.mark.parametrize(
    ("recognized", "option"),
    [(OF_OPEN_MPI, "-x LD_PRELOAD=/d.so"), (OF_MPICH, "-env LD_PRELOAD /d.so")],
)
def test_parts_that_preload_different_libraries_are_refused(
    recognized: RecognizedLauncher, option: str
) -> None:
    words = f"run -n 1 {option} a : -n 1 b"
    with pytest.raises(Error, match="run them separately"):
        preload_two_libraries(recognized, *words.split())


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_a_library_preloaded_by_the_command_stays_preloaded(
    mpi: Mpi, tmp_path: Path
) -> None:
    library, printed = tmp_path / "theirs.so", tmp_path / "printed"
    compile_it = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library]
    subprocess.run(compile_it, input=THEIRS, text=True, check=True)
    program = build_program(mpi, PROGRAMS / "ending.c")
    launcher, *words = mpi.command(2, program, "status", 0)
    own = ["-genv", "LD_PRELOAD"] if mpi.name == "mpich" else ["-x"]
    own += [str(library) if mpi.name == "mpich" else f"LD_PRELOAD={library}"]
    with printed.open("w") as stream:
        profile = record([launcher, *own, *words], folder=tmp_path, stdout=stream)
    assert profile.rank_count == 2
    assert printed.read_text().count("theirs") == 2


@pytest.mark.parametrize(
    ("words", "variable", "works"),
    [
        ("-n 2 a", "ALL", True),
        ("-n 2 a", "NONE", False),
        ("--export=NONE -n 2 a", "ALL", False),
        ("--export=ALL,B=2 -n 2 a", "NONE", True),
        ("--export=B,C=3 -n 2 a", "ALL", False),
        ("--export ALL,LD_PRELOAD=/d.so -n 2 a", "ALL", False),
    ],
)
def test_srun_options_that_withhold_ld_preload_are_refused(
    words: str, variable: str, works: bool
) -> None:
    of_slurm = RecognizedLauncher(srun, (22, 5))
    command = ["srun", *words.split()]
    if works:
        assert (
            preload_two_libraries(of_slurm, *command, SLURM_EXPORT_ENV=variable)[0]
            == command
        )
    else:
        with pytest.raises(Error, match="keeps LD_PRELOAD from the ranks"):
            preload_two_libraries(of_slurm, *command, SLURM_EXPORT_ENV=variable)
