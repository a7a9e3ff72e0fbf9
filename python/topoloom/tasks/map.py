# SPDX-License-Identifier: BSD-3-Clause
"""Places the ranks of a graph on the slots of an allocation."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from topoloom._core import Placement, Sharing, place
from topoloom.nodes.hosts import slots_per_host
from topoloom.placements.placement_file import PlacementFile
from topoloom.tasks.fixed_ranks import NO_FIXED_RANKS
from topoloom.tasks.objective import PROVEN, Objective, proves_optimality
from topoloom.tasks.optimality_gap import compute_gap
from topoloom.tasks.problem import (
    Problem,
    is_launcher_mapper,
    place_like_launcher,
    place_with_launcher,
)
from topoloom.tasks.search import UNLIMITED, Progress, Search
from topoloom.tasks.sharing import NO_SHARING, has_shared_slots

if TYPE_CHECKING:
    from topoloom.documents.placements import MapDocument, RejectedPlacement


class MapResult(NamedTuple):
    """A placement, and details of the search.

    Attributes
    ----------
    file
        The placement with its measures.
    objective
        The objective that the search minimized.
    seconds
        Duration of the search in seconds.
    least
        A lower bound on the objective, if the mapper proves one.
    optimal
        Whether the placement is proven to be optimal.
    rejected
        The fields of `PlaceResult.rejected`: the best placement by the objective, if
        the mapper returned another one, whose predicted time is shorter.
    moved
        Number of ranks whose slot changes; None without a previous placement.
    """

    file: PlacementFile
    objective: Objective
    seconds: float
    least: float | None
    optimal: bool
    rejected: RejectedPlacement | None
    moved: int | None

    @property
    def gap(self) -> float | None:
        """The value of the objective divided by its lower bound."""
        if self.least is None:
            return None
        return compute_gap(self.file.values[self.objective.measure], self.least)

    def document(self) -> MapDocument:
        """Return the fields of the ``--json`` output."""
        document = cast("MapDocument", self.file.document())
        if self.least is not None:
            document["proven"] = {
                "at_least": self.least,
                "gap": self.gap,
                "optimal": self.optimal,
            }
        if self.rejected is not None:
            document["rejected"] = self.rejected
        return document


def map_ranks(
    problem: Problem,
    objective: Objective,
    mapper: str = "auto",
    *,
    search: Search = UNLIMITED,
    sharing: Sharing = NO_SHARING,
    previous: PlacementFile | None = None,
    migration_cost: int = 0,
    fixed: Mapping[int, int] = NO_FIXED_RANKS,
    cores_per_rank: int = 1,
    graph_file: str = "",
    command: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> MapResult:
    """Place ranks on slots; the placement file records `graph_file` and `command`.

    With a `previous` placement, a rank moves only if that saves more hop-bytes than
    `migration_cost`. `fixed` has the slots of ranks that must be on given slots.
    """
    graph, allocation = problem.graph, problem.allocation
    chosen = objective.choose_for(
        graph,
        allocation,
        _explain_hop_bytes(
            mapper, has_shared_slots(sharing, graph, allocation), previous is not None
        ),
    )
    before = None
    if previous is not None:
        from topoloom.placements.previous_slots import find_previous_slots

        before = find_previous_slots(
            previous, allocation, problem.hosts, graph.rank_count
        )
    start = perf_counter()
    searched, held = mapper, dict(fixed)
    if is_launcher_mapper(mapper):
        shared = has_shared_slots(sharing, graph, allocation)
        slots = place_with_launcher(problem, mapper, shared, fixed).slots
        searched, held = "block", dict(enumerate(slots.tolist()))
    found = place(
        graph,
        allocation,
        mapper=searched,
        **search._asdict(),
        previous=before,
        migration_cost=migration_cost,
        fixed=held,
        sharing=sharing,
        **chosen.options,
        automatic_objective=chosen.is_automatic,
        progress=progress,
    )
    seconds = perf_counter() - start
    placement = found.placement
    file = PlacementFile(
        machine=problem.machine,
        allocation=allocation,
        placement=placement,
        hosts=problem.hosts,
        node=problem.node,
        objective=chosen.objective,
        values=chosen.values(graph, allocation, placement),
        mapper=mapper,
        seed=search.seed,
        work=found.work,
        graph=graph_file,
        command=command,
        cores_per_rank=cores_per_rank,
        capacities=tuple(sharing.capacities),
        fixed=tuple(sorted(fixed)),
        switches=problem.switches,
    )
    return MapResult(
        file,
        chosen,
        seconds,
        found.proven,
        found.optimal,
        cast("RejectedPlacement | None", found.rejected),
        None if before is None else _count_moved(before, placement),
    )


def _count_moved(before: Any, placement: Placement) -> int:
    from topoloom.placements.previous_slots import count_moved_ranks

    return count_moved_ranks(before, placement)


def measure_block_order(
    problem: Problem, mapped: MapResult
) -> tuple[dict[str, float], int]:
    """Measure block order like the placement; also return how many hosts it uses."""
    graph, allocation = problem.graph, problem.allocation
    file = mapped.file
    block = place_like_launcher(
        graph, allocation, file.placement.shared, file.capacities
    )
    per_host = slots_per_host(allocation.machine)
    return (
        mapped.objective.values(graph, allocation, block),
        len(set((block.slots // per_host).tolist())),
    )


def _explain_hop_bytes(mapper: str, shared: bool, remapped: bool) -> str:
    """Explain why only hop-bytes can be minimized; empty if other objectives can."""
    if shared:
        return "ranks share slots"
    if remapped:
        return "remapping supports only hop-bytes"
    return PROVEN if proves_optimality(mapper) else ""
