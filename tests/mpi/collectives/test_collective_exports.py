# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries follow exported decisions, as shown by their message counts.

An exported rule selects an algorithm by the MPI library's name or number. For each pair
of sent and received message counts, the algorithm and the schedule that models it must
have equally many ranks.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest
from built_programs import compile_program
from mpis import MPICH, MPICH_5, OPEN_MPI_4, OPEN_MPI_5, PROGRAMS, Mpi, build_program

from topoloom.model import MessageCosts, NetworkModel
from topoloom.schedules.choose import Call
from topoloom.schedules.exports import mpich, mpich_5, open_mpi
from topoloom.schedules.exports.matching_algorithms import (
    MatchingAlgorithm,
    MpiFunction,
    RankRange,
    SizeRule,
    choose_algorithms,
)
from topoloom.schedules.exports.request import ExportRequest

#: Algorithms that MPICH 4.0 lacks, by operation.
RADICES = {
    operation: tuple(
        function._replace(
            algorithms=tuple(x for x in function.algorithms if "(k=" in x.algorithm)
        )
        for function in functions
    )
    for operation, functions in mpich_5.TABLE.items()
}

#: Number of ranks by their (sent, received) message counts.
Traffic = Counter[tuple[int, int]]

#: Bytes per rank, pair or vector, divisible by 5 and 8 ranks; bytes per segment.
BYTES, SEGMENT = 8000, 2000
RANKS = (5, 8)
#: A message costs 1 us plus 1 ns per byte.
MODEL = NetworkModel.regimes([(1e-6, 1e-9, None)], MessageCosts())


def count_schedule_traffic(operation: str, schedule: str, ranks: int) -> Traffic:
    """Count the ranks for each pair of sent and received message counts."""
    if schedule == "chain":
        schedule = f"chain(segment={SEGMENT})"
    size = 0 if operation == "barrier" else BYTES
    messages = Call(operation, ranks, size).schedule(schedule).all_messages()
    return count_by_rank(
        zip(messages[1].tolist(), messages[2].tolist(), strict=True), ranks
    )


def count_by_rank(messages: Iterable[tuple[int, int]], ranks: int) -> Traffic:
    """Count the ranks for each pair of sent and received message counts."""
    pairs = list(messages)
    sent = Counter(source for source, _ in pairs)
    received = Counter(target for _, target in pairs)
    return Counter((sent[rank], received[rank]) for rank in range(ranks))


def force_algorithm(
    function: MpiFunction, each: MatchingAlgorithm
) -> list[tuple[MpiFunction, list[RankRange]]]:
    """Select this algorithm for all sizes."""
    segment = SEGMENT if each.schedule == "chain" else 0
    return [(function, [RankRange(2, 64, [SizeRule(0, each.algorithm, segment)])])]


@dataclass(frozen=True)
class RuleLibrary:
    """An MPI library that reads rules, and the method that counts its messages."""

    mpi: Mpi
    rules: ModuleType
    table: dict[str, tuple[MpiFunction, ...]] = field(hash=False)
    ranks: tuple[int, ...] = RANKS

    def get_program_name(self, name: str) -> str:
        """Return the name of an MPI function in the program's arguments."""
        return getattr(self.rules, "FUNCTIONS", {}).get(name, name)

    def run(
        self, ranks: int, size: int, functions: Iterable[str], rules: Path | None
    ) -> subprocess.CompletedProcess[str]:
        """Run collectives under exported rules; None: under the library's own rules."""
        program = build_program(self.mpi, PROGRAMS / "collectives/one_collective.c")
        words, environment = self._make_counter_options(rules)
        command = self.mpi.command(ranks, *words, program, *functions, size)
        return subprocess.run(
            command,
            env=os.environ | environment,
            timeout=600,
            capture_output=True,
            text=True,
        )

    def count_schedule_traffic(
        self, ranks: int, size: int, functions: Iterable[str], rules: Path
    ) -> dict[str, Traffic]:
        """Count the messages of each collective under exported rules."""
        done = self.run(ranks, size, functions, rules)
        assert done.returncode == 0, done.stderr
        return read_counts(done)

    def _make_counter_options(
        self, rules: Path | None
    ) -> tuple[list[object], dict[str, str]]:
        if not self.mpi.name.startswith("mpich"):
            options = {
                "coll_tuned_use_dynamic_rules": 1,
                "coll_tuned_dynamic_rules_filename": rules,
                "pml_monitoring_enable": 1,
            }
            words = [word for item in options.items() for word in ("--mca", *item)]
            return [
                *words,
                "-x",
                f"LD_PRELOAD={build_counter('count_monitored.c')}",
            ], {}
        return [], {
            "LD_PRELOAD": str(build_counter("count_ucx.c")),
            # Send all messages through UCX.
            "MPIR_CVAR_NOLOCAL": "1",
            "MPIR_CVAR_CH4_NETMOD": "ucx",
            "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
            "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(rules or ""),
        }


OPEN_MPI_4_RULES = RuleLibrary(OPEN_MPI_4, open_mpi, open_mpi.TABLE)
OPEN_MPI_5_RULES = RuleLibrary(OPEN_MPI_5, open_mpi, open_mpi.TABLE)
MPICH_4_RULES = RuleLibrary(MPICH, mpich, mpich.TABLE)
MPICH_5_RULES = RuleLibrary(MPICH_5, mpich_5, RADICES, (4, 7))


def build_counter(source: str) -> Path:
    """Compile the preloaded library that counts messages."""
    return compile_program("counter.so", ["gcc", "-shared", "-fPIC", PROGRAMS / source])


def read_counts(done: subprocess.CompletedProcess[str]) -> dict[str, Traffic]:
    """Read the counts of each collective that all ranks have completed."""
    found: dict[str, Traffic] = defaultdict(Counter)
    line = r"(.+): rank \d+ sent (\d+) received (\d+)"
    for name, sent, received in re.findall(line, done.stdout):
        found[name][int(sent), int(received)] += 1
    return found


@dataclass(frozen=True)
class Case:
    """An algorithm of an MPI function, and a number of ranks."""

    library: RuleLibrary
    operation: str
    function: MpiFunction
    index: int
    ranks: int

    @property
    def algorithm(self) -> MatchingAlgorithm:
        """The algorithm."""
        return self.function.algorithms[self.index]

    @property
    def argument(self) -> str:
        """Return the program's argument: function name and number of ranks."""
        return f"{self.library.get_program_name(self.function.name)}:{self.ranks}"


def list_cases(library: RuleLibrary) -> list[Case]:
    """Make the cases of every counterpart, for each number of ranks."""
    return [
        Case(library, operation, function, index, ranks)
        for operation, functions in library.table.items()
        for function in functions
        for index, each in enumerate(function.algorithms)
        for ranks in library.ranks
        if each.matches(ranks)
        and (each.schedule != "neighbor-exchange" or ranks % 2 == 0)
    ]


CASES = [
    case
    for each in (OPEN_MPI_4_RULES, MPICH_4_RULES, MPICH_5_RULES)
    for case in list_cases(each)
]


@pytest.fixture(scope="module")
def count_forced_algorithms(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Case], tuple[Traffic, str]]:
    """Count a case's messages; one job runs one case of each function.

    The result includes the job's output, which explains missing lines.
    """
    folder = tmp_path_factory.mktemp("rules")

    @cache
    def run(library: RuleLibrary, index: int) -> tuple[dict[str, Traffic], str]:
        cases = [case for case in list_cases(library) if case.index == index]
        rules = folder / f"{library.mpi.name}-{index}"
        forced = {
            case.function.name: force_algorithm(case.function, case.algorithm)
            for case in cases
        }
        rules.write_text(library.rules.write_rules(list(chain(*forced.values()))))
        words = [case.argument for case in cases]
        done = library.run(max(library.ranks), BYTES, words, rules)
        return read_counts(done), done.stderr

    def find(case: Case) -> tuple[Traffic, str]:
        found, output = run(case.library, case.index)
        return found[case.argument], output

    return find


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=f"{case.library.mpi.name}-{case.argument}-{case.algorithm.algorithm}",
            marks=pytest.mark.xdist_group(f"{case.library.mpi.name}-{case.index}"),
        )
        for case in CASES
    ],
)
def test_names_of_mpi_algorithms_match_their_schedules(
    case: Case, count_forced_algorithms: Callable[[Case], tuple[Traffic, str]]
) -> None:
    expected = count_schedule_traffic(
        case.operation, case.algorithm.schedule, case.ranks
    )
    if case.algorithm.algorithm.endswith("scattered"):  # a rank also sends to itself
        expected = Counter({(s + 1, r + 1): n for (s, r), n in expected.items()})
    found, output = count_forced_algorithms(case)
    assert found == expected, output


by_version = pytest.mark.parametrize(
    "library",
    [OPEN_MPI_4_RULES, OPEN_MPI_5_RULES],
    ids=lambda library: library.mpi.name,
)


@by_version
def test_open_mpi_changes_its_algorithm_as_the_file_states(
    library: RuleLibrary, tmp_path: Path
) -> None:
    """With 8 ranks, Bruck sends 3 messages per rank, and all others send 7."""
    request = ExportRequest(Call("alltoall", 8, 1), "bruck", MODEL)
    rules = tmp_path / "rules.txt"
    rules.write_text(open_mpi.write(request))
    sizes = re.findall(r"^(\d+) \d+ 0 0$", rules.read_text().split("\n8 #")[1], re.M)
    change = int(sizes[1])  # bytes that a rank sends to all ranks
    for size, messages in ((change // 8 - 1, 3), (change // 8, 7)):
        found = library.count_schedule_traffic(8, size, ["alltoall"], rules)
        assert found == {"alltoall": Counter({(messages, messages): 8})}


def test_mpich_changes_its_algorithm_as_the_file_states(tmp_path: Path) -> None:
    request = ExportRequest(Call("alltoall", 8, 1), "bruck", MODEL)
    rules = tmp_path / "rules.json"
    rules.write_text(mpich.write(request))
    node = json.loads(rules.read_text())["collective=alltoall"]["comm_type=intra"]
    sizes = node["is_sendbuf_inplace=no"]["comm_size<=8"]
    change = int(next(iter(sizes)).removeprefix("avg_msg_size<"))
    bruck = {"alltoall": Counter({(3, 3): 8})}
    assert (
        MPICH_4_RULES.count_schedule_traffic(8, change - 1, ["alltoall"], rules)
        == bruck
    )
    assert MPICH_4_RULES.count_schedule_traffic(8, change, ["alltoall"], rules) != bruck


@by_version
def test_open_mpi_reads_the_rules_of_several_collectives(
    library: RuleLibrary, tmp_path: Path
) -> None:
    rules = tmp_path / "rules.txt"
    forced = {
        name: force_algorithm(function, each)
        for name, function, each in (
            ("bcast", open_mpi.TABLE["bcast"][0], MatchingAlgorithm("1", "linear")),
            (
                "alltoall",
                open_mpi.TABLE["alltoall"][0],
                MatchingAlgorithm("3", "bruck"),
            ),
        )
    }
    rules.write_text(open_mpi.write_rules([*forced["alltoall"], *forced["bcast"]]))
    assert library.count_schedule_traffic(8, BYTES, ["bcast", "alltoall"], rules) == {
        "bcast": count_schedule_traffic("bcast", "linear", 8),
        "alltoall": count_schedule_traffic("alltoall", "bruck", 8),
    }


def test_mpich_reads_the_rules_of_several_collectives(tmp_path: Path) -> None:
    """One choice holds for all sizes: trees for 0 bytes, rings for many."""
    called = [
        ExportRequest(Call(name, 8, 1), "", MODEL) for name in ("allgather", "reduce")
    ]
    rules = tmp_path / "rules.json"
    rules.write_text(mpich.write(*called))
    choices = {
        function.name: spans[-1].choices
        for function, spans in choose_algorithms(called, mpich.TABLE, mpich.NAME)
    }
    found = MPICH_4_RULES.count_schedule_traffic(8, 8, ["allgather", "reduce"], rules)
    for function, operation in (("allgather", "allgather"), ("reduce", "reduce")):
        first = choices[function][0]
        (schedule,) = (
            each.schedule
            for each in mpich.TABLE[operation][0].algorithms
            if each.algorithm == first.algorithm
        )
        messages = Call(operation, 8, 8).schedule(schedule).all_messages()
        pairs = zip(messages[1].tolist(), messages[2].tolist(), strict=True)
        assert found[function] == count_by_rank(pairs, 8)


def test_mpich_keeps_its_choice_if_the_file_has_no_decision(tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(mpich.write(ExportRequest(Call("alltoall", 8, 1), "bruck", MODEL)))
    functions = ("bcast", "allreduce", "allgather", "reduce_scatter", "barrier")
    for size in (8, 400_000):
        own = read_counts(MPICH_4_RULES.run(8, size, functions, None))
        assert set(own) == set(functions)
        assert MPICH_4_RULES.count_schedule_traffic(8, size, functions, rules) == own


def test_mpich_refuses_a_file_of_another_format(tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"collective=sorting": {"algorithm=quick": {}}}')
    done = MPICH_4_RULES.run(2, 8, ["alltoall"], rules)
    assert done.returncode != 0
    assert "unrecognized key algorithm=quick" in done.stderr
