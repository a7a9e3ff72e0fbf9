# SPDX-License-Identifier: BSD-3-Clause
"""Choices that are learned at run time: all ranks agree, and they end at the best."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from built_libraries import run, with_collectives
from recorded import MPIS, PROGRAMS, Mpi

from exchange.programs import PLATFORM, SETTINGS

HERE = PROGRAMS / "collectives"
SIMGRID = Mpi(
    "simgrid", "smpirun", {".c": "smpicc"}, (), "apt-get install libsimgrid-dev"
)


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_ranks_agree_whatever_their_clocks_say(mpi: Mpi, tmp_path: Path) -> None:
    program = with_collectives(mpi, HERE / "learning.c", tmp_path)
    settings = {"TOPOLOOM_COLLECTIVES": "learn=1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    done = subprocess.run(
        mpi.command(4, program, 4000, 1),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **settings},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "4000 calls, 0 disagreements, some changes, our clock\n"


RANKS = 16
#: What the platform is not: messages start in no time, or bytes do.
WRONG = {
    "starts": "message - 1e-8 1e-9\ncost latency 1e-8\n",
    "bytes": "message - 1e-4 1e-12\ncost latency 1e-5\n",
}
SOME = ("at-once", "cyclic", "pairwise", "bruck", "bruck(radix=4)", "mesh")


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Build for SimGrid's MPI; give the command."""
    folder = tmp_path_factory.mktemp(SIMGRID.name)
    program = with_collectives(SIMGRID, HERE / "repeated.c", folder)
    (folder / "platform.xml").write_text(PLATFORM.format(last=RANKS - 1))
    (folder / "hosts").write_text("".join(f"n{i}\n" for i in range(RANKS)))
    options = ["-hostfile", folder / "hosts", "-platform", folder / "platform.xml"]
    options += [f"--cfg={name}:{value}" for name, value in SETTINGS.items()]
    return SIMGRID.command(RANKS, *options, program)


def seconds(command: list[str], setting: str, *words: int) -> float:
    told = run([*command, *words], TOPOLOOM_COLLECTIVES=setting)
    print(setting, told)
    return float(told.split()[-1])


@pytest.mark.parametrize(("wrong", "bytes_"), [("starts", 8), ("bytes", 4096)])
def test_it_ends_at_the_best_schedule(
    repeated: list[str], tmp_path: Path, wrong: str, bytes_: int
) -> None:
    machine = tmp_path / "machine"
    machine.write_text(WRONG[wrong])
    best = min(seconds(repeated, f"schedule={one}", bytes_, 4, 4) for one in SOME)
    given = f"machine={machine}"
    assert seconds(repeated, given, bytes_, 4, 4) > 1.05 * best
    assert seconds(repeated, f"{given};learn=1", bytes_, 25, 4) < 1.05 * best
