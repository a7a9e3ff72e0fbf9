# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom allocate`: choose nodes, generate an allocation, or show one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli.options.files import (
    AsJson,
    Figure,
    Pattern,
    WritePlacement,
    output_option,
)
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import AllocationText, Fragments, MachineText
from topoloom.cli.options.searches import Effort, SearchOptions


@with_groups
def command(
    machine: MachineText,
    *,
    nodes: Annotated[
        int | None,
        typer.Option("--nodes", "-N", metavar="N", help="Number of nodes for the job."),
    ] = None,
    choose: Annotated[
        str | None,
        typer.Option(
            "--choose",
            metavar="FILE|HOSTS",
            help="Choose them among these free nodes, written as for --allocation.",
        ),
    ] = None,
    pattern: Pattern = None,
    allocation: AllocationText = None,
    fragments: Fragments = None,
    jobs: Annotated[
        list[Path] | None,
        typer.Option(
            "--jobs",
            metavar="FILE",
            help="Where other jobs run: what squeue -o '%i %N' prints, or one file "
            "per job; may be given several times.",
        ),
    ] = None,
    effort: Effort = None,
    searching: SearchOptions,
    output: Annotated[
        Path | None,
        output_option("Write the nodes to FILE."),
    ] = None,
    write_placement: WritePlacement = None,
    figure: Figure = None,
    as_json: AsJson = False,
) -> None:
    """Choose nodes for a job, or show or generate an allocation.

    --choose picks from the free nodes those on which the --pattern has the fewest
    hop-bytes, before the job runs; without a pattern, those that are closest together.
    --allocation shows an allocation as it is, and so does --machine detect inside of a
    batch job. With --nodes alone the job gets boxes, lines and planes of the machine,
    scattered as a scheduler scatters them, to study mappers without a busy machine.

    \b
    components        pieces of the network that the nodes are attached to
    average distance  between two of its nodes, and that of the best choice found of
                      as many nodes on the empty machine
    surface           directed links from the job's routers to others
    foreign links     used by routes between its nodes, though an end is not its own
    shared links      used by other jobs, too (--jobs)

    The file holds one node per line, as coordinates where the machine has them;
    --allocation of the other verbs reads it, and host lists too.

    \b
    Examples:
      topoloom allocate --machine torus:25x32x16 --nodes 512 --fragments 9 -o a.txt
      topoloom allocate --machine torus:25x32x16 --allocation a.txt --figure a.png
      topoloom allocate --machine torus:25x32x16 --choose free.txt --nodes 512 \\
          --pattern p.npz -o nodes.txt
      topoloom allocate --machine topology.conf --choose 'n[1-64]' -N 16
    """
    from topoloom._core import Error
    from topoloom.allocations.allocation_file import load_allocation, save_allocation
    from topoloom.allocations.jobs_file import load_jobs
    from topoloom.cli.allocation_facts import shape_facts, shape_rows
    from topoloom.cli.console import print_facts, print_json
    from topoloom.cli.node_choice import chosen_nodes
    from topoloom.machines.machine_file import load_described
    from topoloom.support.units import counted
    from topoloom.tasks.problem import Where, choose_allocation

    search = searching.search()
    given_limits = (effort, searching.time, searching.work)
    if choose is None and (pattern, *given_limits) != (None,) * 4:
        raise Error(
            "--pattern, --effort, --time and --work are for --choose FREE-NODES"
        )
    if pattern is None and given_limits != (None,) * 3:
        raise Error("--effort, --time and --work need --pattern, which is placed")
    if pattern is None and write_placement is not None:
        raise Error("--write-placement needs --pattern, whose ranks are placed")
    if allocation is not None and (choose is not None or nodes is not None):
        raise Error("--allocation is shown as it is; leave out --choose and -N")
    the_machine, described = load_described(machine)
    hosts = described.hosts
    others: dict[str, Any] = {}
    for file in jobs or []:
        others |= load_jobs(the_machine, file, hosts)
    choice: Any = None
    if choose is not None:
        free = load_allocation(the_machine, choose, hosts)
        choice = chosen_nodes(free, nodes, pattern, effort, search)
        given, names, title = choice.allocation, choice.hosts, choice.title
    elif allocation is None and nodes is None and not described.allocated:
        raise Error("name the --nodes of the job, or its --allocation")
    else:
        where = Where(allocation, nodes, fragments, search.seed)
        listed = choose_allocation(the_machine, described, where)
        given, names = listed.allocation, listed.hosts
        pieces = where.pieces(the_machine)
        made = f"in {counted(pieces, 'fragment')}, seed {search.seed}"
        source = f"of {allocation or machine}" if nodes is None else made
        title = f"{counted(len(given.nodes), 'node')} {source}"
    facts = shape_facts(given, others, search.seed)
    if output is not None:
        save_allocation(output, given, title, names)
    if write_placement is not None:
        choice.save_placement(write_placement)
    if figure is not None:
        from topoloom.figure import draw_allocation

        draw_allocation(figure, given)
    ids = [int(node) for node in given.nodes]
    if as_json:
        document = {
            "machine": the_machine.text,
            "nodes": ids,
            "slots": given.slot_count,
            **facts,
            "output": output and str(output),
        }
        if choice is not None:
            document |= choice.document()
        elif nodes is not None:
            document |= {"fragments": pieces, "seed": search.seed}
        print_json(document)
    else:
        if choice is not None:
            choice.print()
        shown = ", ".join(map(str, ids[:12])) + (", ..." if len(ids) > 12 else "")
        rows = [
            ("nodes", f"{len(ids):,} of {the_machine.node_count:,}: {shown}"),
            ("slots", f"{given.slot_count:,}"),
            *shape_rows(facts),
        ]
        written = (output, write_placement, figure)
        rows += [("written", str(path)) for path in written if path is not None]
        print_facts(rows, f"allocation on {the_machine.name}")
    if choice is not None and choice.interrupted:
        from topoloom.cli.exit_status import Interrupted

        best = f"; {output} holds the best nodes so far" if output else ""
        raise Interrupted(f"interrupted{best}")
