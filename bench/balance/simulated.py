# SPDX-License-Identifier: BSD-3-Clause
"""Decisions and diffusion Monte Carlo in SimGrid's MPI, on tori of 12-core nodes.

Each simulation has a limit of CPU time, so that the load of the machine does not
matter.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from objects.programs import DID_NOT_END, LIMIT, read_cpu_seconds, run_with_cpu_limit
from smpi import CORE, MPI, QUICK, SETTINGS, find, run

HERE = Path(__file__).parent
APP = MPI.parent / "apps" / "diffusion_monte_carlo" / "diffusion_monte_carlo.cpp"
#: Linker option by which decide.c counts the library's messages.
COUNTING = "-Wl,--wrap=PMPI_Isend"
#: Tori of 12-core nodes, by rank count; links have 10 GB/s and 1 us.
TORI = {120: "5x2", 1200: "5x5x4", 1020: "17x5", 4092: "31x11"}
#: Numbers of ranks for decisions; (ranks, bytes per walker) for walks.
DECIDED = (120, 1020)
WALKS = ((120, 672), (120, 32768), (1020, 672), (1020, 32768))
#: (ranks, bytes of a task, steps) for steps with random initial loads.
DRAWN = (
    *((120, 672, 6), (120, 2048, 6), (120, 8192, 6), (120, 32768, 6)),
    (1200, 672, 1),
)
#: Uncounted first steps, in which communicators are made.
SETUP = 4
#: From this number on, ranks poll every 1 us, not 0.1 us: each poll is an event.
MANY_RANKS = 1000
#: Collectives between measurements. By SimGrid's defaults, rank 0 waits for all ranks
#: at once, which takes cubic time to simulate.
BETWEEN = {
    "smpi/barrier": "ompi_bruck",
    "smpi/reduce": "binomial",
    "smpi/gather": "ompi_binomial",
}
#: The published method.
ALONG_CURVE = "curve(partners=order)"
#: Methods of the library, and a swap of walkers along a sorted list.
METHODS = ("sweep", "alias", "qwalk", ALONG_CURVE, "transport", "swap")
ON_MACHINE = (ALONG_CURVE, "transport", "transport(receives=0)")
DRAWN_METHODS = ("swap", "qwalk", "alias", "sweep", *ON_MACHINE)


class Decision(NamedTuple):
    """Microseconds per decision by gathered loads and by messages; nan: timeout."""

    ranks: int
    gathered: float
    by_messages: float


class Walk(NamedTuple):
    """Microseconds of balancing per step by each method; nan after a timeout."""

    ranks: int
    task_bytes: int
    balancing: dict[str, float]


def machine(ranks: int) -> str:
    """Return the text of a torus of nodes with 12 ranks each."""
    return f"torus:{TORI[ranks]},bandwidth=10GB/s,latency=1us+node:12,memory=10GB/s"


def time_decisions(ranks: int, repeats: int = 3) -> Decision:
    """Time decisions by gathered loads and by messages, without computation."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(HERE / "decide.c", folder, COUNTING)
        ways = ("gathered", "by_messages")
        found = [_run_for_number(folder, ranks, program, way, repeats) for way in ways]
        return Decision(ranks, *found)


def time_walks(ranks: int, task_bytes: int, steps: int = 12, walkers: int = 20) -> Walk:
    """Run the app with each method; energies must be equal. `walkers` are per rank.

    Simulations are deterministic, so a run of only the first steps gives the time to
    subtract. Simulations of many ranks run only these steps; the result is their
    median.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(APP, folder)
        energies, times = set(), {}
        counts = (SETUP,) if ranks >= MANY_RANKS else (SETUP, steps)
        for method in METHODS:
            place = [machine(ranks)] if method in ON_MACHINE else []
            seconds = []
            for count in counts:
                words = ("harmonic", walkers * ranks, count, method, task_bytes, *place)
                lines = _run_on_torus(folder, ranks, program, *words).splitlines()
                mean, median = (float(lines[1].split()[at]) for at in (1, 6))
                seconds.append(count * mean)
            energies.add(lines[0].partition(": ")[2])
            later = (seconds[-1] - seconds[0]) / (steps - SETUP)
            times[method] = median if len(counts) == 1 else later
        assert len(energies) == 1, energies
        return Walk(ranks, task_bytes, times)


def time_drawn(ranks: int, task_bytes: int, steps: int) -> Walk:
    """Time each method on steps that begin with 20 to 28 tasks per rank."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(HERE / "random_steps.c", folder)
        times = {}
        for method in DRAWN_METHODS:
            place = [machine(ranks)] if method in ON_MACHINE else []
            words = (method, task_bytes, steps, *place)
            times[method] = _run_for_number(folder, ranks, program, *words)
        return Walk(ranks, task_bytes, times)


def build(source: Path, folder: Path, *options: str, real: str = "") -> Path:
    """Compile a program and the library with SimGrid's compilers.

    With `real`, such as ``openmpi``, the compilers of that MPI are used.
    """
    package = f"lib{real or 'simgrid'}-dev"
    compiler = find(f"mpicc.{real}" if real else "smpicc", package)
    folders = [MPI / "balance", MPI / "errors", MPI.parent / "core/topoloom/capi"]
    headers = [f"-I{each}" for each in folders]
    objects = []
    for each in folders[:2]:
        for file in sorted(each.glob("*.c")):
            objects.append(folder / f"{file.stem}.o")
            flags = ("-std=gnu11", "-O2", "-fPIC", "-c")
            run(compiler, *flags, *headers, file, "-o", objects[-1])
    program = folder / source.stem
    if source.suffix == ".cpp":
        compiler = find(f"mpicxx.{real}" if real else "smpicxx", package)
    standard = "-std=c++20" if source.suffix == ".cpp" else "-std=gnu11"
    linked = (CORE, f"-Wl,-rpath,{CORE.parent}", *options)
    run(compiler, standard, "-O2", *headers, source, *objects, *linked, "-o", program)
    return program


def _run_for_number(folder: Path, ranks: int, program: Path, *words: object) -> float:
    """Return the first number that a program prints; nan after a timeout."""
    try:
        return float(_run_on_torus(folder, ranks, program, *words).split()[0])
    except TimeoutError:
        return math.nan


def _run_on_torus(folder: Path, ranks: int, program: Path, *words: object) -> str:
    """Return the output of a program simulated on the torus."""
    platform, hosts = folder / f"torus{ranks}.xml", folder / f"hosts{ranks}"
    if not platform.exists():
        run("topoloom", "machine", "export", machine(ranks), "-o", platform)
        names = [f"node-{rank // 12}.topoloom\n" for rank in range(ranks)]
        hosts.write_text("".join(names))
    rarely = {"smpi/iprobe": "1e-6"} if ranks >= MANY_RANKS else {}
    return launch(platform, hosts, rarely, ranks, program, *words)


def launch(
    platform: Path, hosts: Path, settings: dict[str, str], ranks: int, *words: object
) -> str:
    """Return the output of a program simulated with these settings."""
    chosen = SETTINGS | QUICK | BETWEEN | settings
    command = [find("smpirun", "libsimgrid-dev"), "-np", ranks, "-platform", platform]
    command += ["-hostfile", hosts, *(f"--cfg={of}:{to}" for of, to in chosen.items())]
    command += ["--log=root.thresh:error", *words]
    before = read_cpu_seconds()
    done = run_with_cpu_limit(command, dict(os.environ))
    if done.returncode and read_cpu_seconds() - before > 0.95 * LIMIT:
        raise TimeoutError(f"the simulation of {ranks} ranks {DID_NOT_END}")
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise SystemExit(f"bench: the simulation of {ranks} ranks failed")
    return done.stdout.strip()
