# SPDX-License-Identifier: BSD-3-Clause
"""Prints what a communication graph contains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topoloom.documents.patterns import GraphTotals, MpiTimeFields
    from topoloom.tasks.graphs.pattern import PatternResult


def print_made_graph(
    made: PatternResult, title: str, output: Path | None, as_json: bool
) -> None:
    """Write a generated or imported graph, and print its size."""
    from topoloom.cli.console import print_facts, print_json
    from topoloom.support.units import format_bytes

    if output is not None:
        made.save(output)
    if as_json:
        print_json(made.document(str(output) if output else None))
        return
    facts = made.facts()
    peers = f"{facts['peers_average']:.1f} on average, {facts['peers_max']} at most"
    edges = f"{facts['edges']:,} (a rank sends to {peers})"
    rows = [("ranks", f"{facts['ranks']:,}"), ("edges", edges), *list_totals(facts)]
    if pair := facts["heaviest"]:
        ends = f"{pair['source']} → {pair['target']}"
        rows.append(("heaviest", f"{ends}: {format_bytes(pair['bytes'])}"))
    rows += [("missing", loss) for loss in made.losses]
    rows += [("remark", remark) for remark in made.remarks]
    print_facts(rows, title, [output])


def format_mpi_time(time: MpiTimeFields) -> str:
    """Format how long ranks of a recorded run were in MPI calls."""
    from topoloom.support.units import format_seconds

    least, mean, most, run = (
        format_seconds(seconds)
        for seconds in (time["min"], time["mean"], time["max"], time["run"])
    )
    return f"{least} to {most} of {run}, {mean} on average"


def list_totals(facts: GraphTotals) -> list[tuple[str, str]]:
    """Format the bytes, messages and phases of a graph."""
    from topoloom.support.units import format_bytes

    sent = f"{format_bytes(facts['bytes'])} in {facts['messages']:,} messages"
    rows = [("bytes", sent)]
    if facts["proxied"]:
        what = f"{facts['proxied']:,} ranks, whose data goes to a slot once"
        rows.append(("proxied", what))
    if facts["phases"] > 1:
        rows.append(("phases", f"{facts['phases']:,}"))
    if facts["self_bytes"]:
        rows.append(("to itself", f"{format_bytes(facts['self_bytes'])}, not counted"))
    return rows
