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

import numpy as np
from numpy.typing import NDArray

from smpi import CORE, MPI, find, run

HERE = Path(__file__).parent
TRAFFIC = MPI.parent / "tests" / "mpi" / "programs" / "objects" / "traffic.cpp"
JACOBI = MPI.parent / "apps" / "jacobi_objects" / "jacobi_objects.cpp"
MOLECULES = MPI.parent / "apps" / "molecular_dynamics" / "molecular_dynamics.cpp"
MPIS = {"Open MPI": "openmpi", "MPICH": "mpich"}
#: Ranks -> ms per step with 1 and 8 objects each (Kumar 2005, table 5.1).
PUBLISHED = {8: (192, 105), 64: (16.4, 12.7), 512: (6.5, 5.7)}
#: Of a block along an axis, where maps are compared.
MAP_CELLS, MAP_STEPS = 16, 8
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
#: SimGrid's standard factors are those of TCP over gigabit Ethernet, where 18 kB get
#: 70 % of a link and 74 kB 94 %: a block in eight parts would pay for its parts.
NETWORK = ("smpi/bw-factor:0:1", "smpi/lat-factor:0:1")
#: Nor do messages on a torus slow down those the other way.
TORUS = ("network/crosstraffic:0",)


def main(given: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser("objects", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--migrations", type=int, default=1_000_000)
    parser.add_argument("--ranks", type=int, default=512, help="most of a simulation")
    parser.add_argument(
        "--only",
        choices=("messages", "migrations", "overlap", "maps", "molecules"),
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
        if asked.only in (None, "maps"):
            maps(Path(folder), asked.ranks)
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
            stencil(folder, PLATFORM, ranks, program, (3, blocks, CELLS // blocks, 20))
            for blocks in (side, 2 * side)
        )
        ratio = f"{eight / one:.2f} | {published[1] / published[0]:.2f}"
        print(f"| {ranks} | {one:.1f} | {eight:.1f} | {ratio} |", flush=True)


def maps(folder: Path, most: int) -> None:
    """Simulate stencils whose blocks begin in three orders on tori."""
    program = build(JACOBI, "smpicxx", folder)
    print("| torus | blocks | map | hops per message | ms per step | hop-bytes |")
    print("| --- | --- | --- | ---: | ---: | ---: |")
    for torus, blocks in (("4x4x4", 8), ("8x8x16", 16)):
        ranks = prod(map(int, torus.split("x")))
        if ranks > most:
            continue
        rates = []
        for order in ("random", "round-robin", "boxes"):
            words = (3, blocks, MAP_CELLS, MAP_STEPS, order)
            took = stencil(folder, on_torus(torus, "5MBps"), ranks, program, words)
            hops = hops_per_message(torus, blocks, order)
            rates.append(hops / took)
            size = f"{hops:.2f} | {took:.2f} | {rates[-1] / rates[0]:.2f}"
            print(f"| {torus} | {blocks}^3 | {order} | {size} |", flush=True)


def hops_per_message(torus: str, blocks: int, order: str) -> float:
    """Count what a block's messages to its six neighbors pass, as the program maps."""
    extents = np.array(list(map(int, torus.split("x"))))
    axis = np.arange(blocks)
    at = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1)
    flat = at @ [blocks**2, blocks, 1]
    ranks = extents.prod()
    if (
        order == "boxes"
    ):  # of MPI_Dims_create, which are the torus's axes, the last first
        place = at * extents[::-1] // blocks
        rank = place @ [extents[1] * extents[0], extents[0], 1]
    elif order == "random":
        rank = shuffled(blocks**3)[flat] * ranks // blocks**3
    else:
        rank = flat % ranks
    spot = np.stack(np.unravel_index(rank, extents, order="F"), -1)
    apart = [np.abs(np.roll(spot, 1, axis) - spot) for axis in range(3)]
    return float(np.mean([np.minimum(d, extents - d).sum(-1) for d in apart]))


def shuffled(count: int) -> NDArray[np.int64]:
    """Draw the order of the program's random map."""
    order, drawn = np.arange(count), 1
    for left in range(count, 1, -1):
        drawn = (drawn * 6364136223846793005 + 1442695040888963407) % 2**64
        other = (drawn >> 33) % left
        order[[left - 1, other]] = order[[other, left - 1]]
    return order


def on_torus(torus: str, rate: str) -> str:
    """Describe hosts whose links have the rate."""
    topology = f'topology="TORUS" topo_parameters="{torus.replace("x", ",")}"'
    return PLATFORM.replace('bw="5MBps"', f'bw="{rate}" {topology}')


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
        platform = on_torus(torus, "20MBps")
        for policy in ("none", "bricks(computes=anywhere)", "bricks", "place"):
            words = [program, "7x7x5", 3, 8, policy, f"torus:{torus}"]
            said = simulated(
                folder, platform, ranks, {"NS_PER_PAIR": "100"}, TORUS, *words
            )
            found = re.search(
                r"to (\S+) of the average, hop-bytes \S+ to (\S+),.* to (\S+)", said
            )
            if not said.startswith("right") or found is None:
                raise SystemExit(f"bench: {said}")
            load, hop_bytes, milliseconds = found.groups()
            size = f"{float(hop_bytes) / 1e6:.2f} | {load} | {milliseconds}"
            print(f"| {ranks} | {torus} | {policy} | {size} |", flush=True)


def stencil(
    folder: Path, described: str, ranks: int, program: Path, words: tuple[object, ...]
) -> float:
    """Give milliseconds per step."""
    variables = {"NS_PER_CELL": str(NS_PER_CELL)}
    network = [*NETWORK, *(TORUS if "TORUS" in described else ())]
    said = simulated(folder, described, ranks, variables, network, program, *words)
    found = re.search(r"([0-9.]+) ms per step", said)
    if found is None:
        raise SystemExit(f"bench: {said}")
    return float(found[1])


def simulated(
    folder: Path,
    described: str,
    ranks: int,
    variables: dict[str, str],
    network: Sequence[str],
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
    words += [*(f"--cfg={one}" for one in network), "--log=root.thresh:error"]
    return subprocess.run(
        list(map(str, [*words, *program])),
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
