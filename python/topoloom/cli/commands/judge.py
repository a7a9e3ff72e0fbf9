# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom judge`: measure a placement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import (
    AsJson,
    Figure,
    GraphFile,
    MaybePlacementFile,
    output_option,
)
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import (
    AllocationOptions,
    LauncherName,
    MaybeMachineText,
    RankLimitOptions,
)
from topoloom.cli.options.searches import Background, Seed
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom._core import Machine
    from topoloom.tasks.judge import JudgedPlacement


@flatten_option_groups
def command(
    graph: GraphFile,
    placement: MaybePlacementFile = None,
    *,
    machine: MaybeMachineText = None,
    allowed: AllocationOptions,
    launcher: LauncherName = "slurm",
    limits: RankLimitOptions,
    seed: Seed = 1,
    background: Background = None,
    hottest: Annotated[
        int,
        Option("--hottest", metavar="N", min=0, help="Number of loaded links to name."),
    ] = 10,
    figure: Figure = None,
    loads: Annotated[
        Path | None,
        output_option(
            "Write the bytes on every link, for --background.", "--write-loads"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a placement, and the launcher's default placement.

    \b
    predicted time    startups, latencies, and the busiest link, NIC or memory; if
                      bandwidths are known
    hop-bytes         sum of bytes times distance over all messages
    hops per byte     hop-bytes divided by all bytes; 'distance per byte' if the
                      machine's links have lengths
    dilation, average and dilation, maximum: links that a message crosses
    link traffic, average: bytes per link, over all links with traffic
    congestion        largest load divided by bandwidth; in bytes if none is known
    inter-node bytes: in total; busiest node: bytes into or out of it
    slot load, maximum: load of the ranks on one slot, if ranks share slots
    share on minimal routes: with adaptive routing, the rest takes detours
    gap               value divided by a quickly proved lower bound; 1 is optimal

    With --background, predicted time with other jobs and congestion with other jobs
    include their traffic, and each hottest link has their share of the load. A link
    that only other jobs load counts, too.

    \b
    Examples:
      topoloom judge p.npz x.json
      topoloom judge p.npz x.json --json
      topoloom judge p.npz x.json --figure before-after.svg
      topoloom judge p.npz --machine torus:4x4x4          the default placement
      topoloom judge p.npz x.json --write-loads l.json    for --background
      topoloom judge p.npz x.json --background l.json     with other jobs
    """
    from topoloom.cli.console import note_assumption, print_json
    from topoloom.graphs.phases import load_phase_names, load_phases
    from topoloom.tasks.judge import judge_placement
    from topoloom.tasks.objective import read_background
    from topoloom.tasks.placement_problem import load_placement_problem
    from topoloom.tasks.problem import AllocationSpec

    where = AllocationSpec(*allowed, seed, limits.make_launch_order(launcher))
    given = load_placement_problem("judge", graph, placement, machine, where)
    note_assumption(given.remark)
    others = read_background(background, given.allocation.machine)
    judged = judge_placement(given, load_phases(graph), hottest, others)
    phase_names = load_phase_names(graph)
    if figure is not None:
        from topoloom.figure import draw_judgement

        shown = {"block": judged.block}
        if placement is not None:
            name = judged.name if judged.name != "block" else placement
            shown[name] = judged.placement
        draw_judgement(figure, given.graph, given.allocation, shown)
    if loads is not None:
        from topoloom.machines.link_loads import save_link_loads

        save_link_loads(loads, given.allocation.machine, judged.judgement.loads)
    if as_json:
        print_json(judged.document(phase_names or ()))
    else:
        _print_result(judged, [path for path in (figure, loads) if path is not None])
        numbers = [str(number) for number in range(1, len(judged.phases) + 1)]
        titles = phase_names or numbers
        _print_phases(titles, judged.phases, given.allocation.machine)


def _print_result(judged: JudgedPlacement, written: list[Path]) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.machines.machine_facts import machine_name
    from topoloom.nodes.hosts import format_allocated_share
    from topoloom.placements.hottest_links import list_hottest_links
    from topoloom.placements.measures import format_gain, format_measure, measure_title
    from topoloom.support.number_ranges import compress_ranges
    from topoloom.support.units import format_bytes, format_seconds
    from topoloom.tasks.optimality_gap import format_gap

    allocation = judged.given.allocation
    machine, placed = allocation.machine, judged.given.file is not None
    rows = []
    for name, value in judged.block_values.items():
        row = [measure_title(name, machine), format_measure(name, value, machine)]
        if placed:
            after = judged.values[name]
            row += [
                format_measure(name, after, machine),
                format_gain(name, value, after),
            ]
        rows.append([*row, format_gap(judged.gaps.get(name))])
    columns = ["", "block (default)"] + ([judged.name, "gain"] if placed else [])
    columns.append("gap" if any(judged.gaps.values()) else "")
    name = machine_name(machine, judged.given.node)
    title = f"{format_allocated_share(allocation)} of {name}"
    print_table(columns, rows, title=title, keep=["", judged.name, "gap"])
    facts = [("machine", remark) for remark in machine.remarks]
    if fixed := sorted(judged.given.fixed):
        ranks = "rank" if len(fixed) == 1 else "ranks"
        listed = f"{ranks} {compress_ranges(fixed)}"
        facts.append(("fixed", f"{listed}; gaps are for placements that keep them"))
    print_facts(facts, written=written)
    columns = ["hottest links", "who loads them most", "load"]
    if machine.has_bandwidths:
        columns.append("time")
    found = list_hottest_links(judged.judgement, judged.given.vertex_names)
    links = [
        [
            link["link"],
            ", ".join(
                f"{one['source']} → {one['target']} ({format_bytes(one['bytes'])})"
                for one in link["loaded_by"][:3]
            ),
            format_bytes(link["bytes"]),
            format_seconds(link["seconds"]),
        ][: len(columns)]
        for link in found
    ]
    if any("background_share" in link for link in found):
        columns.append("other jobs")
        for row, link in zip(links, found, strict=True):
            row.append(f"{100 * link['background_share']:.0f} %")
    if links:
        keep = ["hottest links", "load", "other jobs"]
        print_table(columns, links, left=2, keep=keep)


def _print_phases(
    names: list[str], phases: list[dict[str, float]], machine: Machine
) -> None:
    from topoloom.cli.console import print_table
    from topoloom.placements.measures import MEASURES, format_measure

    if not phases:
        return
    shown = ["hop_bytes", "dilation_average", "traffic_average", "congestion_max"]
    rows = [
        [name, *(format_measure(key, phase[key], machine) for key in shown)]
        for name, phase in zip(names, phases, strict=True)
    ]
    print_table(["phase", *(MEASURES[name].heading for name in shown)], rows)
