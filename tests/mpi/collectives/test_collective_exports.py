# SPDX-License-Identifier: BSD-3-Clause
"""Exported decisions, read by the MPI library that they are for: messages are counted.

Of every algorithm that we call by a library's name or number as many ranks must send
and receive as many messages as in the schedule that stands for it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from recorded import MPICH, MPICH_5, OPEN_MPI_4, OPEN_MPI_5, PROGRAMS, Mpi, built, need

from topoloom.model import MessageCosts, NetworkModel
from topoloom.schedules.choose import Call
from topoloom.schedules.exports import mpich, mpich_5, open_mpi
from topoloom.schedules.exports.asked import Asked
from topoloom.schedules.exports.counterparts import (
    Choice,
    Counterpart,
    Function,
    Span,
    choose_for,
)

#: What version 4.0 lacks.
RADICES = {
    operation: tuple(
        function._replace(
            algorithms=tuple(x for x in function.algorithms if "(k=" in x.algorithm)
        )
        for function in functions
    )
    for operation, functions in mpich_5.TABLE.items()
}

#: How many ranks send and receive so much.
Traffic = Counter[tuple[int, int]]

#: Bytes of a rank, a pair or a vector, that 5 and 8 ranks divide; and of a segment.
BYTES, SEGMENT = 8000, 2000
RANKS = (5, 8)
#: A microsecond a message, a nanosecond a byte: long messages pay early.
MODEL = NetworkModel.regimes([(1e-6, 1e-9, None)], MessageCosts())


def every(
    table: dict[str, tuple[Function, ...]], all_ranks: Iterable[int] = RANKS
) -> list[object]:
    """Make a case of every counterpart and number of ranks that it holds for."""
    return [
        pytest.param(operation, function, each, ranks,
                     id=f"{function.name}-{each.algorithm}-{ranks}")
        for operation, functions in table.items()
        for function in functions
        for each in function.algorithms
        for ranks in all_ranks
        if each.is_for(ranks)
        and (each.schedule != "neighbor-exchange" or ranks % 2 == 0)
    ]  # fmt: skip


def traffic(operation: str, schedule: str, ranks: int) -> Traffic:
    """Count the messages that each rank sends and receives, whichever rank it is."""
    if schedule == "chain":
        schedule = f"chain(segment={SEGMENT})"
    size = 0 if operation == "barrier" else BYTES
    messages = Call(operation, ranks, size).schedule(schedule).all_messages()
    return by_rank(zip(messages[1].tolist(), messages[2].tolist(), strict=True), ranks)


def by_rank(messages: Iterable[tuple[int, int]], ranks: int) -> Traffic:
    """Count messages from and to each rank."""
    pairs = list(messages)
    sent = Counter(source for source, _ in pairs)
    received = Counter(target for _, target in pairs)
    return Counter((sent[rank], received[rank]) for rank in range(ranks))


def force(function: Function, each: Counterpart) -> list[tuple[Function, list[Span]]]:
    """Choose this algorithm whatever the size."""
    segment = SEGMENT if each.schedule == "chain" else 0
    return [(function, [Span(2, 64, [Choice(0, each.algorithm, segment)])])]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def open_mpi_program(folder: Path) -> Path:
    return built(OPEN_MPI_4, PROGRAMS / "collectives/one_collective.c")


@pytest.fixture(scope="module")
def mpich_program(folder: Path) -> Path:
    return built(MPICH, PROGRAMS / "collectives/one_collective.c")


@pytest.fixture(scope="module")
def mpich_5_program(folder: Path) -> Path:
    return built(MPICH_5, PROGRAMS / "collectives/one_collective.c")


@pytest.fixture(scope="module")
def counter(folder: Path) -> Path:
    library = folder / "count_ucx.so"
    source = PROGRAMS / "count_ucx.c"
    compiler = need("gcc", "apt-get install gcc")
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", library], check=True)
    return library


def open_mpi_traffic(
    mpi: Mpi, program: Path, function: str, ranks: int, size: int, rules: Path
) -> Traffic:
    """Do one collective under rules; count by Open MPI's component monitoring."""
    prefix = rules.parent / "sent"
    for old in rules.parent.glob("sent.*.prof"):
        old.unlink()
    options = {
        "coll_tuned_use_dynamic_rules": 1,
        "coll_tuned_dynamic_rules_filename": rules,
        "pml_monitoring_enable": 1,
        "pml_monitoring_enable_output": 3,
        "pml_monitoring_filename": prefix,
    }
    words = [word for item in options.items() for word in ("--mca", *item)]
    command = mpi.command(ranks, *words, program, function, size)
    subprocess.run(command, check=True, timeout=600, capture_output=True)
    lines = [
        line
        for rank in range(ranks)
        for line in Path(f"{prefix}.{rank}.prof").read_text().split("\n")
    ]
    form = re.compile(r"[EI]\t([0-9]+)\t([0-9]+)\t[0-9]+ bytes\t([0-9]+) msgs sent.*")
    found = [
        tuple(map(int, m.groups())) for line in lines if (m := form.fullmatch(line))
    ]
    return by_rank(
        ((source, target) for source, target, n in found for _ in range(n)), ranks
    )


def mpich_run(
    program: Path,
    counter: Path,
    function: str,
    ranks: int,
    size: int,
    rules: Path | None,
    mpi: Mpi = MPICH,
) -> subprocess.CompletedProcess[str]:
    """Do one collective under rules, or MPICH's own, all messages through UCX."""
    environment = {
        "LD_PRELOAD": str(counter),
        "MPIR_CVAR_NOLOCAL": "1",
        "MPIR_CVAR_CH4_NETMOD": "ucx",
        "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(rules or ""),
    }
    command = mpi.command(ranks, program, function, size)
    return subprocess.run(
        command,
        env=os.environ | environment,
        timeout=600,
        capture_output=True,
        text=True,
    )


def mpich_traffic(
    program: Path,
    counter: Path,
    function: str,
    ranks: int,
    size: int,
    rules: Path,
    mpi: Mpi = MPICH,
) -> Traffic:
    done = mpich_run(program, counter, function, ranks, size, rules, mpi)
    assert done.returncode == 0, done.stderr
    pairs = re.findall(r"sent ([0-9]+) received ([0-9]+)", done.stdout)
    return Counter((int(sent), int(received)) for sent, received in pairs)


@pytest.mark.parametrize(
    ("operation", "function", "each", "ranks"), every(open_mpi.TABLE)
)
def test_numbers_of_open_mpi_are_the_schedules(
    operation: str,
    function: Function,
    each: Counterpart,
    ranks: int,
    open_mpi_program: Path,
    tmp_path: Path,
) -> None:
    expected = traffic(operation, each.schedule, ranks)
    rules = tmp_path / "rules.txt"
    rules.write_text(open_mpi.write_choices(force(function, each)))
    name = open_mpi.FUNCTIONS[function.name]
    found = open_mpi_traffic(OPEN_MPI_4, open_mpi_program, name, ranks, BYTES, rules)
    assert found == expected


@pytest.mark.parametrize(("operation", "function", "each", "ranks"), every(mpich.TABLE))
def test_names_of_mpich_are_the_schedules(
    operation: str,
    function: Function,
    each: Counterpart,
    ranks: int,
    mpich_program: Path,
    counter: Path,
    tmp_path: Path,
) -> None:
    expected = traffic(operation, each.schedule, ranks)
    if each.algorithm.endswith("scattered"):  # it sends to itself, too
        expected = Counter({(s + 1, r + 1): n for (s, r), n in expected.items()})
    rules = tmp_path / "rules.json"
    rules.write_text(mpich.write_choices(force(function, each)))
    found = mpich_traffic(mpich_program, counter, function.name, ranks, BYTES, rules)
    assert found == expected


@pytest.mark.parametrize(
    ("operation", "function", "each", "ranks"), every(RADICES, (4, 7))
)
def test_names_of_mpich_with_a_radix_are_the_schedules(
    operation: str,
    function: Function,
    each: Counterpart,
    ranks: int,
    mpich_5_program: Path,
    counter: Path,
    tmp_path: Path,
) -> None:
    expected = traffic(operation, each.schedule, ranks)
    rules = tmp_path / "rules.json"
    rules.write_text(mpich_5.write_choices(force(function, each)))
    program = (mpich_5_program, counter, function.name, ranks)
    assert mpich_traffic(*program, BYTES, rules, MPICH_5) == expected


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, OPEN_MPI_5], ids=lambda mpi: mpi.name)
def test_open_mpi_changes_its_algorithm_where_the_file_says(
    mpi: Mpi, tmp_path: Path
) -> None:
    """Bruck sends 3 messages among 8 ranks, all others 7."""
    asked = Asked(Call("all-to-all", 8, 1), "bruck", MODEL)
    program = built(mpi, PROGRAMS / "collectives/one_collective.c")
    rules = tmp_path / "rules.txt"
    rules.write_text(open_mpi.write(asked))
    sizes = re.findall(r"^(\d+) \d+ 0 0$", rules.read_text().split("\n8 #")[1], re.M)
    change = int(sizes[1])  # in bytes of all pairs of a rank
    for size, messages in ((change // 8 - 1, 3), (change // 8, 7)):
        found = open_mpi_traffic(mpi, program, "alltoall", 8, size, rules)
        assert found == Counter({(messages, messages): 8})


def test_mpich_changes_its_algorithm_where_the_file_says(
    mpich_program: Path, counter: Path, tmp_path: Path
) -> None:
    asked = Asked(Call("all-to-all", 8, 1), "bruck", MODEL)
    rules = tmp_path / "rules.json"
    rules.write_text(mpich.write(asked))
    node = json.loads(rules.read_text())["collective=alltoall"]["comm_type=intra"]
    sizes = node["is_sendbuf_inplace=no"]["comm_size<=8"]
    change = int(next(iter(sizes)).removeprefix("avg_msg_size<"))
    program = (mpich_program, counter, "alltoall", 8)
    assert mpich_traffic(*program, change - 1, rules) == Counter({(3, 3): 8})
    assert mpich_traffic(*program, change, rules) != Counter({(3, 3): 8})


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, OPEN_MPI_5], ids=lambda mpi: mpi.name)
def test_open_mpi_reads_the_rules_of_several_collectives(
    mpi: Mpi, tmp_path: Path
) -> None:
    program = built(mpi, PROGRAMS / "collectives/one_collective.c")
    rules = tmp_path / "rules.txt"
    forced = {
        name: force(function, each)
        for name, function, each in (
            ("bcast", open_mpi.TABLE["broadcast"][0], Counterpart("1", "linear")),
            ("alltoall", open_mpi.TABLE["all-to-all"][0], Counterpart("3", "bruck")),
        )
    }
    rules.write_text(open_mpi.write_choices([*forced["alltoall"], *forced["bcast"]]))
    sent = open_mpi_traffic(mpi, program, "bcast", 8, BYTES, rules)
    assert sent == traffic("broadcast", "linear", 8)
    sent = open_mpi_traffic(mpi, program, "alltoall", 8, BYTES, rules)
    assert sent == traffic("all-to-all", "bruck", 8)


def test_mpich_reads_the_rules_of_several_collectives(
    mpich_program: Path, counter: Path, tmp_path: Path
) -> None:
    """Of all sizes there is one choice: trees without bytes, rings with many."""
    called = [Asked(Call(name, 8, 1), "", MODEL) for name in ("all-gather", "reduce")]
    rules = tmp_path / "rules.json"
    rules.write_text(mpich.write(*called))
    choices = {
        function.name: spans[-1].choices
        for function, spans in choose_for(called, mpich.TABLE, mpich.NAME)
    }
    for function, operation in (("allgather", "all-gather"), ("reduce", "reduce")):
        first = choices[function][0]
        (schedule,) = (
            each.schedule
            for each in mpich.TABLE[operation][0].algorithms
            if each.algorithm == first.algorithm
        )
        found = mpich_traffic(mpich_program, counter, function, 8, 8, rules)
        messages = Call(operation, 8, 8).schedule(schedule).all_messages()
        pairs = zip(messages[1].tolist(), messages[2].tolist(), strict=True)
        assert found == by_rank(pairs, 8)


def test_mpich_does_what_is_not_decided_as_before(
    mpich_program: Path, counter: Path, tmp_path: Path
) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(mpich.write(Asked(Call("all-to-all", 8, 1), "bruck", MODEL)))
    for function in ("bcast", "allreduce", "allgather", "reduce_scatter", "barrier"):
        for size in (8, 400_000):
            words = (mpich_program, counter, function, 8, size)
            own = mpich_run(*words, None)
            assert sorted(own.stdout.split("\n")) == sorted(
                mpich_run(*words, rules).stdout.split("\n")
            )


def test_mpich_refuses_a_file_that_is_none_of_its_own(
    mpich_program: Path, counter: Path, tmp_path: Path
) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"collective=sorting": {"algorithm=quick": {}}}')
    done = mpich_run(mpich_program, counter, "alltoall", 2, 8, rules)
    assert done.returncode != 0
    assert "unrecognized key algorithm=quick" in done.stderr
