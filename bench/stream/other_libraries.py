# SPDX-License-Identifier: BSD-3-Clause
"""Streams compared with Conveyors and BriefKAsten, built from source."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from smpi import MPI, find, run

SIZES = (2, 4)
PROGRAMS = "histogram", "index-gather"
HEAD = (
    "| program | ranks | stream | Conveyors | BriefKAsten |\n"
    "| --- | ---: | ---: | ---: | ---: |"
)
_WAYS = ("stream", "Conveyors", "BriefKAsten")


def simulate_table(folder: Path, sources: Path, items: int, repeats: int) -> str:
    """Build all three libraries for Open MPI, and measure them in one run per size."""
    program = build(folder, sources.resolve())
    launcher = find("mpirun.openmpi", "openmpi-bin")
    root = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    rows: list[str] = []
    for ranks in SIZES:
        words = ["--oversubscribe", "-n", ranks, program, items, repeats]
        done = subprocess.run(
            [launcher, *map(str, words)],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **dict.fromkeys(root, "1")},
        )
        read = [json.loads(line) for line in done.stdout.splitlines()]
        rows += [format_row(name, ranks, read) for name in PROGRAMS]
    return "\n".join([HEAD, *sorted(rows)])


def format_row(program: str, ranks: int, read: Sequence[dict[str, Any]]) -> str:
    """Format medians and ranges of the times as a row."""
    cells = [program, f"{ranks}"]
    for way in _WAYS:
        of = [one[way] for one in read if one["program"] == program]
        cells.append(f"{median(of):.1f} ({min(of):.1f} to {max(of):.1f})")
    return f"| {' | '.join(cells)} |"


def build(folder: Path, sources: Path) -> Path:
    """Build Conveyors on MPI, configure BriefKAsten, and compile the program."""
    convey, queues = folder / "convey", folder / "briefkasten"
    convey.mkdir()
    source = sources / "bale" / "src" / "bale_classic" / "convey"
    run("autoreconf", "-fi", source)
    variables = f"CC={find('mpicc.openmpi', 'libopenmpi-dev')}"
    command = [source / "configure", "--with-mpi", f"--prefix={convey}", variables]
    for words in (command, ["make", "install"]):
        subprocess.run(
            list(map(str, words)), cwd=convey, check=True, capture_output=True
        )
    places = {"KAMPING": "kamping", "KASSERT": "kassert", "RANGE-V3": "range-v3"}
    places["KAMPING_KASSERT"] = "kassert"
    run(
        *("cmake", "-S", sources / "BriefKAsten", "-B", queues),
        *(f"-DFETCHCONTENT_SOURCE_DIR_{a}={sources / b}" for a, b in places.items()),
        *(f"-DBRIEFKASTEN_{what}=OFF" for what in ("BUILD_TESTS", "BUILD_EXAMPLES")),
        *("-DBRIEFKASTEN_USE_CXX23=OFF", "-DKAMPING_ENABLE_REFLECTION=OFF"),
        "-DKAMPING_ENABLE_SERIALIZATION=OFF",
    )
    headers = [convey / "include", sources / "BriefKAsten" / "src"]
    headers += [
        queues / "_deps" / f"{name}-build" / "include"
        for name in ("kassert", "kamping_kassert")
    ]
    headers += [sources / "kamping" / "include", sources / "range-v3" / "include"]
    return compile_with(folder, headers, convey / "lib" / "libconvey.a")


def compile_with(folder: Path, headers: list[Path], library: Path) -> Path:
    """Compile the program."""
    errors, source_folder, objects = MPI / "errors", MPI / "stream", []
    for source in sorted([*source_folder.glob("*.c"), *errors.glob("*.c")]):
        objects.append(folder / f"{source.stem}.o")
        flags = ("-std=c11", "-O2", f"-I{errors}", "-c", source, "-o", objects[-1])
        run(find("mpicc.openmpi", "libopenmpi-dev"), *flags)
    defined = ("CONVEYORS", "BRIEFKASTEN", "BRIEFKASTEN_CXX20", "NDEBUG")
    program = folder / "other_libraries"
    run(
        *(find("mpicxx.openmpi", "libopenmpi-dev"), "-std=c++20", "-O2", "-w"),
        *(f"-D{name}" for name in defined),
        *(f"-I{header}" for header in (source_folder, *headers)),
        *(Path(__file__).with_suffix(".cpp"), *objects, library, "-o", program),
    )
    return program
