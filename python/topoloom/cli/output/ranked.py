# SPDX-License-Identifier: BSD-3-Clause
"""Prints the ranked schedules of a collective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.cli.console import print_facts, print_table
from topoloom.support.units import (
    counted,
    format_bytes,
    format_count,
    format_seconds,
)

if TYPE_CHECKING:
    from topoloom.simulate.result import SimulationResult
    from topoloom.tasks.collectives.collective import RankedCollective


def print_schedules(
    collective: RankedCollective,
    written: Sequence[Path | None] = (),
    use: str = "",
    simulated: Mapping[str, SimulationResult] | None = None,
) -> None:
    """Print the schedules by time, the steps of a search, and the written files.

    `use` is a command that uses the written file.
    """
    print_facts(_list_facts(collective), _make_title(collective))
    platform = collective.platform
    columns = ["schedule", "", "rounds", "messages", "bytes", "time"]
    if collective.has_receive_overhead:
        columns.append("CPU")
    if platform.slots is not None:
        columns.append("congestion")
    if simulated:
        columns.append("simulated")
    rows = _list_rows(collective, simulated or {})
    times = ["time", "simulated"] if simulated else ["time"]
    print_table(
        columns,
        rows,
        best=0,
        left=2,
        keep=["schedule", *times],
        drop_first=["rounds", "messages", "bytes", "congestion"],
    )
    print_facts([("use it", use)] if use else [], written=written)


def _make_title(collective: RankedCollective) -> str:
    call, platform = collective.call, collective.platform
    on = f" on {platform.machine_title}" if platform.machine_title else ""
    size = "" if call.operation == "barrier" else f" of {format_bytes(call.bytes)}"
    if call.demand is not None:
        pairs = counted(call.demand.edge_count, "pair")
        size = f" of {format_bytes(call.demand.total_bytes)} between {pairs}"
    return f"{call.operation}{size} among {counted(call.ranks, 'rank')}{on}"


def _list_facts(collective: RankedCollective) -> list[tuple[str, str]]:
    facts = [("messages cost", collective.platform.model_name)]
    if collective.platform.unused:
        facts.append(("allocation", collective.platform.unused))
    if collective.together is not None:
        for number, turn in enumerate(collective.together.steps, 1):
            found = f"{turn.schedule}, {format_seconds(turn.seconds)}"
            facts.append((f"{turn.what} {number}", found))
    return facts


def _list_rows(
    collective: RankedCollective, simulated: Mapping[str, SimulationResult]
) -> list[list[str]]:
    rows = []
    for one in collective.ranked:
        cost = one.cost
        is_default = one.name.partition("(")[0] == collective.default_schedule
        row = [one.name, "MPI's usual" if is_default else ""]
        row += [format_count(cost.rounds), format_count(cost.messages)]
        row += [format_bytes(cost.bytes), format_seconds(cost.time)]
        if collective.has_receive_overhead:
            row.append(format_seconds(cost.cpu))
        if collective.platform.slots is not None:
            row.append(format_seconds(cost.congestion))
        if simulated:
            packets = simulated.get(one.name)
            row.append("" if packets is None else format_seconds(sum(packets.seconds)))
        rows.append(row)
    return rows
