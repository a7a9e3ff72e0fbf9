# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom compare`: several mappers, one table."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from topoloom.cli import complete
from topoloom.cli.options import (
    Allocate,
    AllocationText,
    AsJson,
    Background,
    Capacities,
    CoresPerRank,
    Figure,
    Fragments,
    GraphFile,
    Imbalance,
    LauncherName,
    MachineText,
    MemoryPerRank,
    ObjectiveName,
    RanksPerNode,
    Seconds,
    Seed,
    Threads,
    Work,
)

DEFAULT = "block"

#: What is tried unless told: where ranks have slots of their own, and where they share.
MAPPERS = "block,hilbert,gge,mahd+swap,multisection+swap,auto"
SHARING_MAPPERS = "block,hilbert,multisection,auto"

_PER_BYTE, _DISTANCE = "hops /\nbyte", "distance /\nbyte"
_DILATION = "dilation /\nmax"
#: What narrow terminals do without, the first first.
_SPARE = (_DILATION, "search", _PER_BYTE, _DISTANCE, "gap", "hop-bytes", "congestion")


def command(
    graph: GraphFile,
    machine: MachineText,
    allocation: AllocationText = None,
    mappers: Annotated[
        str | None,
        typer.Option(
            "--mappers",
            metavar="LIST",
            help="Mappers with commas between them; + joins the stages of one.",
            autocompletion=complete.mapper,
            show_default=f"{MAPPERS}; where ranks share slots {SHARING_MAPPERS}",
        ),
    ] = None,
    objective: ObjectiveName = "auto",
    background: Background = None,
    imbalance: Imbalance = None,
    capacities: Capacities = None,
    seed: Seed = 1,
    time: Seconds = None,
    work: Work = None,
    threads: Threads = 0,
    allocate: Allocate = None,
    fragments: Fragments = None,
    launcher: LauncherName = "slurm",
    ranks_per_node: RanksPerNode = None,
    cores_per_rank: CoresPerRank = 1,
    memory_per_rank: MemoryPerRank = None,
    figure: Figure = None,
    as_json: AsJson = False,
) -> None:
    """Try several mappers on one problem and print one table.

    Gains are those of the objective against 'block', rank i on slot i: what the
    launcher does without instructions. The best is marked. --time and --work hold for
    each mapper. The gap is hop-bytes, or congestion where that is the objective,
    divided by what is quickly proven of all placements: 1 is optimal. 'topoloom bound'
    proves more. Where ranks share slots, with --imbalance or --capacities, the load of
    the fullest slot stands in its place, and block puts as many ranks on every slot,
    whatever their load.

    \b
    predicted       time that the messages take; where bandwidths are known
    dilation / max  links a message crosses, on average and at most
    congestion      largest load divided by bandwidth (in bytes if none is known)
    between nodes   bytes that leave their node, and the most in or out of one; ▲: more
                    than under block

    \b
    Examples:
      topoloom compare p.npz --machine torus:8x8x8
      topoloom compare p.npz --machine torus:25x32x16 --allocation a.txt \\
          --mappers block,gge,mahd+swap,auto
      topoloom compare p.npz -m torus:8x8x8 --objective congestion \\
          --mappers mahd+swap,mahd+swap+local-opt,auto
      topoloom compare p.npz -m tree:4:8:2 --allocate 64 --figure loads.svg
      topoloom compare md.npz -m torus:8x8x8 --imbalance 0.3 --mappers bricks,auto
    """
    from time import perf_counter

    from topoloom._core import place
    from topoloom.cli.console import print_json, watching
    from topoloom.cli.gaps import gaps, quick_bounds
    from topoloom.cli.objective import PROVEN, proves, read_objective
    from topoloom.cli.ordered import read_order
    from topoloom.cli.outcome import Interrupted
    from topoloom.cli.problem import Where, launcher_default, load_problem
    from topoloom.cli.search import read_search
    from topoloom.cli.sharing import read_sharing

    search = read_search(seed, time, work, threads)
    sharing = read_sharing(imbalance, capacities)
    order = read_order(launcher, ranks_per_node, cores_per_rank, memory_per_rank)
    where = Where(allocation, allocate, fragments, seed, order)
    problem = load_problem(graph, machine, where, sharing.allowed)
    shared = sharing.shared(problem.graph, problem.allocation)
    if mappers is None:
        mappers = SHARING_MAPPERS if shared else MAPPERS
    others = [name for name in split_mappers(mappers) if name != DEFAULT]
    names = [DEFAULT, *others]
    _check_mappers(names)
    proven = PROVEN if any(map(proves, names)) else ""
    aim = read_objective(objective, background, graph, problem.machine).chosen_for(
        problem.graph, problem.allocation, "ranks share slots" if shared else proven
    )
    results: list[dict[str, Any]] = []
    placements: dict[str, Any] = {}
    interrupted = False
    for number, name in enumerate(names, start=1):
        title = f"{number}/{len(names)} {name}"
        with watching(title, search) as watch:
            start = perf_counter()
            if name == DEFAULT:
                placement = launcher_default(problem.graph, problem.allocation, shared)
                done = 0
            else:
                found = place(
                    problem.graph,
                    problem.allocation,
                    mapper=name,
                    **search._asdict(),
                    sharing=sharing.value,
                    **aim.options,
                    progress=watch,
                )
                placement, done = found.placement, found.work
            took = perf_counter() - start
        values = aim.values(problem.graph, problem.allocation, placement)
        placements[name] = placement
        results.append({"mapper": name, **values, "seconds": took, "work": done})
        if watch.interrupted:
            interrupted = True
            break
    _add_gains(results, aim.measure)
    # Of a block that overfills slots nothing is proven.
    bounds = None if shared else quick_bounds(problem.graph, problem.allocation)
    for result in results:
        result["gap"] = gaps(result, bounds)
    best = min(results, key=lambda result: float(result[aim.measure]))["mapper"]
    if figure is not None:
        from topoloom.figure import draw_judgement

        draw_judgement(figure, problem.graph, problem.allocation, placements)
    if as_json:
        print_json(
            {
                "machine": problem.machine.text,
                "nodes": len(problem.allocation.nodes),
                "ranks": problem.graph.rank_count,
                "seed": seed,
                "objective": aim.objective,
                "reason": aim.reason,
                "default": DEFAULT,
                "best": best,
                "results": results,
            }
        )
    else:
        _print(problem, aim, results, best, shared)
    if interrupted:
        raise Interrupted(f"interrupted in mapper {results[-1]['mapper']}")


def split_mappers(text: str) -> list[str]:
    """Split a list of mappers at commas outside parentheses; duplicates once."""
    from topoloom._core import Error

    names = [name.strip() for name in re.split(r",(?![^()]*\))", text)]
    if not all(names):
        raise Error(f"--mappers '{text}' holds an empty name")
    return list(dict.fromkeys(names))


def _check_mappers(names: list[str]) -> None:
    """Refuse an unknown name before the first long search, not after it."""
    from topoloom._core import Error, mappers
    from topoloom.support.nearest import unknown_name

    known = [str(mapper["name"]) for mapper in mappers()]
    for name in names:
        for stage in re.split(r"\+(?![^()]*\))", name):
            plain = stage.partition("(")[0].strip()
            if plain not in known:
                raise Error(unknown_name("mapper", plain, known))


def _add_gains(results: list[dict[str, Any]], measure: str) -> None:
    from topoloom.support.gain import gain

    before = next(r[measure] for r in results if r["mapper"] == DEFAULT)
    for result in results:
        result["gain_percent"] = gain(before, result[measure])


def _print(
    problem: Any, aim: Any, results: list[dict[str, Any]], best: str, shared: bool
) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.cli.gaps import gap_text
    from topoloom.cli.measured import congestion_text, objective_text
    from topoloom.support.gain import percent
    from topoloom.support.units import (
        counted,
        format_bytes,
        format_count,
        format_seconds,
    )

    machine = problem.machine
    bounded = not shared and any(each["gap"].get(aim.measure) for each in results)
    columns = {
        "mapper": True,
        "gain": True,
        "objective": aim.measure == "objective",
        "predicted": machine.has_bandwidths,
        "hop-bytes": True,
        "load max": shared,
        "gap": bounded,
        _PER_BYTE: machine.distances_are_hops,
        _DISTANCE: not machine.distances_are_hops,
        _DILATION: True,
        "congestion": True,
        "between\nnodes": True,
        "in or out\nof one": True,
        "search": True,
    }
    block = next(result for result in results if result["mapper"] == DEFAULT)

    def leaving(result: dict[str, Any], name: str) -> str:
        rises = " ▲" if result[name] > block[name] else ""
        return format_bytes(result[name]) + rises

    rows, marked = [], None
    for index, result in enumerate(results):
        name = result["mapper"]
        label = f"{name} (default)" if name == DEFAULT else name
        if name == best:
            marked = index
            label += " ◄ best"
        per_byte = f"{result['hops_per_byte']:.3f}"
        texts = {
            "mapper": label,
            "gain": percent(result["gain_percent"]),
            "objective": objective_text(result[aim.measure], aim.objective, machine),
            "predicted": format_seconds(result.get("predicted_seconds", 0)),
            "hop-bytes": format_count(result["hop_bytes"]),
            "load max": format_count(result.get("load_max", 0)),
            "gap": gap_text(result["gap"].get(aim.measure)),
            _PER_BYTE: per_byte,
            _DISTANCE: per_byte,
            _DILATION: f"{result['dilation_average']:.3f} / {result['dilation_max']:g}",
            "congestion": congestion_text(result["congestion_max"], machine),
            "between\nnodes": leaving(result, "inter_node_bytes"),
            "in or out\nof one": leaving(result, "inter_node_max"),
            "search": f"{result['seconds']:.2f} s",
        }
        rows.append([texts[column] for column, is_shown in columns.items() if is_shown])
    title = (
        f"{counted(problem.graph.rank_count, 'rank')} on "
        f"{len(problem.allocation.nodes):,} of {machine.node_count:,} nodes of "
        f"{machine.name}"
    )
    if aim.measure != "hop_bytes":
        title += f"; objective: {aim.title}"
    shown = [column for column, is_shown in columns.items() if is_shown]
    hidden = print_table(shown, rows, title=title, best=marked, spare=_SPARE)
    facts = [("objective", f"{aim.title}: {aim.reason}")] if aim.reason else []
    facts += [("machine", remark) for remark in machine.remarks]
    if problem.unused:
        facts.append(("allocation", problem.unused))
    if hidden:
        names = ", ".join(name.replace("\n", " ") for name in hidden)
        facts.append(("not shown", f"{names}: the terminal is too narrow"))
    if facts:
        print_facts(facts)
