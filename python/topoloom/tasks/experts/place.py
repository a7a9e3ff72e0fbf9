# SPDX-License-Identifier: BSD-3-Clause
"""Places experts on GPUs: few nodes visited per token, and no GPU over a cap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Allocation, Error, measure_experts, place_experts
from topoloom.support.gain import gain
from topoloom.tasks.experts.engines import Engine
from topoloom.tasks.experts.gpu_nodes import gpu_nodes
from topoloom.tasks.experts.routing import ExpertRouting

Held = NDArray[np.uint32]


class ExpertCost(NamedTuple):
    """What a placement costs, on average of the layers.

    Attributes
    ----------
    visits
        Other nodes that a token visits, each once; where no tokens are known, the
        share of choices that leave the token's node.
    load
        Of the busiest GPU over the mean: of the same tokens, or of the loads alone.
    load_worst
        The same in the worst layer.
    """

    visits: float
    load: float
    load_worst: float


class PlacedExperts(NamedTuple):
    """Experts on GPUs, beside what is usual.

    Attributes
    ----------
    routing, nodes, nearest
        What they were placed for: loads and tokens, the node of each GPU, and whether
        replicas on the own node are preferred.
    in_order, by_load, best : uint32 arrays of shape ``(layers, slots)``
        Experts slot by slot, GPU by GPU: slot i has expert i, and redundant ones are
        the first again; by loads alone; for few visits.
    """

    routing: ExpertRouting
    nodes: NDArray[np.uint32]
    nearest: bool
    in_order: Held
    by_load: Held
    best: Held

    @property
    def redundant(self) -> int:
        """Count the slots beyond one for each expert."""
        return int(self.best.shape[1] - self.routing.loads.shape[1])

    def cost(self, held: Held) -> ExpertCost:
        """Measure a placement, on tokens that the search has not seen."""
        layers = self.routing.layers
        rows = measure_experts(
            self.routing.measured_loads,
            self.nodes,
            held[layers],
            self.routing.half(1),
            nearest=self.nearest,
        )
        load = rows[:, 1] / np.where(rows[:, 2] > 0, rows[:, 2], 1)
        return ExpertCost(
            float(rows[:, 0].mean()), float(load.mean()), float(load.max())
        )

    @property
    def unbound(self) -> float:
        """What tokens would visit if the busiest GPU might have twice the load.

        Searched anew, and measured as `cost`.
        """
        routing, layers = self.routing, self.routing.layers
        _, held = _searched(routing, self.nodes, self.slots, self.nearest, 1.0, 1)
        loose = self.best.copy()
        loose[layers] = held
        return self.cost(loose).visits

    @property
    def slots(self) -> int:
        """Count the slots of a GPU."""
        return int(self.best.shape[1]) // len(self.nodes)

    @property
    def least(self) -> float | None:
        """What no placement in these slots can be below, where that is known.

        Without tokens, each further replica keeps at most the tokens of one more node.
        """
        if self.routing.topk_ids is not None:
            return None
        sizes = np.bincount(self.nodes)
        share = sizes.max() / sizes.sum()
        if not self.nearest:
            return None
        loads = self.routing.loads[self.routing.layers]
        ordered = -np.sort(-loads / loads.sum(axis=1, keepdims=True), axis=1)
        more = len(sizes) - 1
        counts = np.clip(self.redundant - more * np.arange(loads.shape[1]), 0, more)
        return float((1 - share * (1 + ordered @ counts)).mean())

    def text(self, engine: Engine) -> str:
        """Write the best placement as an engine reads it."""
        return engine.write(self.best, self.routing.layers, len(self.nodes))

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        costs = {
            name: self.cost(held)
            for name, held in (
                ("in_order", self.in_order),
                ("by_load", self.by_load),
                ("best", self.best),
            )
        }
        return {
            "layers": self.routing.layers.tolist(),
            "experts": int(self.routing.loads.shape[1]),
            "gpus": len(self.nodes),
            "nodes": int(self.nodes.max()) + 1,
            "slots": int(self.best.shape[1]),
            "dispatch": "nearest" if self.nearest else "spread",
            "unit": "choices" if self.routing.topk_ids is None else "nodes per token",
            **{name: cost._asdict() for name, cost in costs.items()},
            "gain": gain(costs["by_load"].visits, costs["best"].visits),
            "least": self.least,
            "physical_to_logical_map": self.best.tolist(),
        }


def place_on_gpus(
    routing: ExpertRouting,
    allocation: Allocation,
    gpus: int,
    redundant: int = 0,
    *,
    nearest: bool = False,
    slack: float = 0.01,
    seed: int = 1,
) -> PlacedExperts:
    """Place experts on the first GPUs of an allocation.

    Parameters
    ----------
    routing
        Loads, and tokens if they are known; the search sees every second one.
    gpus, redundant
        Ranks of expert parallelism, and slots beyond one for each expert.
    nearest
        Whether a token goes to a replica on its own node where there is one.
    slack
        By which the busiest GPU may exceed that of the most even placement.

    Raises
    ------
    Error
        For GPUs that are not there, and slots that they do not divide.
    """
    experts = routing.loads.shape[1]
    if gpus < 1 or redundant < 0:
        raise Error("experts take 1 GPU or more, and 0 redundant ones or more")
    slots, rest = divmod(experts + redundant, gpus)
    if rest or not slots:
        least = max(redundant + gpus - rest if rest else 0, gpus - experts)
        fewer = f"{redundant - rest} or " if rest <= redundant and slots else ""
        raise Error(
            f"{experts} experts and {redundant} redundant ones do not divide among "
            f"{gpus} GPUs; {fewer}{least} redundant ones would"
        )
    if slots > experts:
        raise Error(
            f"{redundant} redundant experts are {slots} slots on each of {gpus} GPUs; "
            f"a GPU holds an expert once, so at most {experts * (gpus - 1)} are of use"
        )
    nodes = gpu_nodes(allocation, gpus)
    layers = routing.layers
    even, best = _searched(routing, nodes, slots, nearest, slack, seed)
    row = (np.arange(slots * gpus) % experts).astype(np.uint32)
    in_order = np.tile(row, (len(routing.loads), 1))
    placed = []
    for part in (even, best):
        all_layers = in_order.copy()
        all_layers[layers] = part
        placed.append(all_layers)
    return PlacedExperts(routing, nodes, nearest, in_order, *placed)


def _searched(
    routing: ExpertRouting,
    nodes: NDArray[np.uint32],
    slots: int,
    nearest: bool,
    slack: float,
    seed: int,
) -> tuple[Held, Held]:
    """Place by loads alone, and for few visits; the layers with experts only."""
    tokens = routing.topk_ids
    even, best = place_experts(
        routing.searched_loads,
        nodes,
        slots,
        None if tokens is None else tokens[routing.layers].reshape(-1, tokens.shape[2]),
        nearest=nearest,
        slack=slack,
        seed=seed,
    )
    return even, best
