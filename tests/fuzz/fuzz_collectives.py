# SPDX-License-Identifier: BSD-3-Clause
"""Compare random collectives with those of the MPI library: `make fuzz-collectives`.

`tests/mpi/programs/collectives/collective_cases.c` draws the operation, count,
datatype, root, operator, use of MPI_IN_PLACE, and whether the call is blocking,
nonblocking or persistent. Results must equal those of the MPI library. Half of the
cases use the schedule that Topoloom chooses, half use a named schedule.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpis import Mpi

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "mpi"))

#: Numbers of ranks, and how many of 100 cases use each of them.
SHARES = {
    **{1: 3, 2: 20, 3: 15, 4: 15, 5: 12, 7: 10, 8: 10, 9: 6, 13: 3, 16: 2, 17: 2},
    **{24: 1, 31: 1},
}
#: Number of cases in each run of the program.
AT_ONCE = 400


def main() -> int:
    """Run the cases with each MPI library, and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000, help="for each MPI")
    parser.add_argument("--only", metavar="MPI", help="openmpi, mpich or openmpi5")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    from mpis import MPIS
    from several_hosts import allow_root, share_cores

    allow_root()
    share_cores()
    wrong = 0
    for mpi in MPIS:
        if args.only in (None, mpi.name):
            with tempfile.TemporaryDirectory() as folder:
                wrong += _run_random_cases(mpi, Path(folder), args.cases, args.seed)
    return 1 if wrong else 0


def _run_random_cases(mpi: Mpi, folder: Path, cases: int, seed: int) -> int:
    from built_libraries import compile_with_collectives, run

    from topoloom import _core

    source = ROOT / "tests/mpi/programs/collectives/collective_cases.c"
    program = compile_with_collectives(mpi, source)
    # MPICH waits actively, so runs with more ranks than cores are slow.
    yields = folder / "yield_ucx.so"
    run(["cc", "-O2", "-shared", "-fPIC", ROOT / "bench/yield_ucx.c", "-o", yields])
    environment = {**os.environ, "LD_PRELOAD": str(yields)}
    schedules = [str(schedule["name"]) for schedule in _core.schedules()]
    start, done, wrong = time.monotonic(), 0, 0
    for ranks, share in SHARES.items():
        left = cases * share // 100
        while left > 0:
            seed += 1
            by_name = seed % 2 == 0
            names = schedules if by_name else []
            number = max(1, min(left, AT_ONCE) // max(1, len(names)))
            words = mpi.command(ranks, program, seed, number, *names)
            ended = subprocess.run(
                words, capture_output=True, text=True, check=False, env=environment
            )
            number *= max(1, len(names))
            left -= number
            done += number
            if ended.returncode != 0:
                wrong += 1
                print(f"{' '.join(words)}\n{ended.stdout}{ended.stderr}", flush=True)
    took = time.monotonic() - start
    print(f"{mpi.name}: {done:,} cases, {wrong} runs failed, {took:.0f} s", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
