# SPDX-License-Identifier: BSD-3-Clause
"""Minimum node visits of small expert placements, computed by HiGHS."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from topoloom._core import measure_experts, place_experts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class OptimumCounts(NamedTuple):
    """A row of the table: jobs, jobs solved to the optimum, and the largest gap."""

    name: str
    jobs: int
    optimal: int
    gap: float


class Program:
    """A binary integer program, built row by row."""

    def __init__(self, variables: int) -> None:
        self.cost = np.zeros(variables)
        self._rows: list[tuple[list[int], list[float], float, float]] = []

    def add(self, columns: Any, values: Any, low: float, high: float) -> None:
        """Add a constraint: a weighted sum lies between two limits."""
        self._rows.append((list(columns), list(values), low, high))

    def solve(self) -> float | None:
        """Return the minimum cost; None if the integer program is infeasible."""
        row = [i for i, (columns, *_) in enumerate(self._rows) for _ in columns]
        column = [c for columns, *_ in self._rows for c in columns]
        value = [v for _, values, *_ in self._rows for v in values]
        shape = (len(self._rows), len(self.cost))
        matrix = coo_array((value, (row, column)), shape).tocsr()
        low, high = ([one[i] for one in self._rows] for i in (2, 3))
        found = milp(
            self.cost,
            constraints=LinearConstraint(matrix, low, high),
            integrality=1,
            bounds=Bounds(0, 1),
        )
        return float(found.fun) if found.status == 0 else None


def minimize_visits(
    loads: Floats, choices: Integers, nodes: Integers, slots: int, most: float
) -> float | None:
    """Compute the minimum visits per token; every expert has one replica."""
    experts, gpus, count = len(loads), len(nodes), int(nodes.max()) + 1
    program = Program(experts * gpus + len(choices) * count)
    for expert in range(experts):
        mine = expert * gpus + np.arange(gpus)
        program.add(mine, np.ones(gpus), 1, 1)
    for gpu in range(gpus):
        held = np.arange(experts) * gpus + gpu
        program.add(held, np.ones(experts), slots, slots)
        program.add(held, loads, 0, most)
    for (token, row), node in product(enumerate(choices), range(count)):
        visit = experts * gpus + token * count + node
        program.cost[visit] = (1 - (nodes == node).mean()) / len(choices)
        for expert in row:
            mine = expert * gpus + np.flatnonzero(nodes == node)
            program.add([visit, *mine], [1, *-np.ones(len(mine))], 0, 1)
    return program.solve()


def minimize_inter_node_share(
    loads: Floats, nodes: Integers, slots: int, most: float
) -> float | None:
    """Compute the minimum inter-node share; replicas are on different nodes.

    Binary variables state whether an expert has r replicas, and whether one of these
    replicas is on a given GPU.
    """
    experts, gpus, count = len(loads), len(nodes), int(nodes.max()) + 1
    program = Program(experts * count * (gpus + 1))

    def get_variable(expert: int, replicas: int, gpu: int) -> int:
        return (expert * count + replicas - 1) * (gpus + 1) + gpu

    numbers = range(1, count + 1)
    for expert in range(experts):
        has = [get_variable(expert, r, gpus) for r in numbers]
        program.add(has, np.ones(count), 1, 1)
        for r in numbers:
            program.cost[has[r - 1]] = loads[expert] / loads.sum() * (1 - r / count)
            on = [get_variable(expert, r, gpu) for gpu in range(gpus)]
            program.add([*on, has[r - 1]], [*np.ones(gpus), -r], 0, 0)
            for node in range(count):
                here = [on[gpu] for gpu in np.flatnonzero(nodes == node)]
                program.add([*here, has[r - 1]], [*np.ones(len(here)), -1], -1, 0)
    for gpu in range(gpus):
        all_here = [get_variable(e, r, gpu) for e in range(experts) for r in numbers]
        parts = [loads[e] / r for e in range(experts) for r in numbers]
        program.add(all_here, np.ones(len(all_here)), slots, slots)
        program.add(all_here, parts, 0, most)
    return program.solve()


def compare_optimum(jobs: int, seed: int = 1) -> list[OptimumCounts]:
    """Place small jobs with Topoloom and with HiGHS, under the same load limit."""
    random = np.random.default_rng(seed)
    single, pairs = np.arange(3), np.repeat(np.arange(2), 2)
    gaps: dict[str, list[float | None]] = {"tokens": [], "loads": []}
    for _ in range(jobs):
        topics = random.standard_normal((3, 9)) * 1.5
        score = topics[random.integers(3, size=24)] + random.gumbel(size=(24, 9))
        choices = np.argsort(-score, axis=1)[:, :3]
        loads = np.bincount(choices.ravel(), minlength=9).astype(float)
        # Repeat each token, because the search and the evaluation use alternate tokens.
        twice = np.repeat(choices, 2, axis=0)
        gaps["tokens"].append(
            _compute_gap(
                loads,
                single,
                3,
                twice,
                lambda most, w=loads, c=choices: minimize_visits(w, c, single, 3, most),
            )
        )
        skewed = np.exp(random.standard_normal(8))
        gaps["loads"].append(
            _compute_gap(
                skewed,
                pairs,
                3,
                None,
                lambda most, w=skewed: minimize_inter_node_share(w, pairs, 3, most),
            )
        )
    return [
        OptimumCounts(name, len(of), sum(gap < 1e-6 for gap in of), max(of))
        for name, given in gaps.items()
        if (of := [gap for gap in given if gap is not None])
    ]


def _compute_gap(
    loads: Floats, nodes: Integers, slots: int, choices: Integers | None, least: Any
) -> float | None:
    nearest = choices is None
    slack = 0.05
    even, held = place_experts(
        loads[None], nodes, slots, choices, nearest=nearest, slack=slack
    )
    ours = measure_experts(loads[None], nodes, held, choices, nearest=nearest)[0]
    most = measure_experts(loads[None], nodes, even)[0][1] * (1 + slack)
    optimum = least(most * (1 + 1e-9))
    if optimum is None:  # infeasible: a node can have at most one replica
        return None
    return float(ours[0] / optimum - 1 if optimum > 0 else ours[0])


def optimum_table(rows: Sequence[OptimumCounts]) -> str:
    """Format the comparison with the optima as Markdown."""
    lines = [
        "| small jobs | jobs | at the optimum | largest gap |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.name} | {row.jobs} | {row.optimal} | {100 * row.gap:.1f} % |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
