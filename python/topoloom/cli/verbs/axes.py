# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom axes`: map tensor, data and pipeline axes onto a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli import complete
from topoloom.cli.options.files import AsJson, WritePattern, output_option
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import AllocationOptions, MachineText
from topoloom.cli.options.searches import Seed, read_search


@with_groups
def command(
    mesh: Annotated[
        str,
        typer.Option(
            "--mesh",
            metavar="AXIS=SIZE,...",
            help="The axes and their sizes, such as tp=8,cp=2,pp=4,dp=16.",
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
    allowed: AllocationOptions,
    seed: Seed = 1,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="Print just the order: device numbers in the shape of the mesh for "
            "'jax', the device of every rank for 'ranks', or the best order that has "
            "a name there for 'megatron'.",
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
    Axes of other names follow as they are written.

    By default ep sends all-to-all and pp along a chain, others in rings.
    Slots may be left over. A device is a slot, by its position in the allocation.

    \b
    Examples:
      topoloom axes --mesh tp=2,ep=8,dp=32 --machine dgx-h100-pod \\
          --allocate 512 --traffic tp=1GB,ep=4GB,dp=500MB
      topoloom axes --mesh tp=4,dp=16 --traffic tp=1GB,dp=halving:250MB \\
          --machine tpu-v4-cube --to jax
      topoloom axes --mesh tp=4,dp=16 --traffic tp=1GB,dp=250MB \\
          --machine tpu-v4-cube --write-pattern p.npz -o x.json
    Then:
      topoloom judge p.npz x.json             link by link
      topoloom map p.npz --machine tpu-v4-cube --objective time
    """
    from topoloom._core import judge
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import print_json, watching
    from topoloom.cli.exit_status import Interrupted
    from topoloom.graphs.axes import (
        mesh_graph,
        order_axes,
        parse_mesh,
        parse_traffic,
    )
    from topoloom.graphs.graph_file import save_graph
    from topoloom.graphs.phases import phase_array
    from topoloom.machines.machine_file import load_described
    from topoloom.placements.measures import measure_values
    from topoloom.placements.placement_file import PlacementFile, save_placement
    from topoloom.tasks.problem import Where, choose_allocation

    _check_format(to, as_json)
    axes = parse_mesh(mesh)
    sends = parse_traffic(traffic, axes)
    the_machine, described = load_described(machine)
    where = choose_allocation(the_machine, described, Where(*allowed, seed))
    with watching("ordering axes", read_search(seed)) as watch:
        orders = order_axes(where.allocation, axes, sends, watch)
    chosen = orders.nested if to == "megatron" else orders.best
    if write_pattern is not None or output is not None:
        graph, phases = mesh_graph(axes, sends)
    if write_pattern is not None:
        save_graph(write_pattern, graph, {"phases": phase_array(phases)})
    if output is not None:
        placement = orders.placement(chosen)
        on = (graph, where.allocation, placement)
        judged = measure_values(judge(*on))
        result = PlacementFile(
            machine=the_machine,
            allocation=where.allocation,
            placement=placement,
            hosts=where.hosts,
            node=described.node,
            objective="time",
            values={**judged, "objective": chosen.total},
            mapper="axes",
            graph=str(write_pattern or ""),
            command=command_line.get(),
        )
        save_placement(output, result)
    if to is not None:
        print(_written(orders, chosen, to))
    elif as_json:
        print_json(_document(orders))
    else:
        _print(orders, [path for path in (write_pattern, output) if path is not None])
    if watch.interrupted:
        raise Interrupted("interrupted; this is the best order so far")


def _check_format(to: str | None, as_json: bool) -> None:
    """Refuse an unknown format, and two of them."""
    from topoloom._core import Error
    from topoloom.support.nearest import unknown_name

    if to is not None and to not in complete.AXIS_ORDERS:
        raise Error(unknown_name("order format", to, complete.AXIS_ORDERS))
    if to is not None and as_json:
        raise Error("--to and --json are mutually exclusive; --json holds all orders")


def _written(orders: Any, order: Any, to: str) -> str:
    import json

    if to == "megatron":
        return str(orders.text(order))
    if to == "jax":
        return json.dumps(orders.devices(order).tolist())
    return "\n".join(map(str, orders.device_of_rank(order)))


def _document(orders: Any) -> dict[str, Any]:
    from topoloom.support.gain import gain

    def described(order: Any) -> dict[str, Any]:
        return {
            "order": orders.text(order),
            "back_and_forth": orders.back_and_forth(order),
            "seconds": order.total,
            "gain": gain(orders.given.total, order.total),
            "traffic": [
                {"axes": one.axes, "collective": one.collective, "seconds": seconds}
                for one, seconds in zip(orders.traffic, order.seconds, strict=True)
            ],
        }

    return {
        "machine": orders.allocation.machine.text,
        "mesh": dict(orders.mesh),
        "default": described(orders.given),
        "megatron": described(orders.nested),
        "best": {
            **described(orders.best),
            "jax": orders.devices(orders.best).tolist(),
            "ranks": orders.device_of_rank(orders.best).tolist(),
        },
    }


def _print(orders: Any, written: list[Path]) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.gain import gain, percent
    from topoloom.support.units import counted, format_count

    rows = []
    for name, order in (
        ("default", orders.given),
        ("whole axes", orders.nested),
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
    if back := orders.back_and_forth(orders.best):
        facts.append(("back and forth", ", ".join(back)))
    facts += [("written", str(path)) for path in written]
    print_facts(facts)
