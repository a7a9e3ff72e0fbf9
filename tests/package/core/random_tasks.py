# SPDX-License-Identifier: BSD-3-Clause
"""Arguments for tasks and pictures: problems, searches, files."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from topoloom import PlacementFile, _core
from topoloom.allocations.launch_order import LaunchOrder
from topoloom.figure.comparison import MeasureBars
from topoloom.machines import describe_machine
from topoloom.model import fit_model, load_model
from topoloom.nodes.node_parts import NodeParts
from topoloom.schedules import RankSlots
from topoloom.simulate.result import SimulationResult
from topoloom.tasks import AllocationSpec, LineSpeeds, Search
from topoloom.tasks.collectives.collective import CollectivePlatform
from topoloom.tasks.jobs.joint import Budget, Job, place_jointly
from topoloom.tasks.jobs.joint_files import LoadedJobs
from topoloom.tasks.objective import Objective
from topoloom.tasks.placement_problem import PlacementProblem
from topoloom.tasks.problem import Problem

_TEXTS = ("torus:4x4", "tree:4:4+node:2", "m.toml", "detec", "", "torus:4x4+down:0")


def make_task_pools(
    rng: random.Random, allocations: list[Any], graphs: list[Any]
) -> dict[str, list[Any]]:
    """Make arguments of tasks and pictures for several machines."""
    problems, given, placed = [], [], []
    for _ in range(8):
        allocation = rng.choice(allocations)
        slots = list(allocation.slots)
        graph = rng.choice([_core.ring(rng.randint(1, len(slots))), rng.choice(graphs)])
        count = min(graph.rank_count, len(slots)) or 1
        placement = _core.Placement(allocation, rng.sample(slots, count))
        file = PlacementFile(allocation.machine, allocation, placement)
        machine = allocation.machine
        problems.append(Problem(graph, machine, allocation, None, NodeParts()))
        given.append(PlacementProblem(graph, allocation, rng.choice((file, None))))
        placed.append(file)
    searches = [
        Search(work=work, threads=1, seed=seed)
        for work, seed in ((1, 0), (100, 1), (0, 1), (-1, 1), (500, -1), (9, 2**40))
    ]
    torus = allocations[0]
    machine = torus.machine
    jobs = [
        Job("a", _core.ring(2), _core.Allocation(machine, [0, 1, 2])),
        Job("b", _core.ring(3), _core.Allocation(machine, [5, 6, 7])),
        Job("", _core.ring(2), allocations[-1]),
    ]
    budgets = [Budget("block", work=50, threads=1), Budget("gge+swap", work=200)]
    file = load_model("qsnet")
    sizes = [1, 100, 1000, 10_000, 100_000]
    pools: dict[str, list[Any]] = {
        "Problem": problems,
        "PlacementProblem": given,
        "PlacementFile": placed,
        "Search": searches,
        "Where": [
            AllocationSpec(),
            AllocationSpec("0-3"),
            AllocationSpec("a.txt"),
            AllocationSpec(nodes=4, seed=2),
            AllocationSpec(nodes=-1),
            AllocationSpec(nodes=2**40, fragments=0),
            AllocationSpec(order=LaunchOrder(ranks_per_node=0)),
            AllocationSpec(
                order=LaunchOrder("x", cores_per_rank=-3, memory_per_rank=1)
            ),
        ],
        "Job": jobs,
        "LoadedJobs": [LoadedJobs(jobs[:2], None, {}, NodeParts())],
        "JointPlacement": [place_jointly(jobs[:2], Budget("block", work=10))],
        "Budget": budgets,
        "LineSpeeds": [
            LineSpeeds(),
            LineSpeeds(1e-6, 1e9, 1e10, 2),
            LineSpeeds(math.nan, -1.0, 0.0, 0),
        ],
        "CollectivePlatform": [
            CollectivePlatform(file.model),
            CollectivePlatform(None, RankSlots(torus, placed[0].placement)),
            CollectivePlatform(None),
        ],
        "MachineDescription": [
            describe_machine("torus:4x4"),
            describe_machine("frontier"),
        ],
        "ModelFile": [file, load_model("hdr")],
        "Fit": [fit_model(sizes, [1e-6 + size * 1e-9 for size in sizes])],
        "MeasureBars": [
            MeasureBars("hop-bytes", [1.0, 2.0], ["1", "2"]),
            MeasureBars("x", [], []),
            MeasureBars("y", [math.nan, -1], ["a", "b"]),
        ],
    }
    pools["TaskObjective"] = [Objective(name) for name in ("hop-bytes", "auto", "x")]
    return pools


def make_value_drawers(rng: random.Random) -> dict[str, Callable[[], Any]]:
    """Map each parameter name to a function that draws its value."""

    def choose_among(*values: Any) -> Callable[[], Any]:
        return lambda: rng.choice(values)

    mappers = ["block", "gge", "hilbert", "auto", "x", ""]
    return {
        "machine_text": choose_among(*_TEXTS),
        "graph_file": choose_among("g.npz", "junk", "empty", "none/x", "folder"),
        "action": choose_among("judge"),
        "free": choose_among(None, "0-7", "x", "99", ""),
        "title": choose_among("", "title", "a\nb", "$x_$"),
        "best": choose_among("block", "x"),
        "mappers": lambda: rng.sample(mappers, 2),
        "names": lambda: rng.sample(mappers, 2),
        "texts": choose_among(
            ["g.npz@0-3", "g.npz@4-7"], ["g.npz", "g.npz"], ["x@0"], [], ["@"]
        ),
        "background": choose_among(None, [], ["g.npz@0-3"], ["x"]),
        "mesh": choose_among({"x": 4, "y": 2}, {"x": 4}, {}, {"x": 0}, {"x": 2**40}),
        "roots": choose_among("1", "0", "all", "x", "-1", "9999999999999999999", "0-3"),
        "steps": choose_among("shift", "k-shift(k=4)", "x", "g.npz", ""),
        "find": choose_among(None, "order", "x"),
        "hosts": choose_among(
            (), ("a", "b"), [], ["a"] * 16, ("", ""), tuple("abcdefghijklmnop")
        ),
        "program": choose_among([], ["none-such"], [""], "x"),
        "placements": choose_among(
            [Path("p.json")], [], [Path("junk")], [Path("p.json")] * 9
        ),
        "output": choose_among(
            Path("o.html"), Path("o.npz"), Path("none/o"), Path("p.json")
        ),
        "pings": choose_among("junk", "a.txt", "none/x"),
        "simulate": choose_among(
            lambda machine, nodes, phases, progress: SimulationResult(
                [0.0] * len(phases)
            ),
            lambda *_, progress: SimulationResult([]),
        ),
    }


def draw_matching_task_arguments(
    function: str, pools: dict[str, list[Any]], rng: random.Random
) -> dict[str, Any]:
    """Draw arguments that match each other; return {} if they need not match."""
    if function.startswith("draw_"):
        values = [rng.random() for _ in range(2)]
        return {
            "path": rng.choice(("x.svg", "x.png", "x.pdf", "x.gif", "none/x.svg")),
            "mappers": ["block", "x"],
            "best": "x",
            "bars": [MeasureBars("title", values, ["1", "2"])],
            "hosts": (),
        }
    placed = [one for one in pools["PlacementProblem"] if one.file is not None]
    given = rng.choices(placed[:1], k=rng.randint(1, 2)) if placed else []
    tasks: dict[str, dict[str, Any]] = {
        "allocate_nodes": {
            "machine_text": "torus:4x4",
            "where": AllocationSpec(nodes=4),
            "free": None,
            "jobs": (),
        },
        "map_axes": {"mesh": {"x": 4, "y": 2}, "traffic": pools["Traffic"]},
        "place_jointly": {"jobs": pools["LoadedJobs"][0].jobs},
        "rank_collective": {
            "call": pools["Call"][0],
            "platform": pools["CollectivePlatform"][0],
        },
        "read_platform": {"model": "qsnet", "machine": None, "placement": None},
        "save_machine": {"path": "m2.toml", "node": NodeParts(), "allocated": ()},
        "load_jobs": {
            "texts": ["g.npz", "g.npz"],
            "described": pools["MachineDescription"][0],
        },
        "read_objective": {"name": "congestion", "background": None},
        "load_model": {"text": "hdr"},
        "fit_model": {"sizes": [1, 9, 80, 900], "times": [1, 2, 3, 4]},
        "save_jobs": {"directory": Path("jobs")},
        "simulate_placements": {"given": given, "names": ["a", "b"][: len(given)]},
    }
    placing = {
        "problem": rng.choice(pools["Problem"]),
        "objective": rng.choice(pools["TaskObjective"]),
        "mapper": rng.choice(("block", "gge+swap")),
        "names": ["block", "gge"],
        "previous": rng.choice((None, pools["PlacementFile"][0])),
    }
    loading = {
        "graph_file": "g.npz",
        "machine": "torus:4x4",
        "machine_text": "torus:4x4",
        "placement": rng.choice((None, "p.json")),
        "where": AllocationSpec(),
    }
    tasks |= {"map_ranks": placing, "compare_mappers": placing}
    tasks |= {"load_problem": loading, "load_placement_problem": loading}
    return tasks.get(function, {})
