# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom judge`: measure a placement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.cli.options import (
    Allocate,
    AllocationText,
    AsJson,
    CoresPerRank,
    Figure,
    Fragments,
    GraphFile,
    LauncherName,
    MaybeMachineText,
    MemoryPerRank,
    RanksPerNode,
    Seed,
    output_option,
)

if TYPE_CHECKING:
    from topoloom.cli.gaps import Gaps


def command(
    graph: GraphFile,
    placement: Annotated[
        str | None,
        typer.Argument(
            metavar="PLACEMENT",
            help="A file of 'topoloom map'. Without one: block order, what the "
            "launcher does, on --machine.",
        ),
    ] = None,
    machine: MaybeMachineText = None,
    allocation: AllocationText = None,
    allocate: Allocate = None,
    fragments: Fragments = None,
    launcher: LauncherName = "slurm",
    ranks_per_node: RanksPerNode = None,
    cores_per_rank: CoresPerRank = 1,
    memory_per_rank: MemoryPerRank = None,
    seed: Seed = 1,
    hottest: Annotated[
        int, typer.Option("--hottest", metavar="N", help="Most loaded links to name.")
    ] = 10,
    figure: Figure = None,
    loads: Annotated[
        Path | None,
        output_option(
            "Write the bytes on every link: what others run beside.", "--loads"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a placement, beside what the launcher would do by default.

    \b
    predicted time    startups, latencies and the busiest link, network card or
                      memory; where bandwidths are known
    hop bytes         sum over messages of bytes times distance
    hops per byte     the same divided by all bytes
    dilation          links a message crosses, on average and at most
    traffic average   bytes on a link, averaged over links that carry any
    congestion max    largest load divided by bandwidth (in bytes if none is known)
    bytes between nodes, and the most of them in or out of one node
    load max          largest load of a slot, where ranks share slots
    minimal share     of the traffic, where routing adapts: the rest takes detours
    gap               value / what is quickly proven of all placements; 1 is optimal

    \b
    Examples:
      topoloom judge p.npz x.json
      topoloom judge p.npz x.json --json
      topoloom judge p.npz x.json --figure before-after.svg
      topoloom judge p.npz --machine torus:8x8x8        the default placement
      topoloom judge p.npz x.json --loads l.json        for 'map --background'
    """
    from topoloom._core import judge
    from topoloom.cli.console import print_json
    from topoloom.cli.gaps import gaps, quick_bounds
    from topoloom.cli.judged import load_judged
    from topoloom.cli.objective import predicted
    from topoloom.cli.ordered import read_order
    from topoloom.cli.problem import Where, at_least, launcher_default, measures
    from topoloom.graphs.phases import load_phase_names, load_phases

    at_least("--hottest", hottest, 0)
    order = read_order(launcher, ranks_per_node, cores_per_rank, memory_per_rank)
    wanted = Where(allocation, allocate, fragments, seed, order)
    judged = load_judged("judge", graph, placement, machine, wanted)
    the_graph, where, given = judged
    shared = judged.shared
    default = launcher_default(the_graph, where, shared)
    slots = given.placement if given is not None else default
    judgement = judge(the_graph, where, slots, hottest=hottest)
    phases = load_phases(graph)
    by_default, on = (the_graph, where, default), (the_graph, where, slots)
    before = predicted(*by_default, phases)
    before |= measures(judge(*by_default), shared)
    values = predicted(*on, phases) | measures(judgement, shared)
    # What a shared slot may hold, the placement does not say.
    bounds = None if shared else quick_bounds(the_graph, where)
    far = gaps(values, bounds)
    name = given.mapper if given is not None else "block"
    by_phase = [measures(judge(phase, where, slots), shared) for phase in phases]
    phase_names = load_phase_names(graph)
    if figure is not None:
        from topoloom.figure import draw_judgement

        shown = {"block": default}
        if given is not None:
            shown[name if name != "block" else placement or name] = slots
        draw_judgement(figure, the_graph, where, shown)
    if loads is not None:
        from topoloom.machines.loads import save_loads

        save_loads(loads, where.machine, judgement.loads)
    if as_json:
        document = _document(where, name, judgement, values, before, far)
        names = {"phase_names": phase_names} if phase_names else {}
        print_json({**document, "phases": by_phase, **names})
    else:
        placed = (name, values) if given is not None else None
        _print(where, placed, judgement, before, far)
        numbers = [str(number) for number in range(1, len(by_phase) + 1)]
        _print_phases(phase_names or numbers, by_phase)


def _document(
    allocation: Any,
    mapper: str,
    judgement: Any,
    values: dict[str, float],
    before: dict[str, float],
    far: Gaps,
) -> dict[str, Any]:
    return {
        **values,
        "machine": allocation.machine.text,
        "nodes": len(allocation.nodes),
        "mapper": mapper,
        "gap": far,
        "block": before,
        "node_bytes_in_max": _largest(judgement.node_bytes_in),
        "node_bytes_out_max": _largest(judgement.node_bytes_out),
        "node_messages_in_max": _largest(judgement.node_messages_in),
        "node_messages_out_max": _largest(judgement.node_messages_out),
        "hottest": [
            {
                "link": link,
                "bytes": load,
                "seconds": seconds,
                "from": [
                    {"source": int(s), "target": int(t), "bytes": float(b)}
                    for s, t, b in loaders
                ],
            }
            for link, load, seconds, loaders in judgement.hottest
        ],
    }


def _print(
    allocation: Any,
    placed: tuple[str, dict[str, float]] | None,
    judgement: Any,
    before: dict[str, float],
    far: Gaps,
) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.cli.gaps import gap_text
    from topoloom.cli.measured import gain_text, measure_name, measure_text
    from topoloom.support.units import format_bytes

    machine = allocation.machine
    rows = []
    for name, value in before.items():
        row = [measure_name(name, machine), measure_text(name, value, machine)]
        if placed is not None:
            after = placed[1][name]
            row += [measure_text(name, after, machine), gain_text(name, value, after)]
        rows.append([*row, gap_text(far.get(name))])
    columns = ["", "block (default)"] + ([placed[0], "gain"] if placed else [])
    columns.append("gap" if any(far.values()) else "")
    title = (
        f"{len(allocation.nodes):,} of {machine.node_count:,} nodes of {machine.name}"
    )
    print_table(columns, rows, title=title)
    if machine.remarks:
        print_facts([("machine", remark) for remark in machine.remarks])
    links = [
        (
            link,
            ", ".join(f"{s} → {t} ({format_bytes(b)})" for s, t, b in loaders[:3]),
            format_bytes(load),
        )
        for link, load, _, loaders in judgement.hottest
    ]
    if links:
        print_table(["hottest links", "who loads them most", "load"], links, left=2)


def _print_phases(names: list[str], phases: list[dict[str, float]]) -> None:
    from topoloom.cli.console import print_table
    from topoloom.support.units import format_count

    if not phases:
        return
    shown = ["hop_bytes", "dilation_average", "traffic_average", "congestion_max"]
    rows = [
        [name, *(format_count(phase[measure]) for measure in shown)]
        for name, phase in zip(names, phases, strict=True)
    ]
    print_table(["phase", *(measure.replace("_", " ") for measure in shown)], rows)


def _largest(values: Any) -> int:
    return int(max(values, default=0))
