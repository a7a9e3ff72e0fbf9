# SPDX-License-Identifier: BSD-3-Clause
"""What `topoloom collective` prints and writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoloom.cli.collective_setting import Setting
    from topoloom.schedules.choose import Call, Ranked
    from topoloom.schedules.together import Together


def write_graph(path: Path, call: Call, name: str) -> None:
    """Write the rounds of a schedule as a graph with phases."""
    from topoloom._core import Error
    from topoloom.graphs.graph_file import save_graph
    from topoloom.graphs.phases import phase_array

    schedule = call.schedule(name)
    if call.ranks * schedule.rounds > 1 << 25:
        raise Error(
            f"{name} has {schedule.rounds} rounds of up to {call.ranks} messages, more "
            "than --write-pattern writes; take fewer ranks, or another --schedule"
        )
    phases = [schedule.phase(number) for number in range(schedule.rounds)]
    save_graph(path, schedule.graph(), {"phases": phase_array(phases)})


def write_placement(
    path: Path, call: Call, setting: Setting, together: Together
) -> None:
    """Write the order that was found as a placement."""
    from topoloom._core import judge
    from topoloom.cli.command_line import command_line
    from topoloom.placements.measures import measure_values
    from topoloom.placements.placement_file import PlacementFile, save_placement

    graph = call.schedule(together.best.name).graph()
    on = (graph, setting.sites.allocation, together.placement)
    result = PlacementFile(
        machine=setting.sites.allocation.machine,
        allocation=setting.sites.allocation,
        placement=together.placement,
        hosts=setting.hosts,
        node=setting.node,
        objective="time",
        values={**measure_values(judge(*on)), "objective": together.best.cost.time},
        mapper="collective",
        command=command_line.get(),
    )
    save_placement(path, result)


def write_decisions(
    path: Path, call: Call, setting: Setting, threads: int
) -> dict[str, Any]:
    """Write the decision table, of all powers of two up to the ranks if it can."""
    import json

    from topoloom.schedules.decisions import decide, decision_table
    from topoloom.support.files import replacing

    calls = [call]
    if setting.sites is None:
        powers = [1 << k for k in range(1, call.ranks.bit_length())]
        least = max(call.root, call.degree or 0)
        smaller = [p for p in powers if least < p < call.ranks]
        calls = [call._replace(ranks=p) for p in smaller] + calls
    found = [
        decision
        for one in calls
        for decision in decide(one, setting.model, setting.sites, threads=threads)
    ]
    table = decision_table(
        call.operation, found, setting.model_name, setting.machine_name
    )
    with replacing(path) as stream:
        stream.write((json.dumps(table, indent=1) + "\n").encode())
    return table


def document_of(
    call: Call,
    setting: Setting,
    ranked: list[Ranked],
    usual: str | None,
    together: Together | None,
    table: dict[str, Any] | None,
) -> dict[str, Any]:
    """Make what ``--json`` prints."""
    document: dict[str, Any] = {
        **call._asdict(),
        "model": setting.model_name,
        "machine": setting.machine_name or None,
        "usual": usual,
        "schedules": [{"name": one.name, **_numbers(one)} for one in ranked],
    }
    if together is not None:
        document["turns"] = [turn._asdict() for turn in together.turns]
    if table is not None:
        document["decisions"] = table["decisions"]
    return document


def _numbers(one: Ranked) -> dict[str, Any]:
    cost = one.cost
    names = ("time", "cpu", "congestion", "rounds", "messages", "bytes")
    return {name: getattr(cost, name) for name in names}


def print_ranked(
    call: Call,
    setting: Setting,
    ranked: list[Ranked],
    usual: str | None,
    together: Together | None,
    written: list[Path],
) -> None:
    """Print the table, the fastest first, and what ordering brought."""
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import (
        counted,
        format_bytes,
        format_count,
        format_seconds,
    )

    on = f" on {setting.machine_title}" if setting.machine_title else ""
    size = "" if call.operation == "barrier" else f" of {format_bytes(call.bytes)}"
    title = f"{call.operation}{size} among {counted(call.ranks, 'rank')}{on}"
    facts = [("messages cost", setting.model_name)]
    if setting.unused:
        facts.append(("allocation", setting.unused))
    if together is not None:
        facts += [
            (
                f"{turn.what} {number}",
                f"{turn.schedule}, {format_seconds(turn.seconds)}",
            )
            for number, turn in enumerate(together.turns, 1)
        ]
    print_facts(facts, title)
    columns = ["schedule", "", "rounds", "messages", "bytes", "time"]
    knows_cpu = any(one.cost.cpu > 0 for one in ranked)
    rows = []
    for one in ranked:
        cost = one.cost
        mark = "MPI's usual" if one.name.partition("(")[0] == usual else ""
        row = [one.name, mark, format_count(cost.rounds), format_count(cost.messages)]
        row += [format_bytes(cost.bytes), format_seconds(cost.time)]
        if knows_cpu:
            row.append(format_seconds(cost.cpu))
        if setting.sites is not None:
            row.append(format_seconds(cost.congestion))
        rows.append(row)
    if knows_cpu:
        columns.append("CPU")
    if setting.sites is not None:
        columns.append("congestion")
    print_table(columns, rows, best=0, left=2)
    print_facts([("written", str(path)) for path in written])
