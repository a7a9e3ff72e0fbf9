# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom joint`: place several jobs together on one machine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli import complete
from topoloom.cli.options import (
    Allocate,
    AllocationText,
    AsJson,
    Fragments,
    MachineText,
    ObjectiveName,
    Seconds,
    Seed,
    Threads,
    Work,
)


def _directory(path: Path | None) -> Path | None:
    """Refuse a directory that cannot be written to, before a long search."""
    from topoloom._core import Error
    from topoloom.support.files import check_writable

    if path is not None:
        if path.exists() and not path.is_dir():
            raise Error(f"{path} is no directory; name one for the placements")
        check_writable(path / "placement.json" if path.is_dir() else path)
    return path


def command(
    jobs: Annotated[
        list[str],
        typer.Argument(
            metavar="JOB",
            help="GRAPH@ALLOCATION, with an allocation as for --allocation; or only "
            "the GRAPH of each, which then share --allocation.",
        ),
    ],
    machine: MachineText,
    allocation: AllocationText = None,
    allocate: Allocate = None,
    fragments: Fragments = None,
    mapper: Annotated[
        str,
        typer.Option(
            "--mapper",
            metavar="MAPPER",
            help="As for 'topoloom map'.",
            autocompletion=complete.mapper,
        ),
    ] = "auto",
    objective: ObjectiveName = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output-dir",
            "-o",
            metavar="DIR",
            help="Write a placement of each job into DIR.",
            callback=_directory,
        ),
    ] = None,
    seed: Seed = 1,
    time: Seconds = None,
    work: Work = None,
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Place several jobs that run at the same time, least in each other's way.

    Jobs with allocations of their own are placed each for itself, then again and again
    beside what the others send, as long as that helps. Jobs without share the nodes of
    --allocation, or all, and are placed there as one pattern. --time and --work hold
    for all searches together; Ctrl-C ends them, too, and keeps the best.

    \b
    alone            the objective of each job for itself, on an empty machine
    each for itself  the same placement, when all jobs run: on the links that it uses
    jointly          when they are placed together
    all jobs         the worst of them, and all their hop-bytes

    \b
    Examples:
      topoloom joint 'a.npz@n[0-255]' 'b.npz@n[256-511]' -m torus:8x8x8
      topoloom joint a.npz b.npz -m torus:25x32x16 --allocation pool.txt -o placed
    """
    from time import perf_counter

    from topoloom.cli.console import print_json, watching
    from topoloom.cli.objective import AUTO
    from topoloom.cli.outcome import Interrupted
    from topoloom.cli.problem import Where
    from topoloom.cli.search import read_search
    from topoloom.machines.machine_file import load_described
    from topoloom.tasks.joint import Search, place_in_pool, place_jointly

    search = read_search(seed, time, work, threads)
    the_machine, described = load_described(machine)
    reason = ""
    if objective == AUTO:
        gives = "bandwidths" if the_machine.has_bandwidths else "no bandwidths"
        objective = "time" if the_machine.has_bandwidths else "congestion"
        reason = f"the machine gives {gives}"
    where = Where(allocation, allocate, fragments, seed)
    placed, pool, hosts = _read_jobs(jobs, the_machine, described, where)
    start = perf_counter()
    with watching(f"placing {len(jobs)} jobs", search) as watch:
        budget = Search(mapper, objective=objective, **search._asdict(), progress=watch)
        if pool is None:
            found = place_jointly(placed, budget)
        else:
            found = place_in_pool([(j.name, j.graph) for j in placed], pool, budget)
    took = perf_counter() - start
    files: list[Path] = []
    if output is not None:
        files = _save(output, found, objective, mapper, seed, hosts, described.node)
    if as_json:
        print_json(_document(found, objective, mapper, seed, files))
    else:
        facts = [("search", f"{found.work:,} candidates in {took:.2f} s")]
        if reason:
            facts.insert(0, ("objective", f"{objective}: {reason}"))
        facts += [("machine", remark) for remark in the_machine.remarks]
        facts += [("written", str(file)) for file in files]
        _print(found, objective, facts)
    if watch.interrupted:
        best = f"; {output} holds the best placements so far" if output else ""
        raise Interrupted(f"interrupted{best}")


def _read_jobs(
    texts: list[str], machine: Any, described: Any, where: Any
) -> tuple[list[Any], Any, dict[int, str]]:
    """Read jobs, the pool if they share one, and the names of hosts by node."""
    from topoloom._core import Error
    from topoloom.cli.problem import Where, check_fit, choose_allocation
    from topoloom.graphs.graph_file import load_graph
    from topoloom.tasks.joint import Job

    if len(texts) < 2:
        raise Error(f"'{texts[0]}' is one job; name two or more, or use: topoloom map")
    parts = [text.rpartition("@") if "@" in text else (text, "", "") for text in texts]
    own = [bool(at) for _, at, _ in parts]
    if any(own) and not all(own):
        raise Error(
            f"'{texts[own.index(False)]}' has no allocation; write GRAPH@ALLOCATION "
            "for all jobs or for none"
        )
    if all(own) and (where.allocation or where.allocate):
        raise Error("jobs with an @ALLOCATION leave out --allocation and --allocate")
    listed = [
        choose_allocation(machine, described, Where(text) if at else where)
        for _, at, text in (parts if all(own) else parts[:1])
    ]
    hosts = {
        node: host
        for each in listed
        if each.hosts is not None
        for node, host in zip(each.allocation.nodes.tolist(), each.hosts, strict=True)
    }
    names = _names([graph for graph, _, _ in parts])
    jobs = []
    for number, (file, _, _) in enumerate(parts):
        graph = load_graph(file)
        at = listed[number if all(own) else 0].allocation
        check_fit(graph, at, file)
        jobs.append(Job(names[number], graph, at))
    return jobs, None if all(own) else listed[0].allocation, hosts


def _names(files: list[str]) -> list[str]:
    """Name jobs as their files, with a number where several have the same name."""
    stems = [Path(file).stem for file in files]
    count, seen = Counter(stems), Counter[str]()
    names = []
    for stem in stems:
        seen[stem] += 1
        names.append(stem if count[stem] == 1 else f"{stem}-{seen[stem]}")
    return names


def _save(
    directory: Path,
    found: Any,
    objective: str,
    mapper: str,
    seed: int,
    hosts: dict[int, str],
    node: Any,
) -> list[Path]:
    from topoloom._core import judge
    from topoloom.cli.problem import measures
    from topoloom.cli.typed import typed
    from topoloom.placements.placement_file import PlacementFile, save_placement

    directory.mkdir(exist_ok=True)
    files = []
    together = found.together
    for job, placement, value in zip(
        together.jobs, together.placements, together.values, strict=True
    ):
        nodes = job.allocation.nodes.tolist()
        on = (job.graph, job.allocation, placement)
        files.append(directory / f"{job.name}.json")
        save_placement(
            files[-1],
            PlacementFile(
                machine=job.allocation.machine,
                allocation=job.allocation,
                placement=placement,
                hosts=tuple(hosts[n] for n in nodes) if hosts else None,
                node=node,
                objective=objective,
                values={**measures(judge(*on)), "objective": value},
                mapper=mapper,
                seed=seed,
                work=found.work,
                command=typed.get(),
            ),
        )
    return files


def _document(
    found: Any, objective: str, mapper: str, seed: int, files: list[Path]
) -> dict[str, Any]:
    together, apart = found.together, found.apart
    return {
        "machine": together.jobs[0].allocation.machine.text,
        "objective": objective,
        "mapper": mapper,
        "seed": seed,
        "work": found.work,
        "jobs": [
            {
                "job": job.name,
                "ranks": job.graph.rank_count,
                "nodes": job.allocation.nodes.tolist(),
                "alone": found.alone[i],
                "apart": apart.values[i],
                "jointly": together.values[i],
                "output": str(files[i]) if files else None,
            }
            for i, job in enumerate(together.jobs)
        ],
        "apart": {"objective": apart.value, "hop_bytes": apart.hop_bytes},
        "jointly": {"objective": together.value, "hop_bytes": together.hop_bytes},
    }


def _print(found: Any, objective: str, facts: list[tuple[str, str]]) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.cli.measured import gain_text, objective_text
    from topoloom.support.units import format_count

    together, apart = found.together, found.apart
    ranks = [job.graph.rank_count for job in together.jobs]
    machine = together.jobs[0].allocation.machine

    def text(value: float) -> str:
        return objective_text(value, objective, machine)

    rows = [
        (
            job.name,
            f"{ranks[i]:,}",
            text(found.alone[i]),
            text(apart.values[i]),
            text(together.values[i]),
            gain_text(objective, apart.values[i], together.values[i]),
        )
        for i, job in enumerate(together.jobs)
    ]
    all_jobs = (apart.value, together.value)
    apart_text, together_text = map(text, all_jobs)
    total = f"{sum(ranks):,}"
    rows.append(
        (
            "all jobs",
            total,
            "",
            apart_text,
            together_text,
            gain_text(objective, *all_jobs),
        )
    )
    hop_bytes = (apart.hop_bytes, together.hop_bytes)
    apart_text, together_text = map(format_count, hop_bytes)
    rows.append(
        (
            "hop bytes",
            "",
            "",
            apart_text,
            together_text,
            gain_text("hop_bytes", *hop_bytes),
        )
    )
    print_table(
        ["", "ranks", "alone", "each for itself", "jointly", "gain"],
        rows,
        title=f"{len(ranks)} jobs on {machine.name}; objective: {objective}",
    )
    print_facts(facts)
