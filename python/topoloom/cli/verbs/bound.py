# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom bound`: prove how good any placement can be at most."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from topoloom.cli.options import (
    Allocate,
    AllocationText,
    AsJson,
    Capacities,
    CoresPerRank,
    Fragments,
    GraphFile,
    Imbalance,
    LauncherName,
    MaybeMachineText,
    MemoryPerRank,
    RanksPerNode,
    Seconds,
    Seed,
    Threads,
    Work,
)


def command(
    graph: GraphFile,
    placement: Annotated[
        str | None,
        typer.Argument(
            metavar="[PLACEMENT]",
            help="A file of 'topoloom map', to say how far from optimal it is at most.",
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
    imbalance: Imbalance = None,
    capacities: Capacities = None,
    seed: Seed = 1,
    time: Seconds = None,
    work: Work = None,
    threads: Threads = 0,
    lp: Annotated[
        bool,
        typer.Option(
            "--lp",
            help="Also solve a linear relaxation of congestion; for small problems: "
            "16 ranks take seconds, 27 minutes. Needs scipy.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Prove how good any placement of these ranks on these slots can be at most.

    No placement has fewer hop-bytes, or less congestion, than is printed. With a
    PLACEMENT the gap is its value divided by that: 1 says that it is the best there
    is. --time and --work, or Ctrl-C, end the search for better proofs.

    \b
    hop bytes       by what every rank's messages cost at least (sparse,
                    gilmore-lawler), by eigenvalues (projection) or by dual ascent
    congestion max  by the bytes that must leave a part of the machine (cut) or a
                    rank (injection), by all bytes on all links (average), or by a
                    linear relaxation with the machine's own routes (lp)

    \b
    Examples:
      topoloom bound p.npz x.json
      topoloom bound p.npz --machine torus:8x8x8 --allocate 100 --time 10s
      topoloom bound p.npz x.json --json
      topoloom bound p.npz --machine mesh:4x4 --lp
    """
    from time import perf_counter

    from topoloom._core import Error, find_bounds, judge
    from topoloom.cli.console import note, print_json, watching
    from topoloom.cli.judged import load_judged
    from topoloom.cli.ordered import read_order
    from topoloom.cli.outcome import Interrupted
    from topoloom.cli.problem import Where
    from topoloom.cli.search import read_search
    from topoloom.cli.sharing import read_sharing
    from topoloom.placements.congestion_lp import relax_congestion

    search = read_search(seed, time, work, threads)
    order = read_order(launcher, ranks_per_node, cores_per_rank, memory_per_rank)
    where = Where(allocation, allocate, fragments, seed, order)
    sharing = read_sharing(imbalance, capacities)
    judged = load_judged("bound", graph, placement, machine, where, sharing.allowed)
    if judged.shared and not sharing.allowed:
        raise Error(
            f"in {placement} ranks share slots; say what a slot may hold, with "
            "--imbalance or --capacities"
        )
    if lp and sharing.allowed:
        raise Error("--lp is for one rank a slot, without --imbalance or --capacities")
    start = perf_counter()
    with watching("searching for proofs", search) as watch:
        relaxation, left = None, search.seconds
        if lp:
            relaxation = relax_congestion(
                judged.graph, judged.allocation, search.seconds, watch
            )
        if left is not None:
            left = max(0.0, left - (perf_counter() - start))
        bounds = find_bounds(
            judged.graph,
            judged.allocation,
            sharing=sharing.value,
            seconds=left,
            work=search.work,
            threads=search.threads,
            progress=watch,
        )
    values = None
    if judged.placed is not None:
        values = judge(judged.graph, judged.allocation, judged.placed.placement)
    found = _gaps(bounds, relaxation, values)
    if as_json:
        print_json(
            {
                "machine": judged.allocation.machine.text,
                "nodes": len(judged.allocation.nodes),
                "ranks": judged.graph.rank_count,
                **found,
            }
        )
    else:
        _print(judged, found)
    if lp and relaxation is None and not watch.interrupted:
        note("topoloom: --time was too short for the linear relaxation")
    if watch.interrupted:
        raise Interrupted("interrupted; these are the best proofs so far")


def _gaps(bounds: Any, relaxation: Any, judgement: Any) -> dict[str, dict[str, Any]]:
    from topoloom.cli.gaps import gap

    found: dict[str, dict[str, Any]] = {
        "hop_bytes": {"bound": bounds.hop_bytes, "by": bounds.hop_bytes_by},
        "congestion_max": {
            "bound": bounds.congestion,
            "by": bounds.congestion_by,
            "where": bounds.congestion_where,
        },
    }
    if relaxation is not None:
        congestion = found["congestion_max"]
        if relaxation.bound > congestion["bound"]:
            congestion.update(bound=relaxation.bound, by="lp", where="")
        congestion["rounded"] = relaxation.congestion
    if judgement is not None:
        for name, entry in found.items():
            value = getattr(judgement, name)
            entry["value"] = value
            entry["gap"] = gap(value, entry["bound"])
    return found


def _print(judged: Any, found: dict[str, dict[str, Any]]) -> None:
    from topoloom.cli.console import print_table
    from topoloom.cli.gaps import gap_text
    from topoloom.cli.measured import congestion_text, measure_name, measure_text

    allocation = judged.allocation
    machine = allocation.machine
    rows = []
    for name, entry in found.items():
        by = " of ".join(filter(None, (entry["by"], entry.get("where"))))
        bound = measure_text(name, entry["bound"], machine)
        row = [measure_name(name, machine), by, bound]
        if judged.placed is not None:
            value = measure_text(name, entry["value"], machine)
            row += [value, gap_text(entry["gap"])]
        rows.append(row)
    columns = ["", "proved by", "at least"]
    if judged.placed is not None:
        columns += [judged.placed.mapper or "placement", "gap"]
    title = (
        f"{len(allocation.nodes):,} of {machine.node_count:,} nodes of {machine.name}"
    )
    print_table(columns, rows, title=title, left=2)
    rounded = found["congestion_max"].get("rounded")
    if rounded is not None:
        whole = congestion_text(rounded, machine)
        print(f"The relaxation in whole ranks: congestion {whole}")
