# SPDX-License-Identifier: BSD-3-Clause
"""Programs with libtopoloom-collective, built for an MPI or run in SimGrid."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from topoloom import _core

MPI = Path(__file__).parents[1] / "mpi"
CORE = Path(str(_core.__file__)).with_name("libtopoloom.so")

#: 1 us per message on both sides. Unsuccessful polls take time, so that the clock of a
#: polling rank advances.
SETTINGS = {
    "smpi/os": "0:1e-6:0",
    "smpi/or": "0:1e-6:0",
    "smpi/ois": "0:1e-6:0",
    "smpi/iprobe": "1e-7",
    "smpi/test": "1e-6",
    "smpi/grow-injected-times": "no",
    "smpi/simulate-computation": "no",
}

#: Algorithms for setup that is not measured; SimGrid's defaults take minutes.
QUICK = {
    "smpi/bcast": "binomial_tree",
    "smpi/allreduce": "rdb",
    "smpi/allgather": "bruck",
}


def find(program: str, package: str) -> str:
    """Find a program, or exit with the name of its package."""
    found = shutil.which(program)
    if found is None:
        raise SystemExit(f"bench: {program} is missing: apt-get install {package}")
    return found


def run(*words: object) -> None:
    """Run a command that must succeed."""
    command = list(map(str, words))
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def build(
    source: Path, compiler: str, folder: Path, shared: Sequence[str] = ()
) -> Path:
    """Compile a program with an MPI's compiler, and the libraries for it.

    `shared` files of ``mpi`` are compiled into the program.
    """
    library, program = folder / "collective", folder / source.stem
    options = [
        f"-DMPI_C_COMPILER={compiler}",
        f"-DTOPOLOOM_LIBRARY={CORE}",
        f"-DTOPOLOOM_INCLUDE_DIR={MPI.parent / 'core' / 'topoloom' / 'capi'}",
    ]
    run("cmake", "-S", MPI, "-B", folder, *options)
    targets = ("topoloom-collective", "topoloom-mpi")
    run("cmake", "--build", folder, "--target", *targets)
    linked = (
        *(library / "libtopoloom-collective.so", f"-Wl,-rpath,{library}"),
        *(folder / "libtopoloom-mpi.so", f"-Wl,-rpath,{folder}"),
    )
    names = ("collective", "exchange", "grid", "reorder")
    headers = [f"-I{MPI / name}" for name in names]
    headers.append(f"-I{Path(__file__).parent}")
    headers += [f"-I{(MPI / name).parent}" for name in shared]
    run(
        compiler,
        *("-std=gnu11", "-O2", *headers, f"-Wl,-rpath,{CORE.parent}"),
        *(source, *(MPI / name for name in shared), "-o", program, *linked),
    )
    return program


def simulate(
    platform: Path, hosts: list[str], settings: dict[str, str], *command: object
) -> Iterator[Any]:
    """Run a program in SimGrid's MPI; yield its JSON output."""
    hostfile = platform.with_suffix(".hosts")
    hostfile.write_text("".join(f"{host}\n" for host in hosts))
    words: list[object] = [find("smpirun", "libsimgrid-dev"), "-np", len(hosts)]
    words += ["-platform", platform, "-hostfile", hostfile]
    words += [f"--cfg={name}:{value}" for name, value in settings.items()]
    words += ["--log=root.thresh:error", *command]
    with subprocess.Popen(
        list(map(str, words)), stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        for text in running.stdout:
            if text.startswith("{"):
                yield json.loads(text)
    if running.returncode:
        raise SystemExit(f"bench: the simulation of {len(hosts)} ranks failed")
