# SPDX-License-Identifier: BSD-3-Clause
"""Compares several mappers on one problem."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple

from topoloom._core import Error, Placement, Sharing, mappers, place
from topoloom.support.gain import gain
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.plain_text import split_at_commas
from topoloom.tasks.fixed_ranks import NO_FIXED_RANKS, are_in_place
from topoloom.tasks.objective import PROVEN, Objective, proves_optimality
from topoloom.tasks.optimality_gap import compute_gaps, prove_quick_bounds
from topoloom.tasks.problem import (
    Problem,
    is_launcher_mapper,
    place_like_launcher,
    place_with_launcher,
)
from topoloom.tasks.search import (
    UNLIMITED,
    MonitorSearch,
    Progress,
    Search,
    run_unmonitored,
)
from topoloom.tasks.sharing import NO_SHARING, has_shared_slots
from topoloom.tasks.user_mapper import (
    MapperFunction,
    MapperProblem,
    UserMapper,
    is_user_mapper,
    load_mapper,
    make_user_problem,
)

DEFAULT = "block"
#: No placements are compared with those of the mappers.
NO_PLACEMENTS: Mapping[str, Placement] = MappingProxyType({})


class Comparison(NamedTuple):
    """The placements and measures of several mappers.

    Attributes
    ----------
    objective
        The objective by which mappers are compared.
    shared
        Whether ranks share slots.
    results
        Measures, gain, gap, seconds and work of each mapper, starting with block order
        and the present placements. The work of these and of user mappers is 0.
    placements
        The placement of each mapper.
    best
        The mapper or placement with the lowest objective that keeps the fixed ranks.
    interrupted
        Whether the last search was stopped.
    failed
        Error message of each user mapper that failed.
    fixed
        Number of fixed ranks.
    unfixed
        Mappers and placements of which a fixed rank is on another slot.
    """

    objective: Objective
    shared: bool
    results: list[dict[str, Any]]
    placements: dict[str, Placement]
    best: str
    interrupted: bool
    failed: dict[str, str]
    fixed: int
    unfixed: list[str]


def compare_mappers(
    problem: Problem,
    objective: Objective,
    candidates: Sequence[str | MapperFunction],
    *,
    search: Search = UNLIMITED,
    sharing: Sharing = NO_SHARING,
    present: Mapping[str, Placement] = NO_PLACEMENTS,
    fixed: Mapping[int, int] = NO_FIXED_RANKS,
    monitor: MonitorSearch = run_unmonitored,
) -> Comparison:
    """Place ranks in block order and with every mapper; limits apply to each search.

    `present` has placements to be compared with these, by name. `fixed` has the slots
    of ranks that all mappers must leave on given slots.

    A mapper is a name, such as ``gge+swap``, a launch line, such as ``launcher(srun -m
    cyclic)``, or a user mapper. A user mapper is the text ``mine.py:function``, or a
    function that takes a `MapperProblem` and returns a `Placement` or the slot of every
    rank. If it fails, it is listed in `failed`.
    """
    graph, allocation = problem.graph, problem.allocation
    shared = has_shared_slots(sharing, graph, allocation)
    user = _load_user_mappers(candidates, problem)
    named = [name for name in map(_name_mapper, candidates) if name != DEFAULT]
    if taken := next((name for name in present if name in (DEFAULT, *named)), None):
        raise Error(f"a placement and a mapper are called {taken}; rename one of them")
    names = [DEFAULT, *present, *named]
    _check_mappers([name for name in named if name not in user])
    proven = PROVEN if any(map(proves_optimality, named)) else ""
    chosen = objective.choose_for(
        graph, allocation, "ranks share slots" if shared else proven
    )
    results: list[dict[str, Any]] = []
    placements: dict[str, Placement] = {}
    interrupted = False
    failed: dict[str, str] = {}

    def place_with(name: str, progress: Progress) -> tuple[Placement | None, int]:
        if name == DEFAULT:
            block = problem.default or place_like_launcher(
                graph, allocation, shared, sharing.capacities
            )
            return block, 0
        if name in present:
            return present[name], 0
        if name in user:
            task = make_user_problem(
                graph, allocation, chosen, sharing, search, fixed, progress
            )
            try:
                return user[name].place(task), 0
            except Error as error:
                failed[name] = str(error)
                return None, 0
        found = place(
            graph,
            allocation,
            mapper=name,
            **search._asdict(),
            fixed=dict(fixed),
            sharing=sharing,
            **chosen.options,
            automatic_objective=chosen.is_automatic,
            progress=progress,
        )
        return found.placement, found.work

    for number, name in enumerate(names, start=1):
        with monitor(f"{number}/{len(names)} {name}", search) as progress:
            start = perf_counter()
            placement, work = place_with(name, progress)
            took = perf_counter() - start
            interrupted = not progress(work)
        if placement is not None:
            values = chosen.values(graph, allocation, placement)
            placements[name] = placement
            results.append(
                {"mapper": name, **values, "search_seconds": took, "work": work}
            )
        if interrupted:
            break
    # Bounds are valid only for one rank per slot.
    bounds = (
        None
        if shared
        else prove_quick_bounds(graph, allocation, chosen.phases, fixed=fixed)
    )
    unfixed = [name for name, one in placements.items() if not are_in_place(fixed, one)]
    before = results[0][chosen.measure]
    for result in results:
        is_unfixed = result["mapper"] in unfixed
        result["gain_percent"] = gain(before, result[chosen.measure])
        result["gap"] = compute_gaps(result, None if is_unfixed else bounds)
    able = [result for result in results if result["mapper"] not in unfixed] or results
    best = min(able, key=lambda result: float(result[chosen.measure]))["mapper"]
    return Comparison(
        chosen,
        shared,
        results,
        placements,
        best,
        interrupted,
        failed,
        len(fixed),
        unfixed,
    )


def split_mappers(text: str) -> list[str]:
    """Split a list of mappers at commas outside parentheses; drop duplicates."""
    names = split_at_commas(text)
    if not all(names):
        raise Error(f"the list of mappers '{text}' contains an empty name")
    return list(dict.fromkeys(names))


def _name_mapper(mapper: str | MapperFunction) -> str:
    return mapper if isinstance(mapper, str) else getattr(mapper, "__name__", "own")


def _load_user_mappers(
    candidates: Sequence[str | MapperFunction], problem: Problem
) -> dict[str, UserMapper]:
    """Load mappers outside of the core; raise an error for two of the same name."""
    user: dict[str, UserMapper] = {}
    for mapper in candidates:
        name = _name_mapper(mapper)
        if not isinstance(mapper, str):
            if name in user or name in (DEFAULT, *candidates):
                raise Error(f"two mappers are called {name}; rename one of them")
            user[name] = UserMapper(name, mapper)
        elif is_launcher_mapper(mapper):
            user[name] = _make_launcher_mapper(mapper, problem)
        elif is_user_mapper(mapper):
            user[name] = load_mapper(mapper)
    return user


def _make_launcher_mapper(mapper: str, problem: Problem) -> UserMapper:
    def place(task: MapperProblem) -> Placement:
        return place_with_launcher(problem, mapper, task.shared, {})

    return UserMapper(mapper, place)


def _check_mappers(names: Sequence[str]) -> None:
    """Raise an error for unknown mappers before the first search."""
    known = [str(mapper["name"]) for mapper in mappers()]
    for name in names:
        for stage in re.split(r"\+(?![^()]*\))", name):
            plain = stage.partition("(")[0].strip()
            if plain not in known:
                raise Error(describe_unknown_name("mapper", plain, known))
