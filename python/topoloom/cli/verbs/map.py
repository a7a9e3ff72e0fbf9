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
    Background,
    Capacities,
    CoresPerRank,
    Effort,
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
    output_option,
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
            help="auto, or a constructor and improvers, such as gge,swap; see: "
            "list mappers.",
            autocompletion=complete.mapper,
        ),
    ] = "auto",
    effort: Effort = None,
    objective: ObjectiveName = "auto",
    background: Background = None,
    imbalance: Imbalance = None,
    capacities: Capacities = None,
    earlier: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Start from an earlier placement, of another pattern, allocation or "
            "machine.",
        ),
    ] = None,
    migration_cost: Annotated[
        int,
        typer.Option(
            "--migration-cost",
            metavar="BYTES",
            help="With --from: bytes that move with a rank; a rank moves only where "
            "its messages save more hop-bytes than that.",
        ),
    ] = 0,
    output: Annotated[
        Path | None,
        output_option("Write the placement."),
    ] = None,
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
    as_json: AsJson = False,
) -> None:
    """Place the ranks on the allocated slots.

    The gain is against block order, rank i on slot i, which is what a launcher does
    without instructions. Of an allocation with more slots than ranks, those are used
    that the launcher uses. Ctrl-C, --time and --work end a search early; the best
    placement so far is written all the same.

    By default the objective is the predicted time where the machine's bandwidths are
    known and messages are long, else hop-bytes; a line says which, and why. What 'auto'
    finds is never predicted to take longer than block order. Phases in the pattern's
    file count under all objectives but hop-bytes: messages of different phases do not
    meet on a link.

    Each rank gets a slot of its own. With --imbalance or --capacities ranks may share
    slots: they are partitioned and placed at once.

    \b
    Examples:
      topoloom map p.npz --machine torus:8x8x8 -o x.json
      topoloom map p.npz --machine torus:25x32x16 --allocation a.txt \\
          --mapper gge,swap --seed 1 --time 10s -o x.json
      topoloom map p.npz -m frontier+node:8 --allocate 64 --effort best
      topoloom map mesh.graph -m tree:4:8:2,distance=1:10:100 --imbalance 0.03
      topoloom map p.npz -m torus:8x8x8 --from x.json --migration-cost 1000000
      topoloom map p.npz -m torus:8x8x8 -a a.txt --objective congestion \\
          --background other.npz,other.json
    Then:
      topoloom judge p.npz x.json             what it is worth, link by link
      topoloom export x.json --to openmpi-rankfile
    """
    from time import perf_counter

    from topoloom._core import Error, place
    from topoloom.cli.console import note, print_json, watching
    from topoloom.cli.earlier import earlier_slots, moved
    from topoloom.cli.gaps import gap, gap_text
    from topoloom.cli.measured import objective_text
    from topoloom.cli.objective import HOP_BYTES, read_objective
    from topoloom.cli.ordered import read_order
    from topoloom.cli.outcome import Interrupted
    from topoloom.cli.problem import Where, at_least, load_problem
    from topoloom.cli.search import read_search
    from topoloom.cli.sharing import read_sharing
    from topoloom.cli.typed import typed
    from topoloom.placements.placement_file import (
        PlacementFile,
        load_placement,
        save_placement,
    )
    from topoloom.support.units import counted

    search = read_search(seed, time, work, threads)
    at_least("--migration-cost", migration_cost, 0)
    if migration_cost and earlier is None:
        raise Error("--migration-cost needs --from, the placement to move away from")
    sharing = read_sharing(imbalance, capacities)
    if effort is not None:
        if mapper != "auto":
            raise Error(f"--effort is for the auto mapper, not for '{mapper}'")
        mapper = f"auto(effort={effort})"
    order = read_order(launcher, ranks_per_node, cores_per_rank, memory_per_rank)
    where = Where(allocation, allocate, fragments, seed, order)
    problem = load_problem(graph, machine, where, sharing.allowed)
    aim = read_objective(objective, background, graph, problem.machine).chosen_for(
        problem.graph,
        problem.allocation,
        _why_hop_bytes(
            mapper, sharing.shared(problem.graph, problem.allocation), earlier
        ),
    )
    before = None
    if earlier is not None:
        before = earlier_slots(
            load_placement(earlier),
            problem.allocation,
            problem.hosts,
            problem.graph.rank_count,
        )
    start = perf_counter()
    with watching(f"placing with {mapper}", search) as watch:
        found = place(
            problem.graph,
            problem.allocation,
            mapper=mapper,
            **search._asdict(),
            previous=before,
            migration_cost=migration_cost,
            sharing=sharing.value,
            **aim.options,
            progress=watch,
        )
    took = perf_counter() - start
    placement, proven = found.placement, found.proven
    values = aim.values(problem.graph, problem.allocation, placement)
    result = PlacementFile(
        machine=problem.machine,
        allocation=problem.allocation,
        placement=placement,
        hosts=problem.hosts,
        node=problem.node,
        objective=aim.objective,
        values=values,
        mapper=mapper,
        seed=seed,
        work=found.work,
        graph=graph,
        command=typed.get(),
        cores_per_rank=cores_per_rank,
    )
    if output is not None:
        save_placement(output, result)
    if as_json:
        print_json({**result.document(), **_proof(values[aim.measure], proven)})
    else:
        facts = [("search", f"{found.work:,} candidates in {took:.2f} s")]
        if aim.reason:
            facts.insert(0, ("objective", f"{aim.title}: {aim.reason}"))
        facts += [("machine", remark) for remark in problem.machine.remarks]
        if problem.unused:
            facts.append(("allocation", problem.unused))
        counts = aim.objective != HOP_BYTES or problem.machine.has_bandwidths
        if aim.phases and counts:
            facts.append(("phases", f"{len(aim.phases)}"))
        if background:
            facts.append(("background", ", ".join(background)))
        if before is not None:
            facts.append(("moved", counted(moved(before, placement), "rank")))
        if proven is not None:
            ratio = gap_text(gap(values[aim.measure], proven))
            limit = objective_text(proven, aim.objective, problem.machine)
            facts.append(("proven", f"none is below {limit}: gap {ratio}"))
        if output is not None:
            facts.append(("written", str(output)))
        block = _print(problem, result, aim, facts)
        worse = values[aim.measure] > block[aim.measure]
        if worse and mapper != "auto" and not watch.interrupted:
            note(
                "topoloom: block placement, what the launcher does by itself, has "
                f"{aim.less} here; leave out --mapper to have the best of several"
            )
    if watch.interrupted:
        best = f"; {output} holds the best placement so far" if output else ""
        raise Interrupted(f"interrupted{best}")


def _why_hop_bytes(mapper: str, shared: bool, earlier: Path | None) -> str:
    """Say why only hop-bytes will do, where that is so."""
    from topoloom.cli.objective import PROVEN, proves

    if shared:
        return "ranks share slots"
    if earlier is not None:
        return "an earlier placement is weighed against"
    return PROVEN if proves(mapper) else ""


def _proof(value: float, proven: float | None) -> dict[str, Any]:
    from topoloom.cli.gaps import gap

    if proven is None:
        return {}
    return {"proven": {"least": proven, "gap": gap(value, proven)}}


def _print(
    problem: Any, result: Any, aim: Any, facts: list[tuple[str, str]]
) -> dict[str, float]:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.cli.measured import (
        gain_text,
        measure_name,
        measure_text,
        objective_text,
    )
    from topoloom.cli.problem import launcher_default

    shared, machine = result.placement.shared, problem.machine
    default = launcher_default(problem.graph, problem.allocation, shared)
    before: dict[str, float] = aim.values(problem.graph, problem.allocation, default)

    def text(name: str, value: float) -> str:
        if name == "objective":
            return objective_text(value, aim.objective, machine)
        return measure_text(name, value, machine)

    rows = [
        (
            aim.title if name == "objective" else measure_name(name, machine),
            text(name, before[name]),
            text(name, after),
            gain_text(name, before[name], after),
        )
        for name, after in result.values.items()
    ]
    print_table(["", "block (default)", result.mapper, "gain"], rows)
    filled, used = (
        len({slot // machine.slots_per_node for slot in placement.slots.tolist()})
        for placement in (default, result.placement)
    )
    if used > filled:
        facts.append(
            (
                "nodes",
                f"{used:,}, where block fills {filled:,}; --allocation says which "
                "the job has",
            )
        )
    print_facts(facts)
    return before
