# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom pattern show`: show what a communication graph contains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topoloom.cli.options.files import AsJson, Figure, GraphFile

if TYPE_CHECKING:
    from topoloom.tasks.graphs.shown_graph import BytesPerRank, StoredCollectives


def command(graph: GraphFile, figure: Figure = None, as_json: AsJson = False) -> None:
    """Show the ranks, bytes and heaviest pairs of a graph.

    Bytes that a rank sends to itself are only counted as "to itself". A recorded graph
    may store collectives beside its edges; the line 'collectives' says whether the
    edges contain their messages, too. --figure draws the bytes from rank to rank.
    The trace of a job is converted first; a placement stands for its graph.

    \b
    Examples:
      topoloom pattern show p.npz
      topoloom pattern show matrix.mtx --json
      topoloom pattern show p.npz --figure matrix.svg
    """
    from topoloom.cli.console import print_facts, print_json, print_table
    from topoloom.cli.output.graph import format_mpi_time, list_totals
    from topoloom.support.units import format_bytes
    from topoloom.tasks.graphs.shown_graph import show_graph

    shown = show_graph(graph)
    if figure is not None:
        from topoloom.figure import draw_graph

        draw_graph(figure, shown.graph)
    document = shown.document()
    if as_json:
        print_json(document)
        return
    facts = [
        ("ranks", f"{document['ranks']:,}"),
        ("edges", f"{document['edges']:,}"),
        *list_totals(document),
        ("sent per rank", _format_range(shown.sent())),
        ("received per rank", _format_range(shown.received())),
        ("collectives", _format_collectives(shown.collectives)),
    ]
    if document["mpi_time"]:
        facts.append(("time in MPI", format_mpi_time(document["mpi_time"])))
    print_facts(facts, graph, [figure])
    pairs = [
        (
            f"{pair['source']} → {pair['target']}",
            format_bytes(pair["bytes"]),
            f"{pair['messages']:,}",
        )
        for pair in shown.heaviest_pairs()
    ]
    if pairs:
        print_table(["heaviest pairs", "bytes", "messages"], pairs)


def _format_range(amount: BytesPerRank) -> str:
    from topoloom.support.units import format_bytes

    least, mean, most = map(format_bytes, amount)
    return f"{least} to {most}, {mean} on average"


def _format_collectives(stored: StoredCollectives | None) -> str:
    if stored is None:
        return "none stored"
    parts = [f"{count:,} {name}" for name, count in stored.calls.items()]
    if stored.messages:
        parts.append(f"{stored.messages:,} messages of v-collectives")
    where = "also" if stored.in_edges else "not"
    return f"{', '.join(parts)}; {where} in the edges"
