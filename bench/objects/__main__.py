# SPDX-License-Identifier: BSD-3-Clause
"""Measures arrays of objects, and prints tables; see ``--help``."""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections.abc import Sequence
from math import prod
from pathlib import Path

from objects.programs import (
    DID_NOT_END,
    build,
    format_switch_platform,
    format_torus_platform,
    launch,
    run_simulated,
)
from objects.stencils import JACOBI, PUBLISHED, TORUS, compare_maps, stencil
from smpi import MPI, QUICK

HERE = Path(__file__).parent
TRAFFIC = MPI.parent / "tests" / "mpi" / "programs" / "objects" / "traffic.cpp"
MOLECULES = MPI.parent / "apps" / "molecular_dynamics" / "molecular_dynamics.cpp"
MPIS = {"Open MPI": "openmpi", "MPICH": "mpich"}
#: Cells along each axis of the grid that tests overlap; number of steps by ranks.
CELLS = 192
STEPS = {8: 20, 64: 20, 512: 4}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("objects", description=__doc__)
    parser.add_argument(
        "--bursts", type=int, default=400, help="bursts of 500 messages"
    )
    parser.add_argument("--migrations", type=int, default=1_000_000)
    parser.add_argument(
        "--ranks", type=int, default=1024, help="maximum number of simulated ranks"
    )
    parser.add_argument(
        "--only",
        choices=("messages", "migrations", "overlap", "maps", "molecules"),
        help="only this table",
    )
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        if args.only in (None, "messages"):
            print_messages(Path(folder), args.bursts)
        if args.only in (None, "migrations"):
            print_migrations(Path(folder), args.migrations)
        if args.only in (None, "overlap"):
            print_overlap(Path(folder), args.ranks)
        if args.only in (None, "maps"):
            compare_maps(Path(folder), args.ranks)
        if args.only in (None, "molecules"):
            print_molecules(Path(folder), args.ranks)


def print_messages(folder: Path, bursts: int) -> None:
    """Print message costs on one rank, and between two ranks compared with MPI."""
    print("| MPI | one rank, ns of processor | two ranks, us | MPI alone, us ", end="")
    print("| difference, us | load |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, suffix in MPIS.items():
        program = build(HERE / "messages.cpp", f"mpicxx.{suffix}", folder)
        read = json.loads(launch(suffix, 2, program, bursts))
        remote, alone = read["remote"] / 1e3, read["mpi"] / 1e3
        times = f"{read['local']:.0f} | {remote:.2f} | {alone:.2f}"
        load = os.getloadavg()[0]
        print(f"| {name} | {times} | {remote - alone:.2f} | {load:.0f} |", flush=True)


def print_migrations(folder: Path, count: int) -> None:
    """Move objects at random under traffic; the program checks every message."""
    program = build(TRAFFIC, "mpicxx.mpich", folder)
    for ranks in (2, 4):
        for order in ("ordered", "any"):
            output = launch("mpich", ranks, program, count, order).strip()
            print(f"{ranks} ranks, {order}: {output}", flush=True)


def print_overlap(folder: Path, most: int) -> None:
    """Simulate a stencil with 1 and with 8 objects per rank."""
    program = build(JACOBI, "smpicxx", folder)
    print("| ranks | 1 object, ms | 8 objects, ms | ratio | published |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    # On 8 ranks, communication takes about as long as computation.
    network = format_switch_platform("5MBps")
    for ranks, published in PUBLISHED.items():
        if ranks > most:
            continue
        side = round(ranks ** (1 / 3))
        one, eight = (
            stencil(
                folder,
                network,
                ranks,
                program,
                (3, blocks, CELLS // blocks, STEPS[ranks], "boxes"),
            )
            for blocks in (side, 2 * side)
        )
        theirs = f"{published[1] / published[0]:.2f}"
        if one is None or eight is None:
            first = DID_NOT_END if one is None else f"{one[0]:.1f}"
            print(f"| {ranks} | {first} | {DID_NOT_END} | | {theirs} |", flush=True)
            continue
        ratio = f"{eight[0] / one[0]:.2f} | {theirs}"
        print(f"| {ranks} | {one[0]:.1f} | {eight[0]:.1f} | {ratio} |", flush=True)


def print_molecules(folder: Path, most: int) -> None:
    """Simulate molecular dynamics with each policy's placement on a torus."""
    program = build(MOLECULES, "smpicxx", folder)
    print("| ranks | torus | policy | hop-bytes, MB | load max / average ", end="")
    print("| ms per step |")
    print("| ---: | --- | --- | ---: | ---: | ---: |")
    network = [*TORUS, *(f"{name}:{way}" for name, way in QUICK.items())]
    for torus, steps in (("4x4x4", 8), ("8x4x4", 8), ("8x8x8", 4)):
        ranks = prod(map(int, torus.split("x")))
        if ranks > most:
            continue
        platform = format_torus_platform(torus, "20MBps")
        for policy in ("none", "bricks(computes=anywhere)", "bricks", "place"):
            words = [program, "7x7x5", 3, steps, policy, f"torus:{torus}"]
            variables = {"NS_PER_PAIR": "100"}
            output = run_simulated(folder, platform, ranks, variables, network, *words)
            if output is None:
                print(f"| {ranks} | {torus} | {policy} | {DID_NOT_END} | | |")
                continue
            found = re.search(
                r"to (\S+) of the average, hop-bytes \S+ to (\S+),.* to (\S+)", output
            )
            if not output.startswith("right") or found is None:
                raise SystemExit(f"bench: {output}")
            load, hop_bytes, milliseconds = found.groups()
            size = f"{float(hop_bytes) / 1e6:.2f} | {load} | {milliseconds}"
            print(f"| {ranks} | {torus} | {policy} | {size} |", flush=True)


if __name__ == "__main__":
    main()
