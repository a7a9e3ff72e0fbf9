# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom axes`: map tensor, data and pipeline axes onto a machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoloom.cli import complete
from topoloom.cli.options.files import AsJson, WritePattern, output_option
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import AllocationOptions, MachineText
from topoloom.cli.options.searches import Seed, read_search

if TYPE_CHECKING:
    from topoloom.graphs.megatron import MegatronJob
    from topoloom.tasks.axes import MappedAxes


@with_groups
def command(
    mesh: Annotated[
        str,
        typer.Option(
            "--mesh",
            metavar="AXIS=SIZE,...",
            help="The axes and their sizes, such as tp=8,cp=2,pp=4,dp=16; their "
            "product is the number of ranks.",
        ),
    ],
    traffic: Annotated[
        str,
        typer.Option(
            "--traffic",
            metavar="AXIS=BYTES,...",
            help="Bytes that each rank sends along an axis per step, such as tp=2GiB "
            "or ep=all-to-all:64MiB; the others are ring, halving and chain. "
            "dp+ep=1GiB goes along both as one.",
        ),
    ],
    machine: MachineText,
    *,
    framework: Annotated[
        str | None,
        typer.Option(
            "--framework",
            metavar="NAME",
            help="Lay out the job by the rules of Megatron-Core: 'megatron', or "
            "'megatron-0.8' for those of that release; --mesh has tp, cp, dp and pp. "
            "Otherwise, without --experts, every axis multiplies the ranks, as in JAX.",
        ),
    ] = None,
    experts: Annotated[
        str | None,
        typer.Option(
            "--experts",
            metavar="ep=SIZE,etp=SIZE",
            help="Ranks that Megatron distributes the experts over, and splits each "
            "over; without etp as many as tp. Traffic may then name ep, etp and edp.",
        ),
    ] = None,
    allowed: AllocationOptions,
    seed: Seed = 1,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="Print just the order: device numbers in the shape of the mesh for "
            "'jax', the device of every rank for 'ranks', or the best name of an order "
            "for 'megatron', with devices as allocated.",
            autocompletion=complete.axis_orders,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("Write the placement."),
    ] = None,
    write_pattern: WritePattern = None,
    as_json: AsJson = False,
) -> None:
    """Map the axes of a training job onto a machine.

    Which axis lies inside an NVLink domain, along which axis of a torus, over which
    rails: the order of the axes, split where that helps, with the least time for what
    they send. Time is that of --objective time, added up over the axes; it is compared
    with the order tp-cp-ep-dp-pp, the first the fastest, on the slots as allocated.
    Axes of other names follow as they are written. Megatron orders by a name, which
    its experts share; the best of those that it accepts, and ranks on other slots.

    By default ep sends all-to-all and pp along a chain, others in rings.
    Slots may be left over. A device is a slot, by its position in the allocation.

    \b
    Examples:
      topoloom axes --mesh tp=2,dp=256 --experts ep=8 --machine dgx-h100-pod \\
          --allocate 64 --traffic tp=1GB,ep=4GB,dp=500MB --framework megatron
      topoloom axes --mesh tp=4,dp=16 --traffic tp=1GB,dp=halving:250MB \\
          --machine tpu-v4-cube --to jax
      topoloom axes --mesh tp=4,dp=16 --traffic tp=1GB,dp=250MB \\
          --machine tpu-v4-cube --write-pattern p.npz -o x.json
    Then:
      topoloom judge p.npz x.json             link by link
      topoloom map p.npz --machine tpu-v4-cube --objective time
    """
    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import print_json, watching
    from topoloom.cli.exit_status import Interrupted
    from topoloom.graphs.axes import parse_mesh, parse_traffic
    from topoloom.graphs.graph_file import save_graph
    from topoloom.graphs.megatron import NEWEST, megatron_job, parse_framework
    from topoloom.graphs.phases import phase_array
    from topoloom.placements.placement_file import save_placement
    from topoloom.support.nearest import unknown_name
    from topoloom.tasks.axes import FORMATS, map_axes
    from topoloom.tasks.problem import Where, load_nodes

    if to is not None and to not in FORMATS:
        raise Error(unknown_name("order format", to, FORMATS))
    if to is not None and as_json:
        raise Error("--to and --json are mutually exclusive; --json holds all orders")
    axes = parse_mesh(mesh)
    job: MegatronJob | None = None
    if framework is not None or experts is not None or to == "megatron":
        release = NEWEST if framework is None else parse_framework(framework)
        job = megatron_job(axes, parse_mesh(experts) if experts else {}, release)
        axes = job.axes
    if to == "jax" and job is not None:
        raise Error("--to jax is for meshes; write --to ranks for a job of Megatron")
    sends = parse_traffic(traffic, axes)
    given, described = load_nodes(machine, Where(*allowed, seed))
    with watching("ordering axes", read_search(seed)) as watch:
        mapped = map_axes(
            given.allocation, job or axes, sends, named=to == "megatron", progress=watch
        )
    if write_pattern is not None:
        graph, phases = mapped.graph
        save_graph(write_pattern, graph, {"phases": phase_array(phases)})
    if output is not None:
        result = mapped.placement_file(
            hosts=given.hosts,
            node=described.node,
            graph=str(write_pattern or ""),
            command=command_line.get(),
        )
        save_placement(output, result)
    if to is not None:
        print(mapped.text(to))
    elif as_json:
        print_json(mapped.document())
    else:
        _print(mapped, [write_pattern, output])
    if watch.interrupted:
        raise Interrupted("interrupted; this is the best order so far")


def _print(mapped: MappedAxes, written: list[Path | None]) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.graphs.axes import MeshOrders
    from topoloom.support.gain import gain, percent
    from topoloom.support.units import counted, format_count

    orders = mapped.orders
    is_mesh = isinstance(orders, MeshOrders)
    rows = []
    for name, order in (
        ("default", orders.given),
        ("whole axes" if is_mesh else "best name", orders.nested),
        ("best", orders.best),
    ):
        times = [format_count(seconds) for seconds in (*order.seconds, order.total)]
        gained = percent(gain(orders.given.total, order.total))
        rows.append((name, orders.text(order), *times, gained))
    names = [one.name for one in orders.traffic]
    machine = orders.allocation.machine
    ranks, slots = len(orders.best.slots), orders.allocation.slot_count
    print_facts([], f"{counted(ranks, 'rank')} on {machine.name}: seconds per step")
    print_table(["", "fastest first", *names, "all", "gain"], rows, left=2)
    facts = []
    if slots > ranks:
        facts.append(("idle", f"{slots - ranks:,} of {slots:,} slots"))
    if isinstance(orders, MeshOrders) and orders.back_and_forth(orders.best):
        facts.append(("back and forth", ", ".join(orders.back_and_forth(orders.best))))
    if not is_mesh and orders.best is not orders.nested:
        moved = (orders.best.slots != orders.nested.slots).sum()
        if moved:
            facts.append(("best", f"{moved:,} ranks on other slots; -o places them"))
    print_facts(facts, written=written)
