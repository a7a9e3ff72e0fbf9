# SPDX-License-Identifier: BSD-3-Clause
"""Builds libtopoloom-collective and ``sparse.c``, and runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from topoloom import _core

HERE = Path(__file__).parent
MPI = HERE.parents[1] / "mpi"
CORE = Path(str(_core.__file__)).with_name("libtopoloom.so")

#: 10 GB/s and a latency of 1 us per link; two links between any two hosts.
PLATFORM = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="10GBps"
           lat="1us"/>
</platform>
"""

#: A microsecond per message on both sides. A call that finds nothing takes time, too,
#: or the clock of a rank that polls would stand still.
SETTINGS = {
    "smpi/os": "0:1e-6:0",
    "smpi/or": "0:1e-6:0",
    "smpi/ois": "0:1e-6:0",
    "smpi/iprobe": "1e-7",
    "smpi/test": "1e-6",
    "smpi/grow-injected-times": "no",
    "smpi/simulate-computation": "no",
    # Of the setup, which is not measured: the standard ones take minutes to simulate.
    "smpi/bcast": "binomial_tree",
    "smpi/allreduce": "rdb",
}


@dataclass(frozen=True)
class Cell:
    """Seconds of an exchange by each algorithm: means over patterns; "" is ours."""

    ranks: int
    degree: int
    bytes: int
    seconds: dict[str, float]

    @property
    def ratio(self) -> float:
        """Of our choice to the better of both that others use."""
        better = min(self.seconds["reduction"], self.seconds["nbx"])
        return self.seconds[""] / better


def find(program: str, package: str) -> str:
    """Find a program, or end with the package that has it."""
    found = shutil.which(program)
    if found is None:
        raise SystemExit(f"exchange: {program} is missing: apt-get install {package}")
    return found


def run(*words: object) -> None:
    """Run a command that must succeed."""
    command = list(map(str, words))
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def build(compiler: str, folder: Path) -> Path:
    """Build the program with an MPI's compiler."""
    library, program = folder / "collective", folder / "sparse"
    options = [
        f"-DMPI_C_COMPILER={compiler}",
        f"-DTOPOLOOM_LIBRARY={CORE}",
        f"-DTOPOLOOM_INCLUDE_DIR={MPI.parent / 'core' / 'topoloom' / 'capi'}",
    ]
    run("cmake", "-S", MPI, "-B", folder, *options)
    run("cmake", "--build", folder, "--target", "topoloom-collective")
    linked = (library / "libtopoloom-collective.so", f"-Wl,-rpath,{library}")
    options = ["-O2", f"-I{MPI / 'exchange'}", f"-Wl,-rpath,{CORE.parent}"]
    run(compiler, *options, HERE / "sparse.c", "-o", program, *linked)
    return program


def simulate(
    program: Path,
    ranks: int,
    patterns: int,
    degrees: Sequence[int],
    sizes: Sequence[int],
) -> Iterator[Cell]:
    """Run the grid's cells for a number of ranks in SimGrid's MPI."""
    home = program.parent
    (home / "platform.xml").write_text(PLATFORM.format(last=ranks - 1))
    (home / "hosts").write_text("".join(f"n{i}\n" for i in range(ranks)))
    command: list[object] = [find("smpirun", "libsimgrid-dev"), "-np", ranks]
    command += ["-platform", home / "platform.xml", "-hostfile", home / "hosts"]
    command += [f"--cfg={name}:{value}" for name, value in SETTINGS.items()]
    command += ["--log=root.thresh:error", program, patterns]
    command += [",".join(map(str, of)) for of in (degrees, sizes)]
    seconds: dict[str, float] = {}
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        for text in running.stdout:
            if not text.startswith("{"):
                continue
            read = json.loads(text)
            seconds[read["algorithm"]] = fmean(read["seconds"])
            if read["algorithm"] == "":
                yield Cell(ranks, read["degree"], read["bytes"], seconds)
                seconds = {}
    if running.returncode:
        raise SystemExit(f"exchange: the simulation of {ranks} ranks failed")


def call_often(program: Path, launcher: str, calls: int) -> dict[str, float]:
    """Exchange this number of times between two real ranks."""
    done = subprocess.run(
        [launcher, "-n", "2", program, "--calls", str(calls)],
        check=True,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        },
    )
    read: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return read
