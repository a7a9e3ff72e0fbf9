# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom simulate`: the time of placements in a network simulator, and in ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from topoloom.cli import complete
from topoloom.cli.options.files import AsJson, GraphFile
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import (
    AllocationOptions,
    LauncherName,
    LimitOptions,
    MaybeMachineText,
)
from topoloom.cli.options.searches import Seed

if TYPE_CHECKING:
    from topoloom._core import Allocation, CommGraph, Placement

DEFAULT = "block"


@with_groups
def command(
    graph: GraphFile,
    placements: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLACEMENT",
            help="Files of 'topoloom map', on the same machine. Without one: block "
            "order, what the launcher does, on --machine.",
        ),
    ] = None,
    *,
    simulator: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="SIMULATOR",
            help="What simulates: simgrid, SMPI of SimGrid (Debian's package "
            "libsimgrid-dev).",
            autocompletion=complete.simulators,
        ),
    ] = "simgrid",
    machine: MaybeMachineText = None,
    allowed: AllocationOptions,
    launcher: LauncherName = "slurm",
    limits: LimitOptions,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Simulate how long messages take, beside the time that we predict.

    Every rank sends one message to each that it has some for, at once, and waits until
    all is sent and received; so round by round until no messages are left, then comes
    the next phase. The simulator gets the machine as it is described: its links, cards
    and memories, what messages cost, and our routes, one for each pair of ranks. The
    first line is 'block', what the launcher does by default.

    \b
    congestion      load of the busiest link divided by its bandwidth
    predicted time  the objective 'time': startups, latencies, and the busiest link,
                    card or memory
    simulated time  from the first to the last message
    gain            of the simulated time against 'block'
    With phases, each is the sum over them.

    \b
    Examples:
      topoloom simulate p.npz x.json y.json --with simgrid
      topoloom simulate p.npz x.json --json
      topoloom simulate p.npz -m torus:4x4x4,bandwidth=10GB/s,latency=100ns
    """
    from topoloom.cli.console import print_json, waiting
    from topoloom.graphs.phases import load_phases
    from topoloom.simulate import load_simulator
    from topoloom.tasks.placement_problem import load_placement_problem
    from topoloom.tasks.problem import Where, launcher_default

    simulate = load_simulator(simulator)
    where = Where(*allowed, seed, limits.order(launcher))
    names = placements or []
    wanted: list[str | None] = [*names] or [None]
    first, *others = [
        load_placement_problem("simulate", graph, name, machine, where)
        for name in wanted
    ]
    for name, other in zip(names[1:], others, strict=True):
        _check_same_machine(name, other.allocation, names[0], first.allocation)
    phases = load_phases(graph) or [first.graph]
    default = launcher_default(first.graph, first.allocation, first.shared)
    cases = [_Case("", DEFAULT, first.allocation, default)]
    for name, given in zip(names, [first, *others], strict=False):
        assert given.file is not None
        mapper, slots = given.file.mapper, given.file.placement
        cases.append(_Case(name, mapper, given.allocation, slots))
    the_machine = first.allocation.machine
    results = []
    for number, case in enumerate(cases, start=1):
        with waiting(f"simulating {number}/{len(cases)} {case.file or DEFAULT}"):
            seconds = simulate(the_machine, case.node_of_rank(), phases)
        results.append(case.measured(first.graph, phases, seconds))
    document = {
        "machine": the_machine.text,
        "simulator": simulator,
        "ranks": first.graph.rank_count,
        "phases": len(phases),
        "results": results,
    }
    if as_json:
        print_json(document)
        return
    _print(document, the_machine.name)


def _check_same_machine(
    name: str, given: Allocation, first_name: str, first: Allocation
) -> None:
    from topoloom._core import Error

    if given.machine.text != first.machine.text:
        raise Error(
            f"{name} is for {given.machine.text}, but {first_name} for "
            f"{first.machine.text}; simulate placements of one machine at a time"
        )


class _Case(NamedTuple):
    """A placement to simulate, with the file that it is from."""

    file: str
    mapper: str
    allocation: Allocation
    placement: Placement

    def node_of_rank(self) -> list[int]:
        per_node = self.allocation.machine.slots_per_node
        nodes: list[int] = (self.placement.slots // per_node).tolist()
        return nodes

    def measured(
        self, graph: CommGraph, phases: list[CommGraph], simulated: list[float]
    ) -> dict[str, Any]:
        from topoloom._core import judge, predicted_time

        judgement = judge(graph, self.allocation, self.placement, hottest=0)
        on = (self.allocation, self.placement)
        predicted = [predicted_time(phase, *on) for phase in phases]
        return {
            "placement": self.file or None,
            "mapper": self.mapper,
            "hop_bytes": judgement.hop_bytes,
            "dilation_average": judgement.dilation_average,
            "congestion_seconds": self.congestion(phases),
            "predicted_seconds": sum(predicted),
            "simulated_seconds": sum(simulated),
            "by_phase": [
                {"predicted_seconds": ours, "simulated_seconds": theirs}
                for ours, theirs in zip(predicted, simulated, strict=True)
            ],
        }

    def congestion(self, phases: list[CommGraph]) -> float:
        import numpy as np

        from topoloom._core import CommGraph, Placement, objective_value
        from topoloom.graphs.phases import edge_rows

        # Objectives are for one rank per slot: ranks that share one count as one.
        slots, place = np.unique(self.placement.slots, return_inverse=True)
        on = (self.allocation, Placement(self.allocation, slots))
        found = 0.0
        for phase in phases:
            source, target, amount, messages = edge_rows(phase).T
            ends = (place[source].astype(np.uint32), place[target].astype(np.uint32))
            merged = CommGraph.from_edges(len(slots), *ends, amount, messages)
            found += objective_value(merged, *on, objective="congestion")
        return found


def _print(document: dict[str, Any], machine: str) -> None:
    from topoloom.cli.console import print_table
    from topoloom.placements.measures import MEASURES
    from topoloom.support.gain import gain, percent
    from topoloom.support.units import counted, format_count, format_seconds

    results = document["results"]
    before = results[0]["simulated_seconds"]
    rows = [
        [
            result["placement"] or f"{DEFAULT} (default)",
            format_count(result["hop_bytes"]),
            format_seconds(result["congestion_seconds"]),
            format_seconds(result["predicted_seconds"]),
            format_seconds(result["simulated_seconds"]),
            percent(gain(before, result["simulated_seconds"])),
        ]
        for result in results
    ]
    measures = ("hop_bytes", "congestion_max", "predicted_seconds")
    titles = (MEASURES[name].heading for name in measures)
    columns = ["placement", *titles, "simulated\ntime", "gain"]
    title = (
        f"{counted(document['ranks'], 'rank')} on {machine}, by {document['simulator']}"
    )
    if document["phases"] > 1:
        title += f"; {document['phases']} phases"
    best = min(range(len(results)), key=lambda i: results[i]["simulated_seconds"])
    print_table(columns, rows, title=title, best=best)
