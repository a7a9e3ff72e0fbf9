# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom bound`: prove lower bounds on the objective."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson, GraphFile
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import (
    AllocationOptions,
    LauncherName,
    MaybeMachineText,
    RankLimitOptions,
)
from topoloom.cli.options.searches import Background, SearchOptions, SharingOptions
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.tasks.bound import ProvenBounds


@flatten_option_groups
def command(
    graph: GraphFile,
    placement: Annotated[
        str | None,
        Argument(
            metavar="PLACEMENT",
            help="A file written by 'topoloom map', to report its optimality gap.",
        ),
    ] = None,
    *,
    machine: MaybeMachineText = None,
    allowed: AllocationOptions,
    launcher: LauncherName = "slurm",
    limits: RankLimitOptions,
    sharing: SharingOptions,
    searching: SearchOptions,
    background: Background = None,
    lp: Annotated[
        bool,
        Option(
            "--lp",
            help="Also solve a linear relaxation of congestion; for small problems: "
            "16 ranks take seconds, 27 minutes. Needs scipy.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Prove lower bounds on the objective of any placement.

    No placement has fewer hop-bytes, less congestion or a shorter predicted time (if
    bandwidths are known) than the bound. The gap of a PLACEMENT is its value divided by
    the bound; 1 is optimal. --time, --work or Ctrl-C end the search for better bounds.

    \b
    hop-bytes   from the least cost of every rank's messages (sparse,
                gilmore-lawler), eigenvalues (projection) or dual ascent
    congestion  from the bytes that must leave a part of the machine (cut) or a
                rank (injection), from all bytes on all links (average), or from a
                linear relaxation with the machine's own routes (lp)
    time        from startups, shortest routes, and the busiest link, NIC
                (network) or memory, or from all that one rank sends (sender)

    With --background, the bounds on congestion and time include the traffic of other
    jobs (background).

    \b
    Examples:
      topoloom bound p.npz x.json
      topoloom bound p.npz --machine torus:8x8x8 --nodes 64 --time 1s
      topoloom bound p.npz x.json --json
      topoloom bound p8.npz --machine mesh:2x4 --lp
    """
    from topoloom._core import Error
    from topoloom.cli.console import monitor_search, note, note_assumption, print_json
    from topoloom.cli.exit_status import Interrupted
    from topoloom.graphs.phases import load_phases
    from topoloom.tasks.bound import prove_bounds
    from topoloom.tasks.objective import read_background
    from topoloom.tasks.placement_problem import load_placement_problem
    from topoloom.tasks.problem import AllocationSpec
    from topoloom.tasks.sharing import can_share_slots

    search, share = searching.make_search(), sharing.make_sharing()
    where = AllocationSpec(*allowed, search.seed, limits.make_launch_order(launcher))
    given = load_placement_problem("bound", graph, placement, machine, where, share)
    note_assumption(given.remark)
    if given.shared and not can_share_slots(share):
        raise Error(
            f"in {placement} ranks share slots; set the slot capacities with "
            "--imbalance or --capacities"
        )
    if lp and background:
        raise Error("--lp does not include --background; leave out one of them")
    if lp and can_share_slots(share):
        raise Error(
            "--lp requires one rank per slot; leave out --imbalance and --capacities"
        )
    with monitor_search("searching for proofs", search) as watch:
        found = prove_bounds(
            given,
            load_phases(graph),
            search=search,
            sharing=share,
            lp=lp,
            progress=watch,
            background=read_background(background, given.allocation.machine),
        )
    if as_json:
        print_json(found.document())
    else:
        _print_result(found)
    if lp and found.rounded is None and not watch.interrupted:
        note("topoloom: --time was too short for the linear relaxation")
    if watch.interrupted:
        raise Interrupted("interrupted; the printed bounds are the best so far")


def _print_result(bounds: ProvenBounds) -> None:
    from topoloom.cli.console import print_table
    from topoloom.machines.machine_facts import machine_name
    from topoloom.nodes.hosts import format_allocated_share
    from topoloom.placements.measures import (
        format_congestion,
        format_measure,
        measure_title,
    )
    from topoloom.tasks.optimality_gap import format_gap

    given, allocation = bounds.given, bounds.given.allocation
    machine = allocation.machine
    rows = []
    for name, one in bounds.bounds.items():
        by = " of ".join(filter(None, (one.by, one.where)))
        row = [
            measure_title(name, machine),
            by,
            format_measure(name, one.bound, machine),
        ]
        if one.value is not None:
            row += [format_measure(name, one.value, machine), format_gap(one.gap)]
        rows.append(row)
    columns = ["", "proved by", "at least"]
    if given.file is not None:
        columns += [given.file.mapper or "placement", "gap"]
    title = (
        f"{format_allocated_share(allocation)} of {machine_name(machine, given.node)}"
    )
    print_table(columns, rows, title=title, left=2, keep=["", "at least", "gap"])
    if bounds.rounded is not None:
        whole = format_congestion(bounds.rounded, machine)
        print(f"The relaxation in whole ranks: congestion {whole}")
