# SPDX-License-Identifier: BSD-3-Clause
"""Measures streams between two real ranks, and prints a table; see ``--help``."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from peers.tables import write_between_marks
from smpi import MPI, find, run
from stream import node_aligned_routing, node_positions, other_libraries, shapes

HERE = Path(__file__).parent
MODEL = MPI.parent / "tests" / "mpi" / "programs" / "stream" / "quiescence_model.cpp"
MARKS = "<!-- bench-stream: begin -->", "<!-- bench-stream: end -->"
SHAPES = "<!-- bench-shapes: begin -->", "<!-- bench-shapes: end -->"
MPIS = {"Open MPI": "openmpi", "MPICH": "mpich"}
BESIDE = "<!-- bench-beside: begin -->", "<!-- bench-beside: end -->"
LARGE = "<!-- bench-large: begin -->", "<!-- bench-large: end -->"
LAID = "<!-- bench-laid: begin -->", "<!-- bench-laid: end -->"
PLACES = "<!-- bench-places: begin -->", "<!-- bench-places: end -->"
WAYS = ("stream", "pushed", "delivered", "buffers", "messages")
BUCKETS = 16384, 32768, 65536
LARGE_HEAD = (
    "| ranks | bucket, B | stream | alltoallv of buffers | stream / buffers |\n"
    "| ---: | ---: | ---: | ---: | ---: |"
)
HEAD = (
    "| MPI | stream | pushed | delivered | alltoallv of buffers | single messages "
    "| messages / stream | stream / buffers | buckets, KB |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("stream", description=__doc__)
    parser.add_argument("--items", type=int, default=4_000_000, help="items per rank")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument(
        "--model",
        type=int,
        metavar="RUNS",
        help="only this many runs of the termination model",
    )
    parser.add_argument(
        "--shapes", action="store_true", help="only simulated alltoalls"
    )
    parser.add_argument(
        "--laid", action="store_true", help="only simulated meshes along nodes"
    )
    parser.add_argument(
        "--places",
        type=int,
        nargs="+",
        choices=node_positions.TORI,
        metavar="RANKS",
        help="only simulated meshes by node positions: 64, 256, 512 or 1024 ranks",
    )
    parser.add_argument(
        "--large",
        action="store_true",
        help="only large buckets, among 2, 4 and 8 ranks under Open MPI",
    )
    parser.add_argument(
        "--beside",
        type=Path,
        metavar="SOURCES",
        help="only Conveyors and BriefKAsten, with sources in this folder",
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the table to this folder"
    )
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        if args.model:
            check_model_interleavings(Path(folder) / "model", args.model)
            return
        if args.shapes:
            print_and_write_table(
                args.docs, shapes.simulate_table(Path(folder)), SHAPES
            )
            return
        if args.beside:
            words = Path(folder), args.beside, args.items, args.repeats
            print_and_write_table(
                args.docs, other_libraries.simulate_table(*words), BESIDE
            )
            return
        if args.large:
            program = build("openmpi", Path(folder))
            print_and_write_table(
                args.docs,
                compare_with_alltoallv(program, args.items, args.repeats),
                LARGE,
            )
            return
        if args.laid:
            print_and_write_table(
                args.docs, node_aligned_routing.simulate_table(Path(folder)), LAID
            )
            return
        if args.places:
            print_and_write_table(
                args.docs,
                node_positions.simulate_table(Path(folder), args.places),
                PLACES,
            )
            return
        rows = []
        for name, suffix in MPIS.items():
            program = build(suffix, Path(folder))
            read = measure(suffix, program, args.items, args.repeats)
            rows.append(format_row(name, read))
            print(rows[-1], file=sys.stderr, flush=True)
    print_and_write_table(args.docs, "\n".join([HEAD, *rows]), MARKS)


def print_and_write_table(docs: Path | None, text: str, marks: tuple[str, str]) -> None:
    """Print a table, and write it to the documentation if a folder is given."""
    print(text)
    if docs:
        write_between_marks(
            docs / "reference" / "benchmarks" / "streams.md", text, *marks
        )


def build(suffix: str, folder: Path) -> Path:
    """Compile the program together with libtopoloom-stream."""
    program, library = folder / f"rates.{suffix}", MPI / "stream"
    errors = MPI / "errors"
    objects = []
    for source in sorted([*library.glob("*.c"), *errors.glob("*.c")]):
        objects.append(folder / f"{source.stem}.{suffix}.o")
        compiler = find(f"mpicc.{suffix}", f"lib{suffix}-dev")
        run(compiler, "-std=c11", "-O2", f"-I{errors}", "-c", source, "-o", objects[-1])
    compiler = find(f"mpicxx.{suffix}", f"lib{suffix}-dev")
    source = HERE / "rates.cpp"
    flags = ("-std=c++20", "-O2", "-w", f"-I{library}")
    run(compiler, *flags, source, *objects, "-o", program)
    return program


def measure(suffix: str, program: Path, *words: int, ranks: int = 2) -> list[Any]:
    """Run the program; return its JSON lines."""
    launcher = find(f"mpirun.{suffix}", suffix)
    root = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    shared = ["--oversubscribe"] if ranks > 2 else []
    done = subprocess.run(
        [launcher, *shared, "-n", str(ranks), program, *map(str, words)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **dict.fromkeys(root, "1")},
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def format_row(name: str, read: Sequence[Any]) -> str:
    """Format a row: medians of times and of ratios, and ranges."""
    middle = {way: median(one[way] for one in read) for way in WAYS}
    words = [f"{middle['messages']:.0f}"]
    for way in ("buffers", "delivered", "pushed", "stream"):
        all_of = [one[way] for one in read]
        words.insert(0, f"{middle[way]:.1f} ({min(all_of):.1f} to {max(all_of):.1f})")
    ratios = [
        f"{median(one['messages'] / one['stream'] for one in read):.0f}",
        f"{median(one['stream'] / one['buffers'] for one in read):.2f}",
    ]
    kilobytes = f"{max(one['bytes'] for one in read) / 1e3:.0f}"
    return f"| {' | '.join([name, *words, *ratios, kilobytes])} |"


def compare_with_alltoallv(program: Path, items: int, repeats: int) -> str:
    """Compare streams and MPI_Alltoallv with equal buffers per rank."""
    rows = [LARGE_HEAD]
    for ranks in (2, 4, 8):
        read = measure("openmpi", program, items, repeats, *BUCKETS, ranks=ranks)
        for bucket in BUCKETS:
            of = [one for one in read if one["bucket"] == bucket]
            words = [f"{ranks}", f"{bucket:,}"]
            for way in ("stream", "buffers"):
                times = [one[way] for one in of]
                words.append(
                    f"{median(times):.1f} ({min(times):.1f} to {max(times):.1f})"
                )
            ratio = median(one["stream"] / one["buffers"] for one in of)
            rows.append(f"| {' | '.join([*words, f'{ratio:.2f}'])} |")
            print(rows[-1], file=sys.stderr, flush=True)
    return "\n".join(rows)


def check_model_interleavings(program: Path, runs: int) -> None:
    """Run all interleavings of three ranks in two phases, random ones of more ranks."""
    run("g++", "-std=c++20", "-O2", f"-I{MPI / 'stream'}", MODEL, "-o", program)
    for words in (["all", "3", "1", "2"], ["drawn", str(runs), "7"]):
        subprocess.run([program, *words, "ours"], check=True)


if __name__ == "__main__":
    main()
