# SPDX-License-Identifier: BSD-3-Clause
"""Arguments for public functions: fitting, made for another machine, or anything."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from public_functions import Parameter

from topoloom import PlacementFile, _core, save_graph, save_placement
from topoloom.allocations import save_allocation
from topoloom.graphs import (
    QapProblem,
    QapSolution,
    Traffic,
    save_qap,
    save_qap_solution,
)
from topoloom.machines import save_machine
from topoloom.schedules import Call, RankSlots

MACHINES = (
    "torus:4x4",
    "torus:4x4+down:0",
    "mesh:3+down:0-1",
    "mesh:4x4",
    "torus:2x3x2+node:2:2,distance=1:3",
    "mesh:5+down:2",
    "fattree:4:4",
    "tree:4:4,bandwidth=1GB/s:2GB/s,latency=1us",
    "dragonfly:3x2,nodes=2,routing=ugal,bandwidth=10GB/s",
    "graph:4+1:0-4,1-4,2>4,4>2,3-4,0-1",
    "ring:8",
    "rails:2:2:2,bandwidth=50GB/s,bandwidth.nvlink=450GB/s",
    "dragonfly:3x2,nodes=2+down:v0",
    "dragonflyplus:3x2x2,nodes=2",
    "graph:2+2:0-2,1-3,2-3,routing=ecmp,table=2:ba,table=3:ab",
)
_SMALL = (-2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 17)
_HUGE = (2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**64, 2**70, -(2**63))
_FLOATS = (0.0, 0.5, 1.0, 5.9, -0.5, 1e-300, 1e300, math.nan, math.inf, -math.inf)
_TEXTS = (
    "",
    "auto",
    "torus:4x4",
    "time",
    "congestion",
    "all-gather",
    "a\nb",
    "\0",
    "ü",
)
_FILES = (
    *("g.npz", "p.json", "q.dat", "q.sln", "m.toml", "a.txt"),
    *("junk", "empty", "folder", "none/x"),
)


class Drawn:
    """Arguments, drawn from what was made before and from what is wrong anywhere."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        staged = _core.MessageCosts()
        staged.beta_em = staged.delta = 1e-10
        self.machines = [_core.Machine(text) for text in MACHINES]
        self.allocations = [self._allocation(m) for m in self.machines for _ in "12"]
        self.allocations = [a for a in self.allocations if a is not None]
        self.graphs = [
            _core.ring(4),
            _core.ring(16),
            _core.stencil([4, 4], 5, bytes=1000),
            _core.all_to_all(8, 2**40),
            _core.random_geometric(12, seed=3),
            _core.CommGraph.from_edges(3, [0, 1], [1, 1], [5, 5], load=[0.5, 2, 0.1]),
            _core.CommGraph.from_edges(0, [], [], []),
        ]
        self.pools: dict[str, list[Any]] = {
            "Machine": self.machines,
            "Allocation": self.allocations,
            "CommGraph": self.graphs,
            "Placement": [self._placement() for _ in range(24)],
            "Sharing": [_core.Sharing(0.5), _core.Sharing(capacities=[3, 2, 2, 1])],
            "Objective": [_core.Objective(name) for name in ("time", "congestion")],
            "Step": [_core.Step.shift(4, 1), _core.Step([(0, 1), (7, 2)])],
            "Schedule": [
                _core.Schedule("ring", "all-gather", 8, 64),
                _core.Schedule("binomial", "broadcast", 4, 64, 2),
                _core.Schedule("at-once", "all-to-all", 16, 2**40),
            ],
            "NetworkModel": [
                _core.NetworkModel.loggp(1e-6, 1e-6, 1e-6, 1e-9),
                _core.NetworkModel.largest([(1e-6, 1e-9, None)], staged),
                _core.NetworkModel.regimes([(1e-6, 1e-9, 100), (2e-6, 1e-10, None)]),
            ],
            "MessageCosts": [_core.MessageCosts()],
            "NodeMap": [_core.NodeMap([2, 3], [0, 0, 1, 1, 2, 2])],
            "GridLinks": [_core.GridLinks(latency_s=1e-6, outer_s_per_byte=1e-9)],
            "CombiningCosts": [_core.CombiningCosts(alpha=1e-6, beta=1e-9)],
            "SpanningTree": [
                tree
                for machine in (0, 3, 6)
                for tree in _core.spanning_trees(
                    self.machines[machine], "routes", [(0, [1, 5]), (3, [3])]
                )
            ],
        }

        self._add_what_python_makes()

    def _add_what_python_makes(self) -> None:
        call = Call("all-gather", 8, 64)
        matrix = np.arange(9).reshape(3, 3)
        allocation = self.allocations[0]
        placement = _core.Placement(allocation, [allocation.slots[0]])
        placed = PlacementFile(allocation.machine, allocation, placement)
        self.pools |= {
            "Call": [call, call._replace(operation="broadcast"), Call("scan", 3, 8)],
            "RankSlots": [RankSlots(allocation, placement)],
            "QapProblem": [QapProblem(matrix, matrix.T)],
            "QapSolution": [QapSolution([2, 0, 1], 5)],
            "Traffic": [Traffic(("x",), "ring", 8), Traffic(("x", "y"), "chain", 9)],
            "PlacementFile": [placed],
        }
        save_graph("g.npz", self.graphs[2])
        save_placement("p.json", placed)
        save_qap("q.dat", self.pools["QapProblem"][0])
        save_qap_solution("q.sln", self.pools["QapSolution"][0])
        save_machine("m.toml", self.machines[0])
        save_allocation("a.txt", allocation, "title")
        Path("junk").write_bytes(bytes(range(256)))
        Path("empty").touch()
        Path("folder").mkdir(exist_ok=True)

    def path(self) -> str:
        """Draw a file that was written before, maybe changed, or none."""
        name = self.rng.choice(_FILES)
        whole = Path(name)
        if self.rng.random() < 0.3 and whole.is_file() and whole.stat().st_size > 0:
            data = bytearray(whole.read_bytes())
            for _ in range(self.rng.randrange(1, 4)):
                data[self.rng.randrange(len(data))] = self.rng.randrange(256)
            Path("changed" + whole.suffix).write_bytes(data)
            return "changed" + whole.suffix
        return name

    def _allocation(self, machine: Any) -> Any:
        nodes = self.rng.sample(list(machine.nodes_up), len(machine.nodes_up))
        for count in (self.rng.randint(1, len(nodes)), 1):
            try:
                return _core.Allocation(machine, nodes[:count])
            except ValueError:
                continue
        return None

    def _placement(self) -> Any:
        allocation = self.rng.choice(self.allocations)
        slots = list(allocation.slots)
        if self.rng.random() < 0.3:
            ranks = [self.rng.choice(slots) for _ in range(self.rng.randint(1, 16))]
            return _core.Placement(allocation, ranks, shared=True)
        count = self.rng.randint(1, len(slots))
        return _core.Placement(allocation, self.rng.sample(slots, count))

    def argument(self, parameter: Parameter) -> Any:
        """Something fitting, or anything."""
        if self.rng.random() < 0.1:
            return self.anything()
        return self.fitting(parameter)

    def scenario(self, function: str) -> dict[str, Any]:
        """Arguments that go together, where those of the function have to."""
        rng = self.rng
        if function == "CommGraph.from_edges":
            edges = rng.randrange(9)
            ranks = [[rng.randrange(6) for _ in range(edges)] for _ in "12345"]
            names = ("source", "target", "bytes", "messages")
            return {
                "rank_count": 6,
                "load": ranks[4][:6],
                **dict(zip(names, ranks, strict=False)),
            }
        if function == "CommGraph.from_csr":
            first = [0, 2, 3, 3]
            return {"first": first, "peer": [1, 2, 0], "bytes": [5, 6, 7]}
        if function == "solve_qap":
            order = rng.randrange(5)
            matrix = np.arange(order * order).reshape(order, order)
            return {"a": matrix, "b": matrix.T % 3}
        if function in ("binomial_order", "binomial_scatter_steps", "find_cost_groups"):
            order = rng.randrange(1, 7)
            costs = np.array(
                [[rng.random() for _ in range(order)] for _ in range(order)]
            )
            np.fill_diagonal(costs, 0)
            method = rng.choice(("standard", "fastest-edge-first", "channel-aware"))
            return {
                "costs": costs,
                "order": rng.sample(range(order), order),
                "method": method,
            }
        if function in ("Schedule", "Step.of_schedule"):
            one = rng.choice(_core.schedules())
            operation = rng.choice(one["operations"])
            return {
                "name": one["name"],
                "schedule": one["name"],
                "operation": operation,
            }
        if function == "stencil":
            axes = rng.randrange(1, 4)
            return {
                "grid": [rng.randrange(1, 5) for _ in range(axes)],
                "points": rng.choice((2 * axes + 1, 3**axes)),
            }
        if function == "NodeMap":
            extents = [rng.randrange(1, 4) for _ in range(rng.randrange(1, 4))]
            cells = math.prod(extents)
            return {
                "extents": extents,
                "node_of_cell": [rng.randrange(cells) for _ in range(cells)],
            }
        if function == "nearest_extents":
            return {"extents": [4, 4], "cells": rng.randrange(1, 100)}
        if function == "virtual_mesh_receivers":
            return {
                "ranks": rng.randrange(1, 40),
                "axes": rng.choice((2, 3)),
                "rank": 0,
            }
        return self._on_machine()

    def _on_machine(self) -> dict[str, Any]:
        """Draw a graph on an allocation, and what there is on its machine."""
        rng = self.rng
        allocation = rng.choice(self.allocations)
        machine, slots = allocation.machine, list(allocation.slots)
        ranks = rng.randint(1, len(slots))
        graph = _core.ring(ranks, rng.choice((1, 1000, 2**40)))
        nodes = list(allocation.nodes)
        pair = (rng.randrange(len(nodes)), rng.randrange(len(nodes)))
        schedule = _core.Schedule("ring", "all-gather", ranks, 64)
        return {
            "machine": machine,
            "Machine": machine,
            "allocation": allocation,
            "free": allocation,
            "graph": graph,
            "phases": rng.choice(([], [graph], [graph, graph], [_core.ring(ranks)])),
            "placement": _core.Placement(allocation, rng.sample(slots, ranks)),
            "background": [rng.random() for _ in range(machine.link_count)],
            "previous": rng.sample([-1, *slots], ranks),
            "Schedule": schedule,
            "round": rng.randrange(max(1, schedule.rounds)),
            "nodes": nodes,
            "node_of_rank": nodes,
            "step": _core.Step([pair]),
            "steps": [_core.Step.shift(len(nodes), 1), _core.Step([pair])],
            "on_routes": rng.random() < 0.8,
            "node_a": rng.choice(nodes),
            "node_b": rng.choice(nodes),
            "multicasts": [(nodes[0], nodes)],
            "count": rng.randint(1, len(nodes)),
            "node_count": rng.randint(1, len(nodes)),
            "fragments": 1,
            "extents": [ranks],
            "traffic": [([0], "ring", 8)],
            "grid": [ranks],
        }

    def anything(self) -> Any:
        """Draw a value of any type."""
        rng = self.rng
        kind = rng.randrange(9)
        if kind == 0:
            return rng.choice(_HUGE)
        if kind == 1:
            return rng.choice(_SMALL)
        if kind == 2:
            return rng.choice(_FLOATS)
        if kind == 3:
            return rng.choice((*_TEXTS, None, True, b"abc", {}, {1: 2}, object(), len))
        if kind == 4:
            return rng.choice(rng.choice(list(self.pools.values())))
        if kind == 5:
            return [self.anything() for _ in range(rng.randrange(4))]
        return self.array()

    def array(self) -> Any:
        """Draw an array of any type and shape."""
        rng = self.rng
        size = rng.choice((0, 1, 2, 3, 4, 8, 16))
        values = [rng.choice((*_SMALL[1:], *range(size))) for _ in range(size)]
        kind = rng.randrange(8)
        if kind < 3:
            return values
        if kind == 3:
            return [
                rng.choice((*_FLOATS, *_HUGE)) if rng.random() < 0.3 else v
                for v in values
            ]
        types = (
            "i1",
            "u1",
            "i2",
            "u4",
            "i8",
            "u8",
            "f2",
            "f4",
            "f8",
            "g",
            ">i4",
            "?",
            "c16",
        )
        array = np.array([max(0, v) for v in values]).astype(rng.choice(types))
        if kind == 4:
            return np.array([rng.choice(_FLOATS) for _ in values])
        if kind == 5:
            return array.reshape(1, -1) if rng.random() < 0.5 else array[::-1]
        if kind == 6:
            return rng.sample(range(size), size)
        return array

    def fitting(self, parameter: Parameter) -> Any:
        """Draw what the name and the type ask for."""
        rng = self.rng
        name, kind = parameter.name, parameter.type
        if name == "traffic" and "Traffic" in kind:
            return rng.choices(self.pools["Traffic"], k=rng.randrange(3))
        if (
            name == "text"
            and "|" not in kind
            and "Machine" not in kind
            and rng.random() < 0.5
        ):
            return rng.choice(
                ("x=4,y=2", "x=4", "x:ring:8", "x,y:all-to-all:1KiB", "=", "x=0")
            )
        if name in _BY_NAME and "Costs" not in kind:
            return _BY_NAME[name](self)
        for of, pool in self.pools.items():
            if re.match(rf"(\w+\.)*{of}\b", kind.strip()):
                return rng.choice(pool)
            if re.search(rf"Sequence\[(\w+\.)*{of}\]", kind):
                return rng.choices(pool, k=rng.randrange(4))
        if "NDArray" in kind or "Sequence[int]" in kind or "Sequence[float]" in kind:
            return self.numbers()
        if "Sequence[tuple" in kind:
            return [
                (rng.randrange(9), rng.randrange(9)) for _ in range(rng.randrange(5))
            ]
        if "bool" in kind:
            return rng.random() < 0.5
        if "int" in kind:
            return rng.choice(_SMALL[2:])
        if "float" in kind:
            return rng.choice((0.0, 0.5, 1.0, 3.0, 1e-9))
        return rng.choice(_TEXTS)

    def numbers(self) -> Any:
        """Draw numbers that often are those of slots, nodes or ranks."""
        rng = self.rng
        size = rng.choice((1, 2, 3, 4, 6, 8, 16))
        if rng.random() < 0.5:
            return rng.sample(range(size + rng.randrange(3)), size)
        return np.array([rng.randrange(size) for _ in range(size)])

    def matrix(self) -> Any:
        """Draw a matrix, mostly square."""
        rng = self.rng
        rows = rng.randrange(6)
        columns = rows if rng.random() < 0.8 else rng.randrange(6)
        matrix = np.array(
            [[rng.randrange(9) for _ in range(columns)] for _ in range(rows)]
        )
        scaled = matrix.reshape(rows, columns) * rng.choice(
            (1, 1, 1, 0.5, 1e-6, -1, 2**60)
        )
        return scaled if rng.random() < 0.9 else scaled * math.nan


def _mapper(drawn: Drawn) -> str:
    names = [one["name"] for one in _core.mappers()]
    return drawn.rng.choice(
        ("auto", "block", f"block,{drawn.rng.choice(names)}", *names)
    )


def _traffic(drawn: Drawn) -> Any:
    rng = drawn.rng
    axes = [rng.randrange(3) for _ in range(rng.randrange(3))]
    return (
        axes,
        rng.choice(("ring", "all-to-all", "halving", "chain", "x")),
        2 ** rng.randrange(64),
    )


def _one_of(*values: Any) -> Callable[[Drawn], Any]:
    return lambda drawn: drawn.rng.choice(values)


_BY_NAME: dict[str, Callable[[Drawn], Any]] = {
    "path": lambda d: d.path() if d.rng.random() < 0.8 else "written",
    "source": lambda d: d.rng.choice((d.path(), "0-3", "1,2", "n[1-4]", d.numbers())),
    "mesh": _one_of({"x": 2, "y": 4}, {"x": 16}, {}, {"x": 0}, {"x": -1}, {1: 2}),
    "hosts": _one_of((), ("a", "b"), ["a", "a"], "ab", [1]),
    "sizes": lambda d: [2**i for i in range(d.rng.randrange(20))],
    "times": lambda d: [1e-6 * 2**i for i in range(d.rng.randrange(20))],
    "most": _one_of(0, 1, 100, 5000),
    "title": _one_of("", "a title"),
    "a": Drawn.matrix,
    "b": Drawn.matrix,
    "costs": lambda d: d.matrix(),
    "seconds": _one_of(0.01, 0.02, 0, -1, math.nan),
    "work": _one_of(1, 100, 1000, 20_000),
    "threads": _one_of(1, 2, 0, -3, 2**31 - 1),
    "mapper": _mapper,
    "objective": _one_of(
        "auto", "hop-bytes", "congestion", "time", "congestion-soft", "x"
    ),
    "text": _one_of(*MACHINES, "torus:4x4+down:99", "torus:0", "x:3"),
    "traffic": lambda d: [_traffic(d) for _ in range(d.rng.randrange(3))],
    "extents": lambda d: [
        d.rng.choice((0, 1, 2, 3, 4, 2**31)) for _ in range(d.rng.randrange(4))
    ],
    "grid": lambda d: [d.rng.randrange(5) for _ in range(d.rng.randrange(4))],
    "tile": lambda d: [d.rng.randrange(5) for _ in range(d.rng.randrange(4))],
    "cells": lambda d: [d.rng.randrange(5) for _ in range(d.rng.randrange(5))],
    "atoms": _one_of(0, 1, 100, 1000),
    "width": _one_of(16.0, 30.0, 0.0, -1.0, math.nan, math.inf),
    "degree": _one_of(0, 1, 3, 6, 100),
    "kind": _one_of("routes", "disjoint", "least-loaded", "last", "x"),
    "multicasts": lambda d: [
        (d.rng.randrange(18), d.numbers()) for _ in range(d.rng.randrange(3))
    ],
    "name": lambda d: d.rng.choice(
        [one["name"] for one in _core.schedules()] + ["time", "chain(segment=0)", "x"]
    ),
    "schedule": lambda d: d.rng.choice([one["name"] for one in _core.schedules()]),
    "operation": _one_of(
        "broadcast", "all-gather", "all-to-all", "scatter", "reduce", "scan", "x"
    ),
    "method": _one_of("standard", "fastest-edge-first", "channel-aware", "random", "x"),
    "strategy": _one_of("direct", "mesh", "grid", "hypercube", "x"),
    "collective": _one_of("broadcast", "reduce", "scatter", "gather", "x"),
    "order": lambda d: d.rng.choice(("dm", "cm", "bdm", "bcm", d.numbers())),
    "group": _one_of("column", "row", "orthogonalization", "x"),
    "lines": lambda d: d.rng.choice(
        (
            [(1e-6, 1e-9, None)],
            [(1e-6, 1e-9, 100), (1e-6, 1e-9, None)],
            [],
            [(math.nan, -1, 5)],
        )
    ),
    "progress": _one_of(None, lambda work: True, lambda work: False),
    "data": _one_of(
        b"", b"3 2\n2 3\n1\n1\n", b"0 1\n1 0\n", b"%%MatrixMarket\n1 1 1\n", b"\xff"
    ),
}
