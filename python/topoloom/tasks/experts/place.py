# SPDX-License-Identifier: BSD-3-Clause
"""Places experts on GPUs: minimizes nodes per token, with a load limit per GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Allocation, Error, measure_experts, place_experts
from topoloom.support.gain import gain
from topoloom.support.parameter_error import check_int64
from topoloom.tasks.experts.engines import Engine
from topoloom.tasks.experts.gpu_nodes import find_gpu_nodes
from topoloom.tasks.experts.routing import ExpertRouting
from topoloom.tasks.search import UNLIMITED, Search

if TYPE_CHECKING:
    from topoloom.documents.ai import ExpertCostFields, ExpertsDocument, TriedSlack

ExpertSlots = NDArray[np.uint32]


class ExpertCost(NamedTuple):
    """The cost of a placement, averaged over the layers.

    Attributes
    ----------
    visits
        Remote nodes per token; without recorded tokens, the share of choices that leave
        the token's node.
    load
        Load of the busiest GPU divided by the mean; loads count tokens if known.
    load_worst
        This ratio in the worst layer.
    """

    visits: float
    load: float
    load_worst: float


class SlackCost(NamedTuple):
    """The cost of placements with a given load slack, averaged over some layers.

    Attributes
    ----------
    slack
        Share by which the busiest GPU's load may exceed the load in the most even
        placement.
    visits, load
        As in `ExpertCost`.
    step
        Step time relative to that with the smallest slack, for which sending to other
        nodes and computing are assumed to take equally long.
    """

    slack: float
    visits: float
    load: float
    step: float


#: Default slacks to compare. The first slack balances GPUs as evenly as EPLB.
SLACKS = (0.01, 0.05, 0.1, 0.2)

#: Required gain for a larger slack: with few tokens, step times have errors of some
#: percent.
WORTH = 0.02


class PlacedExperts(NamedTuple):
    """A placement of experts on GPUs, and two common placements for comparison.

    Attributes
    ----------
    routing, nodes, nearest
        Loads and tokens; the node of each GPU; whether tokens are sent to replicas on
        their own node if possible.
    slack
        Share by which the busiest GPU's load may exceed the load in the most even
        placement.
    tried
        The compared slacks with their costs; empty if the slack was given.
    in_order, by_load, best : uint32 arrays of shape ``(layers, slots)``
        Experts by slot, ordered by GPU. `in_order` has expert i in slot i; the first
        experts are also the redundant experts. `by_load` balances only loads; `best`
        minimizes visits.
    """

    routing: ExpertRouting
    nodes: NDArray[np.uint32]
    nearest: bool
    slack: float
    tried: tuple[SlackCost, ...]
    in_order: ExpertSlots
    by_load: ExpertSlots
    best: ExpertSlots

    @property
    def redundant_count(self) -> int:
        """The number of redundant experts per layer."""
        return int(self.best.shape[1] - self.routing.loads.shape[1])

    def cost(self, experts_by_slot: ExpertSlots) -> ExpertCost:
        """Compute the cost of a placement with tokens that the search did not use."""
        part = experts_by_slot[self.routing.layers]
        return _compute_cost(self.routing, self.nodes, part, self.nearest)

    @property
    def visits_at_double_load(self) -> float:
        """Visits with a slack of 1, which doubles the load; runs another search."""
        routing, layers = self.routing, self.routing.layers
        _, held = _search_placements(
            routing, self.nodes, self.slots_per_gpu, self.nearest, 1.0, UNLIMITED
        )
        loose = self.best.copy()
        loose[layers] = held
        return self.cost(loose).visits

    @property
    def slots_per_gpu(self) -> int:
        """The number of slots per GPU."""
        return int(self.best.shape[1]) // len(self.nodes)

    @property
    def visits_lower_bound(self) -> float | None:
        """A lower bound on visits; None with recorded tokens, or without `nearest`.

        Each additional replica makes an expert local to at most one more node.
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
        counts = np.clip(
            self.redundant_count - more * np.arange(loads.shape[1]), 0, more
        )
        return float((1 - share * (1 + ordered @ counts)).mean())

    def text(self, engine: Engine) -> str:
        """Format the best placement for an engine."""
        return engine.write(self.best, self.routing.layers, len(self.nodes))

    def document(self) -> ExpertsDocument:
        """Return the fields of the ``--json`` output."""
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
            "slack": self.slack,
            "slacks_tried": cast(
                "list[TriedSlack]", [one._asdict() for one in self.tried]
            ),
            "in_order": cast("ExpertCostFields", costs["in_order"]._asdict()),
            "by_load": cast("ExpertCostFields", costs["by_load"]._asdict()),
            "best": cast("ExpertCostFields", costs["best"]._asdict()),
            "gain_percent": gain(costs["by_load"].visits, costs["best"].visits),
            "visits_at_least": self.visits_lower_bound,
            "physical_to_logical_map": self.best.tolist(),
        }


def place_on_gpus(
    routing: ExpertRouting,
    allocation: Allocation,
    gpus: int,
    redundant: int = 0,
    *,
    nearest: bool = False,
    slack: float | None = None,
    search: Search = UNLIMITED,
) -> PlacedExperts:
    """Place experts on the first GPUs of an allocation.

    Parameters
    ----------
    routing
        Loads, and tokens if recorded; the search uses every second token.
    gpus, redundant
        Number of expert-parallel ranks, and of redundant experts.
    nearest
        Whether tokens are sent to a replica on their own node if one exists.
    slack
        Share by which the busiest GPU's load may exceed the load in the most even
        placement. By default, the value of `SLACKS` with the shortest step in
        `SlackCost`. The smallest slack is preferred unless another is faster by
        `WORTH`.
    search
        Seed and number of threads.

    Raises
    ------
    Error
        If there are too few GPUs, or slots do not divide evenly among them.
    """
    experts = routing.loads.shape[1]
    check_int64("ep", gpus, 1)
    check_int64("redundant", redundant, 0)
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
            f"a GPU stores an expert once, so at most {experts * (gpus - 1)} are useful"
        )
    nodes = find_gpu_nodes(allocation, gpus)
    layers = routing.layers
    tried: tuple[SlackCost, ...] = ()
    if slack is None:
        if len(np.unique(nodes)) > 1 and (routing.topk_ids is not None or nearest):
            tried = _try_slacks(routing, nodes, slots, nearest, search)
        slack = _choose_slack(tried)
    even, best = _search_placements(routing, nodes, slots, nearest, slack, search)
    row = (np.arange(slots * gpus) % experts).astype(np.uint32)
    in_order = np.tile(row, (len(routing.loads), 1))
    placed = []
    for part in (even, best):
        all_layers = in_order.copy()
        all_layers[layers] = part
        placed.append(all_layers)
    return PlacedExperts(routing, nodes, nearest, slack, tried, in_order, *placed)


def _choose_slack(tried: Sequence[SlackCost]) -> float:
    """Choose the slack with the shortest step."""
    best = min(tried, key=lambda one: one.step, default=None)
    return best.slack if best is not None and best.step < 1 - WORTH else SLACKS[0]


def _try_slacks(
    routing: ExpertRouting,
    nodes: NDArray[np.uint32],
    slots: int,
    nearest: bool,
    search: Search,
) -> tuple[SlackCost, ...]:
    """Place a few evenly spaced layers with each of `SLACKS`; return the costs."""
    part = routing.sample_layers(3)
    found: list[SlackCost] = []
    for slack in SLACKS:
        _, held = _search_placements(part, nodes, slots, nearest, slack, search)
        cost = _compute_cost(part, nodes, held, nearest)
        first = found[0] if found else cost
        sent = cost.visits / first.visits if first.visits > 0 else 1.0
        step = (sent + cost.load / first.load) / 2 if first.load > 0 else sent
        found.append(SlackCost(slack, cost.visits, cost.load, step))
    return tuple(found)


def _compute_cost(
    routing: ExpertRouting,
    nodes: NDArray[np.uint32],
    experts_by_slot: ExpertSlots,
    nearest: bool,
) -> ExpertCost:
    """Compute the cost of a placement of the layers with experts."""
    rows = measure_experts(
        routing.evaluation_loads,
        nodes,
        experts_by_slot,
        routing.select_half(1),
        nearest=nearest,
    )
    load = rows[:, 1] / np.where(rows[:, 2] > 0, rows[:, 2], 1)
    return ExpertCost(float(rows[:, 0].mean()), float(load.mean()), float(load.max()))


def _search_placements(
    routing: ExpertRouting,
    nodes: NDArray[np.uint32],
    slots: int,
    nearest: bool,
    slack: float,
    search: Search,
) -> tuple[ExpertSlots, ExpertSlots]:
    """Place the layers that have experts twice: by loads only, and for few visits."""
    tokens = routing.topk_ids
    even, best = place_experts(
        routing.search_loads,
        nodes,
        slots,
        None if tokens is None else tokens[routing.layers].reshape(-1, tokens.shape[2]),
        nearest=nearest,
        slack=slack,
        seed=search.seed,
        threads=search.threads,
    )
    return even, best
