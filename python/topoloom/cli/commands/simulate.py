# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom simulate`: simulate the messages of placements on the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from topoloom.cli.options.files import AsJson, GraphFile
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import (
    AllocationOptions,
    LauncherName,
    MaybeMachineText,
    RankLimitOptions,
)
from topoloom.cli.options.network import SwitchName
from topoloom.cli.options.searches import Seed
from topoloom.cli.options.simulators import SimulatorName
from topoloom.cli.parameters import Argument

if TYPE_CHECKING:
    from topoloom.documents.placements import SimulateDocument


@flatten_option_groups
def command(
    graph: GraphFile,
    placements: Annotated[
        list[str] | None,
        Argument(
            metavar="PLACEMENT",
            help="Files written by 'topoloom map', on the same machine. Without one: "
            "block order, what the launcher does, on --machine.",
        ),
    ] = None,
    *,
    simulator: SimulatorName = None,
    switch: SwitchName = None,
    machine: MaybeMachineText = None,
    allowed: AllocationOptions,
    launcher: LauncherName = "slurm",
    limits: RankLimitOptions,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Simulate placements on the network, next to the prediction.

    In each round, every rank sends one message to each peer for which it has messages
    left. The round ends for a rank when its messages are sent and received. After the
    last round the next phase begins. In switches, operations of GOAL files start when
    their dependencies are done. The simulator uses the described machine: links, NICs,
    memories, message costs, and one route per pair of ranks; by default it is simgrid.
    The first row of the table is 'block', the launcher's default.

    \b
    congestion      load of the busiest link divided by its bandwidth
    predicted time  the objective 'time': startups, latencies, and the busiest
                    link, NIC or memory
    simulated time  from the first to the last message
    gain            reduction of the simulated time relative to 'block'
    With phases, each value is the sum over phases. Switches also show their
    busiest channels with the share of time spent sending. Ctrl-C prints the
    finished placements.

    \b
    Examples:
      topoloom simulate p.npz x.json y.json --with simgrid
      topoloom simulate p.npz x.json --with switches --switch rosetta
      topoloom simulate run.goal x.json --with switches
      topoloom simulate p.npz x.json --json
      topoloom simulate p.npz -m torus:4x4x4,bandwidth=10GB/s,latency=100ns
    """
    from topoloom.cli.console import (
        make_progress_bar,
        note,
        note_assumption,
        print_json,
    )
    from topoloom.cli.exit_status import Interrupted
    from topoloom.graphs.graph_file import load_operations
    from topoloom.graphs.phases import load_phases
    from topoloom.machines.machine_facts import machine_name
    from topoloom.simulate import bind_switch, load_simulator
    from topoloom.support.units import counted
    from topoloom.tasks.placement_problem import load_placement_problem
    from topoloom.tasks.problem import AllocationSpec
    from topoloom.tasks.simulate import check_same_machine, simulate_placements

    simulator = simulator or "simgrid"
    operations = load_operations(graph)
    simulate = bind_switch(
        load_simulator(simulator), simulator, switch, machine, operations
    )
    where = AllocationSpec(*allowed, seed, limits.make_launch_order(launcher))
    names = placements or []
    wanted: list[str | None] = [*names] or [None]
    given = [
        load_placement_problem("simulate", graph, name, machine, where)
        for name in wanted
    ]
    check_same_machine(names, given)
    for each in given:
        note_assumption(each.remark)
    phases = load_phases(graph) or [given[0].graph]
    if operations is not None:
        note(
            f"topoloom: {graph} is played as it is in the file; what is predicted is "
            "of all its messages at once, without work"
            if simulator == "switches"
            else f"topoloom: {graph} is simulated as a pattern: its messages are sent "
            "at once, whatever they wait for in the file; switches play it"
        )
    the_machine = given[0].allocation.machine
    unit = "packets" if simulator == "switches" else "messages"
    found = simulate_placements(
        names, given, phases, simulate, partial(make_progress_bar, unit=unit)
    )
    document: SimulateDocument = {
        "machine": the_machine.text,
        "simulator": simulator,
        "ranks": given[0].graph.rank_count,
        "phases": len(phases),
        "complete": not found.interrupted,
        "results": found.results,
    }
    if as_json:
        print_json(document)
    elif found.results:
        _print_result(document, machine_name(the_machine, given[0].node))
    if found.interrupted:
        done = counted(len(found.results), "placement")
        raise Interrupted(
            f"interrupted after {done} of {len(names) + 1}"
            if found.results
            else "interrupted"
        )


def _print_result(document: SimulateDocument, machine: str) -> None:
    from topoloom.cli.console import print_table
    from topoloom.placements.measures import MEASURES, wrap_column_heading
    from topoloom.support.gain import format_percent, gain
    from topoloom.support.units import counted, format_count, format_seconds

    results = document["results"]
    before = results[0]["simulated_seconds"]
    rows = [
        [
            result["placement"] or "block (default)",
            format_count(result["hop_bytes"]),
            format_seconds(result["congestion_seconds"]),
            format_seconds(result["predicted_seconds"]),
            format_seconds(result["simulated_seconds"]),
            format_percent(gain(before, result["simulated_seconds"])),
        ]
        for result in results
    ]
    measures = ("hop_bytes", "congestion_max", "predicted_seconds")
    titles = [MEASURES[name].heading for name in measures]
    if document["phases"] > 1:  # their sum
        titles[1] = wrap_column_heading("congestion by phase")
    columns = ["placement", *titles, "simulated\ntime", "gain"]
    title = (
        f"{counted(document['ranks'], 'rank')} on {machine}, by {document['simulator']}"
    )
    if document["phases"] > 1:
        title += f"; {document['phases']} phases"
    best = min(range(len(results)), key=lambda i: results[i]["simulated_seconds"])
    kept = ["placement", "simulated\ntime", "gain"]
    print_table(columns, rows, title=title, best=best, keep=kept)
    _print_busiest(results, "busiest_channels", "channel")
    _print_busiest(results, "busiest_switches", "output")


def _print_busiest(results: Sequence[Mapping[str, Any]], what: str, name: str) -> None:
    """Print the two busiest channels or switches of a simulation."""
    from topoloom.cli.console import print_table

    rows = [
        [
            "" if place else result["placement"] or "block (default)",
            one[name],
            f"{100 * one['sending']:.0f} %",
        ]
        for result in results
        for place, one in enumerate(result[what][:2])
    ]
    if rows:
        title = "busiest channels" if name == "channel" else "busiest switches: of"
        print_table(
            ["placement", title, "sending"], rows, left=2, keep=[title, "sending"]
        )
