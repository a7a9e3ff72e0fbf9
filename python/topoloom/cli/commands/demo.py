# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom demo`: run all steps on a small example."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import click

from topoloom.cli.options.files import AsJson, OutputDirectory
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.documents.placements import DemoDocument, Measures, ObjectiveMeasures

MACHINE = "torus:8x8x8,bandwidth=5GB/s,latency=0.1us"
MAPPERS = "block,random,hilbert,gge,mahd,mahd+swap,auto"
GRID = "4x4x4"
RANKS = 64

# Let Open MPI start more ranks than cores, as laptops require, and run as root.
PERMISSIONS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}


def command(
    program: Annotated[
        Path | None,
        Option(
            "--program",
            metavar="FILE",
            help="The program halo3d, if already built; else it is built with mpicxx.",
        ),
    ] = None,
    output: OutputDirectory = Path("out/demo"),
    as_json: AsJson = False,
) -> None:
    """Run all steps of Topoloom on a small example.

    Prints each command that it runs. Records halo3d, a halo exchange on 64 ranks,
    places it on a fragmented part of a torus, compares mappers, draws figures and
    writes a rankfile. This takes a minute, and requires an MPI library with mpirun and
    mpicxx.

    \b
    Examples:
      topoloom demo
      topoloom demo --program build/apps/halo3d -o /tmp/demo
    """
    from topoloom._core import Error

    assert output is not None
    if program is not None and not (program.is_file() and os.access(program, os.X_OK)):
        raise Error(f"--program {program} is not a program; leave it out to build one")
    out = str(output)
    output.mkdir(parents=True, exist_ok=True)
    with _redirect_stdout() if as_json else contextlib.nullcontext():
        _record_program(program, output)
        graph, allocation = f"{out}/halo3d.npz", f"{out}/allocation.txt"
        placement = f"{out}/placement.json"
        where = ["--machine", MACHINE, "--allocation", allocation]
        _print_heading(
            "2. The scheduler leaves the job a ragged piece of the machine, a torus:"
        )
        _run_verb("allocate", "--machine", MACHINE, "--nodes", str(RANKS),
              "--fragments", "9", "--seed", "1", "-o", allocation)  # fmt: skip
        _print_heading(
            "3. Which mapper is best here? The gain is that of the predicted time:"
        )
        _run_verb("compare", graph, *where, "--mappers", MAPPERS,
              "--figure", f"{out}/compare.svg")  # fmt: skip
        _print_heading(
            "4. Place the ranks; without a word, map keeps the best of several:"
        )
        _run_verb("map", graph, *where, "-o", placement)
        _print_heading("5. What is it worth, link by link?")
        _run_verb("judge", graph, placement, "--figure", f"{out}/before-after.svg")
        _print_heading("6. Tell the launcher:")
        _run_verb(
            "export", placement, "--to", "openmpi-rankfile", "-o", f"{out}/rankfile"
        )
        _print_heading("What to try next:")
        print(
            f"  look at {out}/compare.svg and {out}/before-after.svg\n"
            "  record a program of your own:  "
            "topoloom record -o app.npz -- mpirun -n 64 ./app\n"
            "  or all at once on your nodes:  "
            "topoloom run --machine MACHINE --hosts HOSTS -- mpirun -n 64 ./app\n"
            "  describe your machine:         topoloom machine --help\n"
            "  see the mappers there are:     topoloom list mappers"
        )
    if as_json:
        _print_json(output)


def _record_program(program: Path | None, output: Path) -> None:
    _print_heading(
        "1. Who talks to whom? halo3d runs on 64 ranks, watched by the recorder:"
    )
    halo3d = program or _build_program(output)
    os.environ.update({k: v for k, v in PERMISSIONS.items() if k not in os.environ})
    _run_verb("record", "-o", str(output / "halo3d.npz"), "--", "mpirun", "-n",
              str(RANKS), str(halo3d), "--grid", GRID, "--periodic")  # fmt: skip


def _build_program(output: Path) -> Path:
    import shutil
    import subprocess

    from topoloom.cli.exit_status import Failure
    from topoloom.support.resources import find_shipped_folder

    compiler = shutil.which("mpicxx") or shutil.which("mpic++")
    if compiler is None:
        raise Failure("no mpicxx on the PATH; install an MPI library, or set --program")
    source = find_shipped_folder("apps/halo3d") / "halo3d.cpp"
    program = output / "halo3d"
    words = [compiler, "-std=c++17", "-O2", str(source), "-o", str(program)]
    built = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    if built.returncode != 0:
        complaints = built.stderr.strip().splitlines() or ["no reason given"]
        raise Failure(f"{compiler} cannot build halo3d: {complaints[0]}")
    return program


def _print_heading(text: str) -> None:
    print(f"\n{text}")


def _run_verb(*words: str) -> None:
    """Print a command and run it; raise an error if the command fails."""
    print(f"$ topoloom {shlex.join(words)}", flush=True)
    status = click.get_current_context().obj(words)
    if status != 0:
        raise click.exceptions.Exit(status)


@contextlib.contextmanager
def _redirect_stdout() -> Iterator[None]:
    """Redirect stdout to stderr, also for child processes: stdout is for the JSON."""
    from topoloom.support.child_processes import redirect_stdout_to

    with redirect_stdout_to(2), contextlib.redirect_stdout(sys.stderr):
        yield


def _print_json(output: Path) -> None:
    from topoloom.cli.console import print_json
    from topoloom.graphs.graph_file import load_graph
    from topoloom.placements.placement_file import load_placement
    from topoloom.support.gain import gain
    from topoloom.tasks.objective import HOP_BYTES, Objective
    from topoloom.tasks.problem import place_like_launcher

    graph = load_graph(output / "halo3d.npz")
    placed = load_placement(output / "placement.json")
    block = place_like_launcher(graph, placed.allocation)
    before = Objective(HOP_BYTES).values(graph, placed.allocation, block)
    document: DemoDocument = {
        "ranks": graph.rank_count,
        "machine": placed.machine.text,
        "block": cast("Measures", before),
        "values": cast("ObjectiveMeasures", placed.values),
        "gain_percent": gain(
            before["predicted_seconds"], placed.values["predicted_seconds"]
        ),
        "files": sorted(str(file) for file in output.iterdir()),
    }
    print_json(document)
