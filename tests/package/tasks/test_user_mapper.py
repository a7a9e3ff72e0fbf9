# SPDX-License-Identifier: BSD-3-Clause
"""Users' own mappers are compared with ours, and their results are checked."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from topoloom import CommGraph, Error, Machine, Sharing, place, save_graph
from topoloom._core import Allocation, stencil
from topoloom.placements import Evaluator, slot_capacities
from topoloom.tasks import (
    MapperProblem,
    Search,
    compare_mappers,
    load_mapper,
    mapper_header,
)
from topoloom.tasks.objective import Objective
from topoloom.tasks.problem import AllocationSpec, Problem, load_problem

if TYPE_CHECKING:
    from tests.conftest import Command

HOP_BYTES = Objective("hop-bytes")
CONGESTION = Objective("congestion")

MINE = '''
import dataclasses

@dataclasses.dataclass
class Options:
    step: int = 1

def in_order(problem):
    """Rank i on slot i."""
    return problem.allocation.slots[: problem.graph.rank_count]

def swapping(problem):
    evaluator = problem.evaluator(in_order(problem))
    ranks = range(problem.graph.rank_count)
    while problem.go_on(0):
        best = max((evaluator.gain_of_swap(a, b), a, b) for a in ranks for b in ranks)
        if best[0] <= 0:
            break
        evaluator.swap(*best[1:])
    return evaluator.placement

def twice(problem):
    return [0] * problem.graph.rank_count

def raises(problem):
    return 1 // 0

number = 5
'''


@pytest.fixture
def problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Problem:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    save_graph("p.npz", stencil([4, 4], 5, bytes=1000))
    return load_problem("p.npz", "torus:4x4", AllocationSpec())


def place_in_reverse(problem: MapperProblem) -> Any:
    return problem.allocation.slots[problem.graph.rank_count - 1 :: -1]


def test_user_mappers_are_compared_with_included_mappers(
    problem: Problem,
) -> None:
    tried = ["mine.py:in_order", place_in_reverse, "auto", "mine.py:swapping"]
    found = compare_mappers(problem, HOP_BYTES, tried)
    rows = {row["mapper"]: row for row in found.results}
    assert list(rows) == [
        "block",
        "mine.py:in_order",
        "place_in_reverse",
        "auto",
        "mine.py:swapping",
    ]
    assert found.failed == {}
    block = rows["block"]
    for name in ("mine.py:in_order", "place_in_reverse"):
        assert rows[name]["hop_bytes"] == block["hop_bytes"]
        assert rows[name].keys() == block.keys()
    assert rows["mine.py:swapping"]["hop_bytes"] <= block["hop_bytes"]
    reversed_slots = found.placements["place_in_reverse"].slots
    assert reversed_slots.tolist() == list(range(15, -1, -1))


def test_user_mappers_receive_the_whole_problem(problem: Problem) -> None:
    problems: list[MapperProblem] = []

    def record_problem(problem: MapperProblem) -> Any:
        problems.append(problem)
        return place_in_reverse(problem)

    search = Search(seed=7, work=1000)
    found = compare_mappers(problem, CONGESTION, [record_problem], search=search)
    (given,) = problems
    assert given.search == search
    assert given.machine.text == problem.machine.text
    assert not given.shared
    assert given.load.tolist() == given.capacity.tolist() == [1] * 16
    value = given.evaluator(place_in_reverse(given)).value
    assert value == found.results[1]["congestion_max"]


WRONG: list[tuple[Any, str]] = [
    ([0] * 16, "slot 0 is given to more than one rank|slot 0"),
    ({1: 2}, "a dict is neither a Placement nor an array of slots"),
    (None, "a NoneType is neither a Placement nor an array of slots"),
    ([0, 1, 2], "3 slots for 16 ranks; expected one for each"),
    ([*range(15), 99], "slot 99"),
    ([*range(15), -1], "-1"),
    ([*range(15), 1.5], "1.5"),
    ([], "ranks"),
]


@pytest.mark.parametrize(("returned", "text"), WRONG)
def test_invalid_mapper_results_are_reported_in_one_line_beside_valid_results(
    problem: Problem, returned: Any, text: str
) -> None:
    def return_wrong_value(_: MapperProblem) -> Any:
        return returned

    found = compare_mappers(
        problem, HOP_BYTES, ["hilbert", return_wrong_value, place_in_reverse]
    )
    names = [row["mapper"] for row in found.results]
    assert names == ["block", "hilbert", "place_in_reverse"]
    (line,) = found.failed.values()
    assert line.startswith("mapper return_wrong_value: ")
    assert any(part in line for part in text.split("|"))
    assert "\n" not in line


def test_shared_slots_respect_capacities(problem: Problem) -> None:
    machine = Machine("torus:2x2")
    graph = CommGraph.from_edges(5, [0, 1], [1, 2], [10, 10], load=[3, 1, 1, 1, 1])
    allocation = Allocation.whole(machine)
    shared = Problem(graph, machine, allocation, None, problem.node)
    sharing = Sharing(capacities=[3, 2, 2, 0])
    load, capacity = slot_capacities(graph, allocation, sharing)
    assert load.tolist() == [3, 1, 1, 1, 1]
    assert capacity.tolist() == [3, 2, 2, 0]

    def place_within_capacities(problem: MapperProblem) -> Any:
        assert problem.shared
        return [0, 1, 1, 2, 2]

    def exceed_capacity(_: MapperProblem) -> Any:
        return [0, 0, 1, 1, 2]

    tried = [place_within_capacities, exceed_capacity, "auto"]
    found = compare_mappers(shared, HOP_BYTES, tried, sharing=sharing)
    assert list(found.placements) == ["block", "place_within_capacities", "auto"]
    assert found.failed == {
        "exceed_capacity": "mapper exceed_capacity: the ranks on slot 0 have a load "
        "of 4, but its capacity is 3"
    }


def test_an_exception_of_a_mapper_names_the_line(problem: Problem) -> None:
    tried = ["mine.py:raises", "mine.py:twice"]
    found = compare_mappers(problem, HOP_BYTES, tried)
    line = 1 + MINE.splitlines().index("    return 1 // 0")
    assert found.failed["mine.py:raises"].startswith(
        "mapper mine.py:raises raised ZeroDivisionError: "
    )
    assert found.failed["mine.py:raises"].endswith(f"mine.py:{line})")
    assert found.failed["mine.py:twice"].startswith("mapper mine.py:twice: ")


def test_mapper_files_are_read_before_any_placement(problem: Problem) -> None:
    Path("broken.py").write_text("def place(:\n")
    Path("stops.py").write_text("import sys\nsys.exit(3)\n")
    for text, message in (
        ("none.py:f", "the mapper file none.py does not exist"),
        ("mine.py:swapper", "did you mean 'swapping'"),
        ("mine.py:number", "mine.py: number is not a function"),
        ("broken.py:place", "broken.py raised SyntaxError: "),
        ("stops.py:place", r"stops.py raised SystemExit: 3 \(.*stops.py:2\)"),
    ):
        with pytest.raises(Error, match=message) as raised:
            compare_mappers(problem, HOP_BYTES, [text])
        assert "\n" not in str(raised.value)
    with pytest.raises(Error, match="is not FILE:function, such as"):
        load_mapper("mine")
    with pytest.raises(Error, match="two mappers are called place_in_reverse"):
        compare_mappers(problem, HOP_BYTES, [place_in_reverse, place_in_reverse])


def test_a_mapper_that_swaps_by_evaluator_never_loses(problem: Problem) -> None:
    graph, allocation = problem.graph, problem.allocation
    start = place(graph, allocation, "random").placement
    evaluator = Evaluator(graph, allocation, start, objective="hop-bytes")
    own = MapperProblem(
        graph, allocation, HOP_BYTES, *slot_capacities(graph, allocation), False
    )
    mapper = load_mapper("mine.py:swapping")
    swapped = Evaluator(graph, allocation, mapper.place(own), objective="hop-bytes")
    assert swapped.value <= evaluator.value


@pytest.mark.usefixtures("problem")
def test_the_command_line_accepts_user_mappers(topoloom: Command) -> None:
    list_ = "auto,mine.py:swapping,mine.py:twice,mine.py:raises"
    done = topoloom("compare", "p.npz", "-m", "torus:4x4", "--mappers", list_)
    assert done.status == 1
    assert "mine.py:swapping" in done.out
    assert "mine.py:twice" not in done.out
    twice, raises = done.err.splitlines()
    assert twice.startswith("topoloom: mapper mine.py:twice: ")
    assert "mapper mine.py:raises raised ZeroDivisionError" in raises
    done = topoloom(
        *("compare", "p.npz", "-m", "torus:4x4", "--json"),
        *("--mappers", "mine.py:twice,mine.py:in_order"),
    )
    document = done.json
    assert [row["mapper"] for row in document["results"]] == [
        "block",
        "mine.py:in_order",
    ]
    assert list(document["failed"]) == ["mine.py:twice"]


PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "place" / "own-mappers.md"
IN_C = """
#include <stdio.h>
#include "topoloom_mapper.h"

typedef const topoloom_mapper_problem* problem_t;

int in_order(problem_t p, uint32_t* slot_of_rank, char* error, size_t size) {
    for (size_t rank = 0; rank < p->ranks; ++rank) slot_of_rank[rank] = p->slot[rank];
    return 0;
}
int says(problem_t p, uint32_t* slot_of_rank, char* error, size_t size) {
    snprintf(error, size, "no idea for %zu ranks on %s", p->ranks, p->machine);
    return 1;
}
int forgets(problem_t p, uint32_t* slot_of_rank, char* error, size_t size) {
    slot_of_rank[0] = p->slot[0];
    return 0;
}
int hurries(problem_t p, uint32_t* slot_of_rank, char* error, size_t size) {
    return p->swap(p->context, 0, 1);
}
int checks(problem_t p, uint32_t* slot_of_rank, char* error, size_t size) {
    in_order(p, slot_of_rank, error, size);
    if (p->version < 1 || p->slots != 16 || p->shared || p->seed != 7) return 1;
    if (p->load[3] != 1 || p->capacity[3] != 1 || p->node[3] != 3) return 1;
    if (p->first[p->ranks] != 64) return 1;
    if (p->bytes[0] != 1000 || p->messages[0] != 1) return 1;
    if (p->distance(p->context, 0, 5) != 2) return 1;
    if (p->distance(p->context, 0, 16) != UINT32_MAX) return 1;
    if (p->start(p->context, slot_of_rank)) return 1;
    double value = p->value(p->context);
    double gain = p->gain_of_swap(p->context, 0, 5);
    if (p->swap(p->context, 0, 5) || p->value(p->context) != value - gain) return 1;
    if (p->undo(p->context) || p->value(p->context) != value) return 1;
    if (p->undo(p->context) == 0) return 1;
    double none = p->gain_of_move(p->context, 0, 99);
    if (none == none) return 1;
    return p->placement(p->context, slot_of_rank);
}
"""


def compile_library(compiler: str, source: Path) -> Path:
    library = Path(f"lib{source.stem}.so")
    words = [
        compiler,
        "-shared",
        "-fPIC",
        f"-I{mapper_header()}",
        source,
        "-o",
        library,
    ]
    subprocess.run(words, check=True)
    return library


def test_libraries_are_compared_with_ours(problem: Problem) -> None:
    (program,) = re.findall(r"```cpp\n(.*?)```", PAGE.read_text(), re.DOTALL)
    Path("mine.cpp").write_text(program)
    library = compile_library("c++", Path("mine.cpp"))
    search = Search(seed=7)
    tried = [f"./{library}:place", "auto"]
    for objective in (HOP_BYTES, CONGESTION):
        found = compare_mappers(problem, objective, tried, search=search)
        block, mine, _ = found.results
        assert found.failed == {}
        assert mine["mapper"] == "./libmine.so:place"
        assert mine[objective.measure] <= block[objective.measure]


def test_errors_of_mapper_libraries_are_one_line(problem: Problem) -> None:
    Path("inc.c").write_text(IN_C)
    library = compile_library("cc", Path("inc.c"))
    names = ("in_order", "checks", "says", "forgets", "hurries")
    tried = [f"{library}:{name}" for name in names]
    found = compare_mappers(problem, HOP_BYTES, tried, search=Search(seed=7))
    assert list(found.placements) == ["block", *tried[:2]]
    says, forgets, hurries = found.failed.values()
    assert says == f"mapper {tried[2]}: no idea for 16 ranks on torus:4x4"
    assert forgets.startswith(f"mapper {tried[3]}: ")
    assert "4294967295" in forgets
    assert hurries == f"mapper {tried[4]}: it asks for values before it calls start()"
    with pytest.raises(Error, match=r'no function more; in C\+\+, is it extern "C"\?'):
        load_mapper(f"{library}:more")
    Path("text.so").write_text("text")
    with pytest.raises(Error, match=r"text\.so cannot be loaded: "):
        load_mapper("text.so:place")


def test_no_failure_of_a_mapper_stops_the_other_mappers(problem: Problem) -> None:
    class UnprintableError(Exception):
        def __str__(self) -> str:
            raise ValueError

    def raise_generator_exit(_: MapperProblem) -> Any:
        raise GeneratorExit

    def raise_unprintable_error(_: MapperProblem) -> Any:
        raise UnprintableError

    def raise_colored_error(_: MapperProblem) -> Any:
        raise ValueError("\x1b[31mred")

    def place_on_other_machine(problem: MapperProblem) -> Any:
        other = Allocation.whole(Machine("torus:8x8"))
        return place(problem.graph, other, "block").placement

    def change_directory(_: MapperProblem) -> Any:
        os.chdir("/")
        return range(16)

    here = Path.cwd()
    tried = [
        raise_generator_exit,
        raise_unprintable_error,
        raise_colored_error,
        place_on_other_machine,
        change_directory,
    ]
    found = compare_mappers(problem, HOP_BYTES, tried)
    assert list(found.placements) == ["block", "change_directory"]
    assert Path.cwd() == here
    assert "raised GeneratorExit" in found.failed["raise_generator_exit"]
    assert "raised UnprintableError" in found.failed["raise_unprintable_error"]
    assert "raised ValueError: \\x1b[31mred" in found.failed["raise_colored_error"]
    message = found.failed["place_on_other_machine"]
    assert "another machine, 'torus:8x8', not for 'torus:4x4'" in message
    with pytest.raises(Error, match=r"'mine\.py' has no function; add one"):
        compare_mappers(problem, HOP_BYTES, ["mine.py"])
