# SPDX-License-Identifier: BSD-3-Clause
"""Measures arrays of objects, and prints tables; see ``--help``."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from math import prod
from pathlib import Path
from statistics import median

from smpi import CORE, MPI, find, run

HERE = Path(__file__).parent
TRAFFIC = MPI.parent / "tests" / "mpi" / "programs" / "objects" / "traffic.cpp"
JACOBI = MPI.parent / "apps" / "jacobi_objects" / "jacobi_objects.cpp"
MOLECULES = MPI.parent / "apps" / "molecular_dynamics" / "molecular_dynamics.cpp"
MPIS = {"Open MPI": "openmpi", "MPICH": "mpich"}
#: Ranks -> ms per step with 1 and 8 objects each (Kumar 2005, table 5.1).
PUBLISHED = {8: (192, 105), 64: (16.4, 12.7), 512: (6.5, 5.7)}
#: Cells along an axis of the whole grid, and what one takes: 100 ms on 8 ranks.
CELLS, NS_PER_CELL = 192, 113
#: The rate with which messages of 8 ranks take about as long as their cells.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="5MBps"
           lat="9us"/>
</platform>
"""


def main(given: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser("objects", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--migrations", type=int, default=1_000_000)
    parser.add_argument("--ranks", type=int, default=512, help="most of a simulation")
    parser.add_argument(
        "--only",
        choices=("messages", "migrations", "overlap", "molecules"),
        help="one table",
    )
    asked = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        if asked.only in (None, "messages"):
            messages(Path(folder), asked.messages, asked.repeats)
        if asked.only in (None, "migrations"):
            migrations(Path(folder), asked.migrations)
        if asked.only in (None, "overlap"):
            overlap(Path(folder), asked.ranks)
        if asked.only in (None, "molecules"):
            molecules(Path(folder), asked.ranks)


def messages(folder: Path, count: int, repeats: int) -> None:
    """Print what a message costs on one rank, and between two beside MPI's own."""
    print("| MPI | one rank, ns | two ranks, us | MPI alone, us | difference, us |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, suffix in MPIS.items():
        program = build(HERE / "messages.cpp", f"mpicxx.{suffix}", folder)
        lines = launch(suffix, 2, program, count, repeats).splitlines()
        read = [json.loads(line) for line in lines]
        local, remote, plain = (
            median(one[way] for one in read) for way in ("local", "remote", "mpi")
        )
        words = [name, f"{local:.0f}", f"{remote / 1e3:.2f}", f"{plain / 1e3:.2f}"]
        words.append(f"{median(r['remote'] - r['mpi'] for r in read) / 1e3:.2f}")
        print(f"| {' | '.join(words)} |", flush=True)


def migrations(folder: Path, count: int) -> None:
    """Move objects at random under traffic; the program checks every message."""
    program = build(TRAFFIC, "mpicxx.mpich", folder)
    for ranks in (2, 4):
        for order in ("ordered", "any"):
            said = launch("mpich", ranks, program, count, order).strip()
            print(f"{ranks} ranks, {order}: {said}", flush=True)


def overlap(folder: Path, most: int) -> None:
    """Simulate a stencil with 1 and with 8 objects per rank."""
    program = build(JACOBI, "smpicxx", folder)
    print("| ranks | 1 object, ms | 8 objects, ms | ratio | published |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for ranks, published in PUBLISHED.items():
        if ranks > most:
            continue
        side = round(ranks ** (1 / 3))
        one, eight = (
            simulate(folder, program, ranks, side * per_axis) for per_axis in (1, 2)
        )
        ratio = f"{eight / one:.2f} | {published[1] / published[0]:.2f}"
        print(f"| {ranks} | {one:.1f} | {eight:.1f} | {ratio} |", flush=True)


def molecules(folder: Path, most: int) -> None:
    """Simulate molecular dynamics whose objects a policy places on a torus."""
    program = build(MOLECULES, "smpicxx", folder)
    print(
        "| ranks | torus | policy | hop-bytes, MB | load max / average | ms per step |"
    )
    print("| ---: | --- | --- | ---: | ---: | ---: |")
    for torus in ("4x4x4", "8x4x4"):
        ranks = prod(map(int, torus.split("x")))
        if ranks > most:
            continue
        topology = f'topology="TORUS" topo_parameters="{torus.replace("x", ",")}"'
        platform = PLATFORM.replace('bw="5MBps"', f'bw="20MBps" {topology}')
        for policy in ("none", "bricks(computes=anywhere)", "bricks", "place"):
            words = [program, "7x7x5", 3, 12, policy, f"torus:{torus}"]
            said = simulated(folder, platform, ranks, {"NS_PER_PAIR": "100"}, *words)
            found = re.search(
                r"to (\S+) of the average, hop-bytes \S+ to (\S+),.* to (\S+)", said
            )
            if not said.startswith("right") or found is None:
                raise SystemExit(f"bench: {said}")
            load, hop_bytes, milliseconds = found.groups()
            size = f"{float(hop_bytes) / 1e6:.2f} | {load} | {milliseconds}"
            print(f"| {ranks} | {torus} | {policy} | {size} |", flush=True)


def simulate(folder: Path, program: Path, ranks: int, blocks: int) -> float:
    """Give milliseconds per step."""
    words = [program, 3, blocks, CELLS // blocks, 20, "boxes"]
    variables = {"NS_PER_CELL": str(NS_PER_CELL)}
    said = simulated(folder, PLATFORM, ranks, variables, *words)
    found = re.search(r"([0-9.]+) ms per step", said)
    if found is None:
        raise SystemExit(f"bench: {said}")
    return float(found[1])


def simulated(
    folder: Path,
    described: str,
    ranks: int,
    variables: dict[str, str],
    *program: object,
) -> str:
    """Run a program in SMPI, and give what it prints."""
    platform, hosts = folder / "platform.xml", folder / "hosts"
    platform.write_text(described.format(last=ranks - 1))
    hosts.write_text("".join(f"n{i}\n" for i in range(ranks)))
    words = [find("smpirun", "libsimgrid-dev"), "-np", ranks, "-platform", platform]
    words += ["-hostfile", hosts, "--cfg=smpi/simulate-computation:no"]
    # A call without an answer takes the same time always, not more each time.
    words += ["--cfg=smpi/host-speed:1Gf", "--cfg=smpi/grow-injected-times:no"]
    words += ["--cfg=smpi/test:1e-6", "--cfg=smpi/iprobe:1e-6"]
    words += ["--log=root.thresh:error", *program]
    return subprocess.run(
        list(map(str, words)),
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
    ).stdout


def build(source: Path, compiler: str, folder: Path) -> Path:
    """Compile a program together with the library."""
    program = folder / f"{source.stem}.{compiler}"
    rooms = [MPI / name for name in ("objects", "errors", "stream")]
    flags = ["-O2", "-w", *(f"-I{room}" for room in rooms)]
    flags.append(f"-I{MPI.parent / 'core' / 'topoloom' / 'capi'}")
    errors = folder / f"errors.{compiler}.o"
    c_compiler = find(compiler.replace("cxx", "cc"), compiler)
    run(c_compiler, *flags, "-c", rooms[1] / "errors.c", "-o", errors)
    sources = [source, errors, *sorted(rooms[0].glob("*.cpp"))]
    linked = [CORE, f"-Wl,-rpath,{CORE.parent}"]
    cxx = find(compiler, compiler)
    run(cxx, "-std=c++20", *flags, *sources, "-o", program, *linked)
    return program


def launch(suffix: str, ranks: int, *words: object) -> str:
    """Run a program on real ranks, and give what it prints."""
    launcher = find(f"mpirun.{suffix}", suffix)
    root = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    options = ["--oversubscribe"] if suffix == "openmpi" else []
    done = subprocess.run(
        list(map(str, [launcher, *options, "-n", ranks, *words])),
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **dict.fromkeys(root, "1")},
    )
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise SystemExit(f"bench: a program failed: {done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main()
