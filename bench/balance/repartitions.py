# SPDX-License-Identifier: BSD-3-Clause
"""Repartitioning of task sequences with changing loads: Topoloom, Scotch and Zoltan.

In each step, every program continues from its own previous owners. The cost is the same
for all: bytes cut in all periods, plus moved bytes.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph, balance_weighted

HERE = Path(__file__).parent
TOLERANCE = 0.02
STEPS = 6
SEEDS = 5
Ints = NDArray[np.int64]
OwnerChooser = Callable[["Tasks", Ints, Ints], Ints]


class Tasks(NamedTuple):
    """Tasks with neighbors whose loads change from step to step."""

    kind: str
    ranks: int
    periods: int
    seed: int
    edges: Ints  # rows (task, task)
    bytes: Ints  # by edge
    sizes: Ints
    start: Ints  # owners
    loads: list[Ints]

    def graph(self) -> CommGraph:
        """Make the communication graph of the tasks."""
        source, target = self.edges.T
        return CommGraph.from_edges(len(self.sizes), source, target, self.bytes)


class Run(NamedTuple):
    """Results of a program on a sequence of loads."""

    cost: int  # bytes cut in all periods, plus moved bytes
    imbalance: float  # maximum over ranks and steps, over the mean
    moved: float  # moved bytes over the sum of their lower bounds
    seconds: float


def sequences(seeds: int) -> Iterator[Tasks]:
    """Draw one sequence of each kind per seed."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        yield _draw_hot_spot(64, 16, 1, seed, rng)
        yield _draw_hot_spot(64, 16, 20, seed, rng)
        yield _draw_refined_blocks(16, 32, 5, seed, rng)
        yield _draw_drifting_points(4000, 24, 10, seed, rng)


def _make_mesh_edges(shape: tuple[int, ...]) -> Ints:
    number = np.arange(np.prod(shape)).reshape(shape)
    pairs = []
    for axis in range(len(shape)):
        ahead = np.moveaxis(number, axis, 0)
        pairs.append(np.column_stack([ahead[:-1].ravel(), ahead[1:].ravel()]))
    return np.concatenate(pairs)


def _draw_hot_spot(
    side: int, ranks: int, periods: int, seed: int, rng: np.random.Generator
) -> Tasks:
    """Draw a square of cells; the load peaks at a point that moves in a circle."""
    y, x = np.mgrid[:side, :side] / side
    begin = rng.uniform(0, 2 * np.pi)
    loads = []
    for step in range(STEPS):
        turn = begin + 2 * np.pi * step / 20
        away = (x - 0.5 - 0.3 * np.cos(turn)) ** 2 + (y - 0.5 - 0.3 * np.sin(turn)) ** 2
        loads.append(np.rint(1000 * (1 + 4 * np.exp(-away / 0.02))).astype(int).ravel())
    edges = _make_mesh_edges((side, side))
    start = np.arange(side * side) // side * 4 // side * 4
    start += np.arange(side * side) % side * 4 // side
    even = np.full(side * side, 100)
    return Tasks(
        f"hot spot, {periods} periods",
        ranks,
        periods,
        seed,
        edges,
        np.full(len(edges), 100),
        even,
        start,
        loads,
    )


def _draw_refined_blocks(
    side: int, ranks: int, periods: int, seed: int, rng: np.random.Generator
) -> Tasks:
    """Draw a cube of blocks that are refined up to two times near a moving plane.

    A refined block has eight times the cells, so loads and sizes differ.
    """
    place = np.mgrid[:side, :side, :side].reshape(3, -1).T / side
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    across = place @ normal
    at = np.quantile(across, np.linspace(0.3, 0.6, STEPS))
    levels = [np.clip(3 - np.abs(across - one) / 0.05, 0, 2).astype(int) for one in at]
    loads = [1000 * 8**level for level in levels]
    edges = _make_mesh_edges((side, side, side))
    start = np.arange(side**3) // (side**3 // ranks)
    return Tasks(
        "refined blocks",
        ranks,
        periods,
        seed,
        edges,
        np.full(len(edges), 500),
        100 * 8 ** levels[0],
        start,
        loads,
    )


def _draw_drifting_points(
    count: int, ranks: int, periods: int, seed: int, rng: np.random.Generator
) -> Tasks:
    """Draw points that are linked to near points, with random drifts of loads."""
    place = rng.uniform(size=(count, 2))
    place = place[np.argsort(np.floor(place[:, 0] * 6) * 10 + place[:, 1])]
    cell = np.floor(place * 40).astype(int)
    near: dict[tuple[int, int], list[int]] = {}
    for i, (x, y) in enumerate(cell.tolist()):
        near.setdefault((x, y), []).append(i)
    pairs = []
    for i, (x, y) in enumerate(cell.tolist()):
        around = [
            j
            for a in (x - 1, x, x + 1)
            for b in (y - 1, y, y + 1)
            for j in near.get((a, b), ())
            if j > i and np.sum((place[i] - place[j]) ** 2) < 0.025**2
        ]
        pairs += [(i, j) for j in around]
    edges = np.array(pairs)
    loads = [rng.exponential(1000, count)]
    for _ in range(STEPS - 1):
        drift = loads[-1] * np.exp(rng.normal(0, 0.3, count))
        loads.append(np.minimum(drift, 8000))
    return Tasks(
        "drifting points",
        ranks,
        periods,
        seed,
        edges,
        rng.integers(10, 200, len(edges)),
        rng.integers(50, 500, count),
        np.arange(count) * ranks // count,
        [np.rint(load).astype(int) + 1 for load in loads],
    )


def ours(tasks: Tasks, loads: Ints, owners: Ints) -> Ints:
    """Choose owners by the method repartition."""
    found = balance_weighted(
        loads.astype(float),
        tasks.sizes,
        owners,
        tasks.ranks,
        tolerance=TOLERANCE,
        graph=tasks.graph(),
        periods=tasks.periods,
    )
    return found.owners.astype(np.int64)


def choose_by_few_bytes(tasks: Tasks, loads: Ints, owners: Ints) -> Ints:
    """Choose owners by the method few-bytes."""
    found = balance_weighted(
        loads.astype(float), tasks.sizes, owners, tasks.ranks, tolerance=TOLERANCE
    )
    return found.owners.astype(np.int64)


def build_peer_programs(folder: Path) -> dict[str, OwnerChooser]:
    """Build the programs of all installed libraries."""
    scotch = ["gcc", "-I/usr/include/scotch", "-lscotch", "-lscotcherr", "-lm"]
    zoltan = ["mpicc", "-I/usr/include/trilinos", "-ltrilinos_zoltan", "-lm"]
    found = {}
    for name, (compiler, include, *libraries) in (
        ("scotch", scotch),
        ("zoltan", zoltan),
    ):
        source, program = HERE / f"{name}_repart.c", folder / name
        if shutil.which(compiler) is None:
            continue
        files = [str(source), "-o", str(program)]
        command = [compiler, "-O2", include, *files, *libraries]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        if built.returncode == 0:
            found[name] = _make_chooser(program)
        else:
            print(f"{name} is left out: {built.stderr.strip().splitlines()[0]}")
    return found


def _make_chooser(program: Path) -> OwnerChooser:
    def choose(tasks: Tasks, loads: Ints, owners: Ints) -> Ints:
        graph = tasks.graph().symmetric()
        first, peer = np.asarray(graph.first), np.asarray(graph.peer)
        head = [len(loads), len(peer), tasks.ranks, tasks.periods, tasks.seed]
        arrays = [first, peer, graph.bytes, loads, tasks.sizes, owners]
        lines = [" ".join(map(str, [*head, TOLERANCE]))]
        lines += [" ".join(map(str, np.asarray(one).tolist())) for one in arrays]
        output = subprocess.run(
            [program],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=True,
        )
        return np.array(output.stdout.split(), np.int64)

    return choose


def measure(tasks: Tasks, choose: OwnerChooser) -> Run:
    """Run a program on the steps of a sequence."""
    owners = tasks.start
    cost = moved_bytes = bound = 0
    imbalance = 1.0
    began = time.perf_counter()
    for loads in tasks.loads:
        least = balance_weighted(
            loads.astype(float), tasks.sizes, owners, tasks.ranks, tolerance=TOLERANCE
        ).least_bytes
        after = choose(tasks, loads, owners)
        ends = after[tasks.edges]
        cut = int(tasks.bytes[ends[:, 0] != ends[:, 1]].sum())
        moved = int(tasks.sizes[after != owners].sum())
        cost += tasks.periods * cut + moved
        moved_bytes += moved
        bound += least
        by_rank = np.bincount(after, loads, minlength=tasks.ranks)
        imbalance = max(imbalance, float(by_rank.max() / by_rank.mean()))
        owners = after
    seconds = time.perf_counter() - began
    return Run(cost, imbalance, moved_bytes / max(bound, 1), seconds)


def compare(seeds: int) -> list[tuple[Tasks, dict[str, Run]]]:
    """Measure all programs on all sequences."""
    with tempfile.TemporaryDirectory() as name:
        choices = {
            "few-bytes": choose_by_few_bytes,
            "ours": ours,
            **build_peer_programs(Path(name)),
        }
        return [
            (tasks, {name: measure(tasks, choose) for name, choose in choices.items()})
            for tasks in sequences(seeds)
        ]
