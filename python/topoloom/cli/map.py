# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom map`: place the ranks on the allocated slots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli import complete
from topoloom.cli.options import (
    Allocate,
    AllocationText,
    AsJson,
    Fragments,
    GraphFile,
    MachineText,
    Seconds,
    Seed,
    Threads,
    Work,
)


def command(
    graph: GraphFile,
    machine: MachineText,
    allocation: AllocationText = None,
    mapper: Annotated[
        str,
        typer.Option(
            "--mapper",
            metavar="MAPPER",
            help="A constructor and improvers, such as gge,swap; see: list mappers.",
            autocompletion=complete.mapper,
        ),
    ] = "mahd,swap",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the placement."),
    ] = None,
    seed: Seed = 1,
    time: Seconds = None,
    work: Work = None,
    threads: Threads = 0,
    allocate: Allocate = None,
    fragments: Fragments = 4,
    as_json: AsJson = False,
) -> None:
    """Place the ranks on the allocated slots.

    The gain is against block order, rank i on slot i, which is what a launcher does
    without instructions. Ctrl-C, --time and --work end a search early; the best
    placement so far is written all the same.

    \b
    Examples:
      topoloom map p.npz --machine torus:8x8x8 -o x.json
      topoloom map p.npz --machine torus:25x32x16 --allocation a.txt \\
          --mapper gge,swap --seed 1 --time 10s -o x.json
      topoloom map p.npz -m torus:17x8x24,nodes=2 --allocate 512 --fragments 9
    Then:
      topoloom judge p.npz x.json             what it is worth, link by link
      topoloom export x.json --to openmpi-rankfile
    """
    from time import perf_counter

    from topoloom import PlacementFile, judge, place, save_placement
    from topoloom.cli.console import note, print_json, watching
    from topoloom.cli.outcome import Interrupted
    from topoloom.cli.problem import at_least, load_problem, measures
    from topoloom.units import parse_duration

    at_least("--seed", seed, 0)
    at_least("--threads", threads, 0)
    seconds = parse_duration(time) if time is not None else None
    if work is not None:
        at_least("--work", work, 0)
    problem = load_problem(graph, machine, allocation, allocate, fragments, seed)
    start = perf_counter()
    with watching(f"placing with {mapper}", seconds=seconds, work=work) as watch:
        placement, work_done = place(
            problem.graph,
            problem.allocation,
            mapper=mapper,
            seed=seed,
            seconds=seconds,
            work=work,
            threads=threads,
            progress=watch,
        )
    took = perf_counter() - start
    values = measures(judge(problem.graph, problem.allocation, placement))
    result = PlacementFile(
        machine=problem.machine,
        allocation=problem.allocation,
        placement=placement,
        hosts=problem.hosts,
        values=values,
        mapper=mapper,
        seed=seed,
        work=work_done,
    )
    if output is not None:
        save_placement(output, result)
    if as_json:
        print_json(result.document())
    else:
        before = _print(problem, result, took, output)
        if result.values["hop_bytes"] > before["hop_bytes"] and not watch.interrupted:
            note(
                "topoloom: block placement, what the launcher does by itself, has "
                "fewer hop-bytes here; `topoloom compare` finds a better mapper"
            )
    if watch.interrupted:
        where = f"; {output} holds the best placement so far" if output else ""
        raise Interrupted(f"interrupted{where}")


def _print(
    problem: Any, result: Any, took: float, output: Path | None
) -> dict[str, float]:
    from topoloom import judge, place
    from topoloom.cli.console import print_facts, print_table
    from topoloom.cli.problem import gain, measures, percent
    from topoloom.units import format_count

    default, _ = place(problem.graph, problem.allocation, mapper="block")
    before = measures(judge(problem.graph, problem.allocation, default))
    rows = [
        (
            name.replace("_", " "),
            format_count(before[name]),
            format_count(after),
            percent(gain(before[name], after)),
        )
        for name, after in result.values.items()
    ]
    print_table(["", "block (default)", result.mapper, "gain"], rows)
    facts = [("search", f"{result.work:,} candidates in {took:.2f} s")]
    if output is not None:
        facts.append(("written", str(output)))
    print_facts(facts)
    return before
