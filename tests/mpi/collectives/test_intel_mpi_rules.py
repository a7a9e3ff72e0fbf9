# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI follows exported variables, as shown by its message counts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from mpis import PROGRAMS, Mpi, need
from test_collective_exports import (
    BYTES,
    RANKS,
    Traffic,
    count_schedule_traffic,
    force_algorithm,
)

from topoloom.schedules.exports import intel_mpi
from topoloom.schedules.exports.matching_algorithms import (
    MatchingAlgorithm,
    MpiFunction,
    RankRange,
    SizeRule,
)

HOME = Path(sys.prefix) / "intel-mpi"
INTEL_MPI = Mpi(
    "intel-mpi",
    str(HOME / "bin/mpirun"),
    {},
    (),
    "pip install --prefix .venv/intel-mpi impi-rt impi-devel",
)
#: (operation, function, algorithms for a number of ranks).
Algorithms = list[tuple[str, MpiFunction, list[MatchingAlgorithm]]]


def list_algorithms(ranks: int) -> Algorithms:
    """List the algorithms that a variable can select, by operation and function."""
    return [
        (operation, function, [x for x in function.algorithms if x.matches(ranks)])
        for operation, functions in intel_mpi.TABLE.items()
        for function in functions
    ]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the program, and the library that counts its messages."""
    folder = tmp_path_factory.mktemp("programs")
    compiler = need("gcc", "apt-get install gcc")
    need(INTEL_MPI.mpirun, INTEL_MPI.install)
    made = folder / "one_collective"
    source = PROGRAMS / "collectives/one_collective.c"
    library = HOME / "lib"
    words = ["-I", HOME / "include", source, "-o", made, library / "libmpi.so.12"]
    subprocess.run([compiler, *words, f"-Wl,-rpath,{library}", "-ldl"], check=True)
    counter, versions = (
        PROGRAMS / f"collectives/count_ofi.{kind}" for kind in ("c", "map")
    )
    words = ["-shared", "-fPIC", counter, "-o", folder / "count_ofi.so"]
    options = ["--no-as-needed", "-lfabric", f"--version-script={versions}"]
    linked = [word if word[:2] == "-l" else f"-Wl,{word}" for word in options]
    subprocess.run([compiler, *words, *linked], check=True)
    return made


def count_traffic(
    program: Path, rules: str, ranks: int, size: int, functions: list[str]
) -> dict[str, Traffic]:
    """Run collectives under exported rules; count their messages."""
    counter = program.with_name("count_ofi.so")
    file = program.with_name("adjust.sh")
    file.write_text(rules)
    environment = {
        "I_MPI_ROOT": str(HOME),
        "I_MPI_FABRICS": "ofi",
        "I_MPI_OFI_LIBRARY": str(counter),
        "I_MPI_THREAD_YIELD": "3",  # waiting ranks yield the core
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "lo",
    }
    words = ["-genv", "LD_PRELOAD", counter, "-n", ranks, program, *functions, size]
    done = subprocess.run(
        ["sh", "-c", '. "$0" && exec "$@"', file, INTEL_MPI.mpirun, *map(str, words)],
        env=os.environ | environment,
        timeout=600,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"(\w+): rank \d+ sent (\d+) received (\d+)", done.stdout)
    assert len(lines) == ranks * len(functions)
    return {
        name: Counter((int(a), int(b)) for each, a, b in lines if each == name)
        for name in functions
    }


def get_expected_traffic(
    operation: str, each: MatchingAlgorithm, ranks: int
) -> Traffic:
    """Count the messages of the schedule that models an algorithm."""
    found = count_schedule_traffic(operation, each.schedule, ranks)
    if each.schedule == "at-once":  # a rank also sends to itself
        found = Counter({(s + 1, r + 1): n for (s, r), n in found.items()})
    return found


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("index", range(3))
def test_algorithm_numbers_of_intel_mpi_match_their_schedules(
    program: Path, ranks: int, index: int
) -> None:
    chosen = [
        (operation, function, known[index])
        for operation, function, known in list_algorithms(ranks)
        if index < len(known)
    ]
    rules = "".join(
        intel_mpi.write_rules(force_algorithm(function, each))
        for _, function, each in chosen
    )
    names = [function.name.lower() for _, function, _ in chosen]
    assert count_traffic(program, rules, ranks, BYTES, names) == {
        function.name.lower(): get_expected_traffic(operation, each, ranks)
        for operation, function, each in chosen
    }


def test_intel_mpi_changes_its_algorithm_as_the_variable_states(
    program: Path,
) -> None:
    ranks, change = 8, 4000  # a byte count that is divisible by the number of ranks
    rules = ""
    before, after = dict[str, Traffic](), dict[str, Traffic]()
    for operation, function, known in list_algorithms(ranks):
        first, *others = (
            (each, get_expected_traffic(operation, each, ranks)) for each in known
        )
        others = [other for other in others if other[1] != first[1]]
        if not others:
            continue
        at = change * ranks if function.counts_all_ranks else change
        choices = [SizeRule(0, first[0].algorithm, 0)]
        choices.append(SizeRule(at, others[0][0].algorithm, 0))
        rules += intel_mpi.write_rules([(function, [RankRange(2, ranks, choices)])])
        name = function.name.lower()
        before[name], after[name] = first[1], others[0][1]
    assert len(before) == 7
    names = list(before)
    assert count_traffic(program, rules, ranks, change - 1, names) == before
    assert count_traffic(program, rules, ranks, change, names) == after
