# SPDX-License-Identifier: BSD-3-Clause
"""Builds libtopoloom-collective and ``lines.c``, and runs them in SimGrid's MPI."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from exchange.programs import CORE, MPI, find, run
from topoloom.model.message_lines import message_lines
from topoloom.model.named import load_model

HERE = Path(__file__).parent

#: Nodes with 10 GB/s and 1 us per link, two links between any two; inside a node
#: 40 GB/s for each pair of ranks.
PLATFORM = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="10GBps"
           lat="1us" loopback_bw="40GBps" loopback_lat="0.3us"/>
</platform>
"""

SETTINGS = {
    "smpi/os": "0:1e-6:0",
    "smpi/or": "0:1e-6:0",
    "smpi/ois": "0:1e-6:0",
    "smpi/simulate-computation": "no",
    "smpi/auto-shared-malloc-thresh": "1000000",
    # What MPICH takes; its own choice of broadcasts ends some of these simulations.
    "smpi/bcast": "scatter_LR_allgather",
    "smpi/gather": "mpich",
    "smpi/scatter": "mpich",
}


@dataclass(frozen=True)
class Cell:
    """A grid of processes, of which each node has `cores`, and bytes per line."""

    grid: tuple[int, int]
    cores: int
    bytes: int


@dataclass(frozen=True)
class Times:
    """Seconds of a collective on all rows, then on all columns."""

    default: float
    tiled: float


def build(folder: Path) -> Path:
    """Build the program for SimGrid's MPI."""
    compiler = find("smpicc", "libsimgrid-dev")
    library, program = folder / "collective", folder / "lines"
    options = [
        f"-DMPI_C_COMPILER={compiler}",
        f"-DTOPOLOOM_LIBRARY={CORE}",
        f"-DTOPOLOOM_INCLUDE_DIR={MPI.parent / 'core' / 'topoloom' / 'capi'}",
    ]
    run("cmake", "-S", MPI, "-B", folder, *options)
    run("cmake", "--build", folder, "--target", "topoloom-collective")
    linked = (library / "libtopoloom-collective.so", f"-Wl,-rpath,{library}")
    include = [f"-I{MPI / 'grid'}", f"-I{MPI / 'collective'}"]
    options = ["-O2", *include, f"-Wl,-rpath,{CORE.parent}"]
    run(compiler, *options, HERE / "lines.c", "-o", program, *linked)
    return program


def simulate(program: Path, cell: Cell) -> dict[str, Times]:
    """Run a grid; a way that is run in several segments has its best times."""
    home, ranks = program.parent, cell.grid[0] * cell.grid[1]
    nodes = ranks // cell.cores
    (home / "platform.xml").write_text(PLATFORM.format(last=nodes - 1))
    hosts = "".join(f"n{rank // cell.cores}\n" for rank in range(ranks))
    (home / "hosts").write_text(hosts)
    (home / "machine").write_text(machine_text(nodes))
    command: list[object] = [find("smpirun", "libsimgrid-dev"), "-np", ranks]
    command += ["-platform", home / "platform.xml", "-hostfile", home / "hosts"]
    command += [f"--cfg={name}:{value}" for name, value in SETTINGS.items()]
    command += ["--log=root.thresh:error", program, *cell.grid, cell.bytes]
    done = subprocess.run(
        [*map(str, command), str(home / "machine")],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    times: dict[str, Times] = {}
    for text in done.stdout.splitlines():
        if not text.startswith("{"):
            continue
        read = json.loads(text)
        best = times.get(read["way"], Times(float("inf"), float("inf")))
        times[read["way"]] = Times(
            min(best.default, read["default"]), min(best.tiled, read["tiled"])
        )
    return times


def machine_text(nodes: int) -> str:
    """Write the machine file of a cell."""
    lines = [f"machine tree:{nodes},bandwidth=10GB/s,latency=1us"]
    lines += [f"node {node} n{node}" for node in range(nodes)]
    return "\n".join([*lines, message_lines(load_model("simgrid").model)])
