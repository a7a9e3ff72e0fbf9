# SPDX-License-Identifier: BSD-3-Clause
"""Experts on GPUs: our placements compared with DeepSeek's EPLB."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import measure_experts, place_experts

JOB = Path(__file__).with_name("eplb_job.py")
SOURCE = "sglang/srt/eplb/eplb_algorithms/deepseek.py"

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Routing(NamedTuple):
    """Distribution of random tokens.

    `popular` and `topical` are standard deviations of logarithmic weights: of experts
    for all tokens, and for the tokens of a topic. If there are several `groups`, a
    token uses only its best 4 groups.
    """

    name: str
    popular: float
    topical: float
    groups: int = 1
    topics: int = 16


ROUTINGS = (
    Routing("even", 0, 0),
    Routing("topics", 0, 2),
    Routing("popular", 1, 0),
    Routing("popular, topics", 1, 2),
    Routing("very popular", 1.5, 0),
    Routing("very popular, topics", 1.5, 2),
    Routing("groups", 0.3, 0, groups=8),
    Routing("groups, popular, topics", 1, 2, groups=8),
)

EXPERTS, GPUS, NODES, CHOSEN, TOKENS = 256, 64, 8, 8, 4096


class PlacementCost(NamedTuple):
    """Cost of a placement of experts, averaged over layers."""

    visits: float  # visited nodes per token
    excess: float  # load of the busiest GPU over the mean, minus 1


class Row(NamedTuple):
    """Costs of EPLB's placement and of ours, for a workload with one dispatch.

    Loads of `ours` exceed our most balanced placement by 1 % at most; loads of
    `matched` exceed EPLB's by 1 % at most.
    """

    routing: str
    known: str
    dispatch: str
    hottest: float  # load of the busiest expert over the mean
    theirs: PlacementCost
    ours: PlacementCost
    matched: PlacementCost

    def saving(self, placed: PlacementCost) -> float:
        """Return the share of EPLB's visits that a placement saves."""
        return 1 - placed.visits / self.theirs.visits


def draw(
    routing: Routing, layers: int, seed: int = 1, tokens: int = TOKENS
) -> Integers:
    """Draw random tokens' experts, as an array ``(layers, tokens, chosen)``."""
    random = np.random.default_rng(seed)
    found = np.empty((layers, tokens, CHOSEN), np.int64)
    for layer in found:
        common = routing.popular * random.standard_normal(EXPERTS)
        own = routing.topical * random.standard_normal((routing.topics, EXPERTS))
        topic = random.integers(routing.topics, size=tokens)
        score = (common + own)[topic] + random.gumbel(size=(tokens, EXPERTS))
        if routing.groups > 1:
            by_group = score.reshape(tokens, routing.groups, -1)
            best = np.sort(by_group, axis=2)[:, :, -2:].sum(axis=2)
            worst = np.argsort(best, axis=1)[:, : routing.groups - 4]
            np.put_along_axis(by_group, worst[:, :, None], -np.inf, axis=1)
        layer[:] = np.argpartition(-score, CHOSEN, axis=1)[:, :CHOSEN]
    return found


def count(choices: Integers) -> Floats:
    """Count the tokens per layer and expert."""
    return np.stack(
        [np.bincount(one.ravel(), minlength=EXPERTS) for one in choices]
    ).astype(float)


def compare(python: Path, wheel: Path, layers: int, redundant: int) -> list[Row]:
    """Place all workloads with EPLB, and with Topoloom by tokens or by loads alone."""
    rows = []
    nodes = np.repeat(np.arange(NODES), GPUS // NODES)
    slots = (EXPERTS + redundant) // GPUS
    for routing in ROUTINGS:
        choices = draw(routing, layers)
        loads = count(choices)
        theirs = run_eplb(python, wheel, loads, slots * GPUS, routing.groups)
        hottest = float((loads.max(axis=1) / loads.mean(axis=1)).mean())
        for known, nearest in (("tokens", False), ("tokens", True), ("loads", True)):
            seen = choices if known == "tokens" else None
            job = Job(loads, nodes, slots, seen, nearest)
            ours = job.place(0.01)
            dispatch = "nearest" if nearest else "spread"
            costs = [
                job.cost(one) for one in (theirs, ours, job.place_like_eplb(theirs))
            ]
            rows.append(Row(routing.name, known, dispatch, hottest, *costs))
    return rows


class Job(NamedTuple):
    """Expert loads, optional tokens, and the GPUs of a placement problem."""

    loads: Floats
    nodes: Integers
    slots: int
    choices: Integers | None
    nearest: bool

    def take_layer(self, number: int) -> Job:
        """Return the job of a single layer."""
        part = slice(number, number + 1)
        choices = None if self.choices is None else self.choices[part]
        return self._replace(loads=self.loads[part], choices=choices)

    def place(self, slack: float) -> NDArray[np.uint32]:
        """Place the experts by Topoloom; return the replicas' slots."""
        tokens = None if self.choices is None else self.choices.reshape(-1, CHOSEN)
        return place_experts(
            self.loads,
            self.nodes,
            self.slots,
            tokens,
            nearest=self.nearest,
            slack=slack,
        )[1]

    def measure(self, held: NDArray[np.uint32]) -> Floats:
        """Measure a placement with tokens that the search did not use."""
        unseen = None
        if self.choices is not None:
            unseen = self.choices[:, 1::2].reshape(-1, CHOSEN)
        return measure_experts(
            self.loads, self.nodes, held, unseen, nearest=self.nearest
        )

    def cost(self, held: NDArray[np.uint32]) -> PlacementCost:
        """Return the cost of a placement, averaged over layers."""
        return _average_cost(self.measure(held))

    def place_like_eplb(self, theirs: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Place layer by layer; the busiest GPU has at most EPLB's load plus 1 %."""
        found = []
        for number in range(len(self.loads)):
            one = self.take_layer(number)
            even, _ = place_experts(one.loads, one.nodes, one.slots)
            least = measure_experts(one.loads, one.nodes, even)[0, 1]
            most = 1.01 * one.measure(theirs[number : number + 1])[0, 1]
            found.append(one.place(float(np.clip(most / least - 1, 0, 1))))
        return np.concatenate(found)


def _average_cost(rows: Floats) -> PlacementCost:
    excess = float((rows[:, 1] / rows[:, 2]).mean()) - 1
    return PlacementCost(float(rows[:, 0].mean()), excess)


def run_eplb(
    python: Path, wheel: Path, loads: Floats, replicas: int, groups: int
) -> NDArray[np.uint32]:
    """Run EPLB; it keeps groups of experts on one node if possible."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with zipfile.ZipFile(wheel) as file:
            (folder / "deepseek.py").write_bytes(file.read(SOURCE))
        job = {"replicas": replicas, "groups": groups, "nodes": NODES, "gpus": GPUS}
        np.savez(folder / "given.npz", loads=loads, jobs=json.dumps({"held": job}))
        command = [python, JOB, folder, folder / "given.npz", folder / "found.npz"]
        subprocess.run(command, check=True)
        with np.load(folder / "found.npz") as found:
            return np.asarray(found["held"], np.uint32)


def measure_placement_seconds(layers: int) -> float:
    """Return the CPU seconds to place a model of many layers for SGLang's dispatch."""
    choices = draw(ROUTINGS[3], layers)
    nodes = np.repeat(np.arange(NODES), GPUS // NODES)
    job = Job(count(choices), nodes, (EXPERTS + 64) // GPUS, choices, True)
    started = time.process_time()
    job.place(0.01)
    return time.process_time() - started


def experts_table(rows: Sequence[Row]) -> str:
    """Format the comparison as Markdown."""
    lines = [
        "| routing | busiest expert | known | dispatch | EPLB | load | ours | load "
        "| saved | at EPLB's load | saved |",
        "| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.routing} | {row.hottest:.1f} x | {row.known} | {row.dispatch} "
        f"| {row.theirs.visits:.2f} | {row.theirs.excess:+.1%} "
        f"| {row.ours.visits:.2f} | {row.ours.excess:+.1%} "
        f"| {row.saving(row.ours):.1%} "
        f"| {row.matched.visits:.2f} | {row.saving(row.matched):.1%} |"
        for row in rows
    ]
    return "\n".join(lines).replace("%", " %") + "\n"
