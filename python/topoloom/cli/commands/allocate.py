# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom allocate`: choose nodes, or show or generate an allocation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from topoloom.cli.options.files import (
    AsJson,
    Figure,
    GraphOption,
    WritePlacement,
    output_option,
)
from topoloom.cli.options.frameworks import MeshText, TrafficText
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import (
    AllocationText,
    Fragments,
    MachineText,
    NodeCount,
)
from topoloom.cli.options.searches import Effort, SearchOptions, set_effort
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topoloom.allocations.allocation_file import AllocatedHosts
    from topoloom.tasks.machines.allocate import AllocatedNodes
    from topoloom.tasks.machines.choose_for_mesh import MeshChoice
    from topoloom.tasks.machines.choose_hosts import NodeChoice

#: Maximum number of jobs in the list; those that share the most links are listed first.
MAX_JOBS = 10


@flatten_option_groups
def command(
    machine: MachineText,
    *,
    nodes: NodeCount = None,
    choose: Annotated[
        str | None,
        Option(
            "--choose",
            metavar="FILE|HOSTS",
            help="Choose them among these free nodes, written as for --allocation.",
        ),
    ] = None,
    graph: GraphOption = None,
    mesh: MeshText = None,
    traffic: TrafficText = None,
    allocation: AllocationText = None,
    fragments: Fragments = None,
    jobs: Annotated[
        list[Path] | None,
        Option(
            "--jobs",
            metavar="FILE",
            help="Nodes of other jobs: output of squeue -o '%i %N', or one file per "
            "job; may be repeated.",
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

    --choose selects the free nodes on which the --graph has the fewest hop-bytes;
    without a graph, it selects the nodes that are closest together. --mesh chooses
    and orders hosts for the axes of a training job, so that the groups of each axis
    span few leaf groups of the network. Axes are weighted by --traffic; without it, the
    largest spread is minimized. A lower bound is printed, too. --allocation shows an
    existing allocation, as does --machine detect in a batch job. --nodes alone
    generates an allocation for tests of mappers: boxes, lines and planes of the
    machine, scattered as a scheduler would.

    \b
    components        connected parts of the network that contain the nodes
    average distance  mean over pairs of the job's nodes; also for the best choice
                      found of as many nodes on the empty machine
    surface           directed links from the job's routers to other routers
    foreign links     links on routes between the job's nodes that begin or end at
                      a router with nodes of other jobs
    shared links      links that this job and a job of --jobs use: foreign links,
                      or own links on routes of these jobs

    The file contains one node per line, as coordinates if the machine has them. Other
    commands read it, or a host list, with --allocation.

    \b
    Examples:
      topoloom allocate --machine torus:8x8x8 --nodes 64 --fragments 4 -o a.txt
      topoloom allocate --machine torus:8x8x8 --allocation a.txt --figure a.png
      topoloom allocate --machine torus:8x8x8 --choose free.txt --nodes 64 \\
          --graph p.npz -o nodes.txt
      topoloom allocate --machine dgx-h100-pod --mesh tp=8,dp=16,pp=4 -o nodes.txt
      topoloom allocate --machine topology.conf --choose 'n[1-64]' -N 16
    """
    from topoloom._core import Error
    from topoloom.allocations.allocation_file import save_allocation
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import monitor_search, print_json
    from topoloom.cli.exit_status import Interrupted
    from topoloom.graphs.axes import parse_mesh, parse_traffic
    from topoloom.placements.placement_file import save_placement
    from topoloom.tasks.machines.allocate import allocate_nodes
    from topoloom.tasks.problem import AllocationSpec

    search = searching.make_search()
    axes = None if mesh is None else parse_mesh(mesh)
    limits = (effort, searching.time, searching.work)
    shown = (allocation, nodes, fragments)
    if axes is not None:
        _check_mesh_options(graph, write_placement, shown)
    elif traffic is not None:
        raise Error("--traffic requires --mesh, such as --mesh tp=8,dp=16")
    _check_choice_options(choose, graph, write_placement, shown, limits)
    found = allocate_nodes(
        machine,
        AllocationSpec(*shown, search.seed),
        free=choose,
        graph_file=graph,
        mesh=axes,
        traffic=parse_traffic(traffic, axes) if traffic and axes else (),
        mapper=set_effort("auto", effort),
        search=search,
        jobs=jobs or [],
        monitor=monitor_search,
    )
    given = found.nodes.allocation
    if output is not None:
        save_allocation(output, given, found.title, found.nodes.hosts)
    if write_placement is not None:
        file = found.placement_file(command=command_line.get())
        save_placement(write_placement, file)
    if figure is not None:
        from topoloom.figure import draw_allocation

        draw_allocation(figure, given)
    if as_json:
        print_json(found.document(str(output) if output else None))
    else:
        _print_result(found, [output, write_placement, figure])
    if found.interrupted:
        best = f"; {output} holds the best nodes so far" if output else ""
        raise Interrupted(f"interrupted{best}")


def _check_mesh_options(
    graph: str | None,
    write_placement: Path | None,
    shown: tuple[str | None, int | None, int | None],
) -> None:
    """Raise an error for options that conflict with --mesh."""
    from topoloom._core import Error

    if (graph, *shown) != (None,) * 4:
        raise Error(
            "--mesh determines the number of nodes; leave out --graph, --allocation, "
            "-N and --fragments, and give free nodes with --choose"
        )
    if write_placement is not None:
        raise Error(
            "--mesh places ranks on the hosts in the order of -o; leave out "
            "--write-placement"
        )


def _check_choice_options(
    choose: str | None,
    graph: str | None,
    write_placement: Path | None,
    shown: tuple[str | None, int | None, int | None],
    limits: tuple[str | None, str | None, int | None],
) -> None:
    """Raise an error for options that require --choose or --graph."""
    from topoloom._core import Error

    allocation, nodes, _ = shown
    if choose is None and (graph, *limits) != (None,) * 4:
        raise Error("--graph, --effort, --time and --work are for --choose FREE-NODES")
    if graph is None and limits != (None,) * 3:
        raise Error("--effort, --time and --work require --graph")
    if graph is None and write_placement is not None:
        raise Error("--write-placement requires --graph")
    if allocation is not None and (choose is not None or nodes is not None):
        raise Error(
            "--allocation shows an existing allocation; leave out --choose and -N"
        )


def _print_result(found: AllocatedNodes, written: list[Path | None]) -> None:
    from topoloom.cli.console import print_facts

    kind = "nodes" if found.nodes.allocation.machine.nodes_per_host == 1 else "hosts"
    if found.choice is not None:
        _print_choice(found.choice, kind)
    if found.for_mesh is not None:
        _print_spreads(found.for_mesh)
    given = found.nodes.allocation
    ids, machine = given.nodes.tolist(), given.machine
    shown = ", ".join(map(str, ids[:12])) + (", ..." if len(ids) > 12 else "")
    rows = []
    if machine.nodes_per_host > 1:
        rows.append(("hosts", _format_hosts(found.nodes)))
    rows += [
        ("nodes", f"{len(ids):,} of {machine.node_count:,}: {shown}"),
        ("slots", f"{given.slot_count:,}"),
        *_list_shape_rows(found.facts),
    ]
    print_facts(rows, f"allocation on {found.machine_name}", written)


def _format_hosts(given: AllocatedHosts) -> str:
    """Format the number of hosts and the list of their names or numbers."""
    from topoloom.nodes.hosts import format_allocated_share, list_hosts_of_nodes
    from topoloom.support.hostlist import compress_hostlist

    machine, nodes = given.allocation.machine, given.allocation.nodes
    if given.hosts is not None:
        shown = compress_hostlist(dict.fromkeys(given.hosts))
    else:
        shown = ", ".join(map(str, list_hosts_of_nodes(machine, nodes).tolist()))
    share = format_allocated_share(given.allocation).removesuffix(" hosts")
    return f"{share}: {shown if len(shown) <= 60 else shown[:57] + '...'}"


def _print_choice(choice: NodeChoice, kind: str) -> None:
    from topoloom.cli.console import print_table
    from topoloom.placements.measures import measure_title
    from topoloom.support.gain import format_percent, gain
    from topoloom.support.units import format_count

    base = choice.values["first"]
    names = {
        "first": "the first free ones",
        "random": "random ones",
        "chosen": "chosen",
    }
    rows = []
    for name, value in choice.values.items():
        shown = f"{value:.3f}" if choice.found is None else format_count(value)
        change = "" if name == "first" else format_percent(gain(base, value))
        rows.append((names[name], shown, change))
    print_table([kind, measure_title(choice.measure), "gain"], rows)


def _print_spreads(choice: MeshChoice) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import counted

    spreads, mesh = choice.spreads, choice.spreads.mesh
    names = {
        "first": "the first free ones",
        "packed": "bin packing",
        "chosen": "chosen",
    }
    rows = [
        (names[name], *map(str, one.most), f"{mesh.measure(one.cost):.4g}")
        for name, one in choice.choices().items()
    ]
    bound = f"{mesh.measure(spreads.least_cost):.4g}"
    rows.append(("at least", *map(str, spreads.least), bound))
    head = [f"{one.name}" for one in mesh.along]
    print_facts([], "leaf groups that the groups of an axis are in, at most")
    columns = ["hosts", *head, choice.measure]
    print_table(columns, rows, keep=["hosts", choice.measure])
    segments = spreads.chosen.segments()
    shown = " + ".join(map(str, segments[:16])) + (" ..." if segments[16:] else "")
    facts = [("segments", f"{shown} hosts in {counted(len(segments), 'leaf group')}")]
    if spreads.proven:
        said = "no other choice of hosts or order has a lower spread over leaf groups"
        facts.append(("proven", said))
    print_facts(facts)


def _list_shape_rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("components", f"{facts['components']:,}"),
        (
            "average distance",
            f"{facts['average_distance']:.3f}, {facts['compactness']:.2f} times that "
            f"of the most compact choice found ({facts['compact_distance']:.3f})",
        ),
        (
            "surface",
            f"{facts['links_leaving']:,} links leave, {facts['links_inside']:,} inside",
        ),
        (
            "foreign links",
            f"{facts['links_foreign']:,} of the {facts['links_used']:,} used, "
            f"with {facts['foreign_share']:.1%} of the hops",
        ),
    ]
    if "other_jobs" in facts:
        sharing, shared = facts["sharing"], facts["links_shared"]
        own = shared - facts["links_shared_foreign"]
        rows.append(
            (
                "shared links",
                f"{shared:,}, with {facts['shared_share']:.1%} of the "
                f"hops, with {len(sharing):,} of {facts['other_jobs']:,} other jobs"
                + (f"; {own:,} are the job's own, on routes of others" if own else ""),
            )
        )
        rows += [
            (f"  {job['job']}", f"{job['links']:,}, {job['share']:.1%} of the hops")
            for job in sharing[:MAX_JOBS]
        ]
    return rows
