# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom ai axes`: map tensor, data and pipeline axes onto a machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from topoloom.cli import completions
from topoloom.cli.options.files import (
    AsJson,
    GraphOption,
    WriteGraph,
    format_option,
    output_option,
)
from topoloom.cli.options.frameworks import (
    JobOptions,
    MeshText,
    TrafficText,
    read_job,
)
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import AllocationOptions, MaybeMachineText
from topoloom.cli.options.programs import Collectives, GpusPerNode
from topoloom.cli.options.searches import Seconds, Seed, Work, read_search
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topoloom._core import Allocation
    from topoloom.graphs.traces.mesh import InferredMesh
    from topoloom.tasks.axes import AxesProblem, MappedAxes


@flatten_option_groups
def command(
    machine: MaybeMachineText = None,
    *,
    mesh: MeshText = None,
    job: JobOptions,
    traffic: TrafficText = None,
    model: Annotated[
        str | None,
        Option(
            "--train",
            metavar="MODEL,...",
            help="In place of --traffic: a model, such as "
            "qwen3-235b-a22b,sequence=32768, a config.json of Hugging Face, or "
            "layers=, hidden=, heads=, kv_heads=, head_size=, ffn=, experts=.",
            autocompletion=completions.training_steps,
        ),
    ] = None,
    graph: GraphOption = None,
    allowed: AllocationOptions,
    seed: Seed = 1,
    time: Seconds = None,
    work: Work = None,
    to: Annotated[str | None, format_option(completions.axis_orders)] = None,
    output: Annotated[
        Path | None,
        output_option("Write the placement."),
    ] = None,
    write_graph: WriteGraph = None,
    collectives: Collectives = "expand",
    gpus_per_node: GpusPerNode = None,
    as_json: AsJson = False,
) -> None:
    """Map the axes of a training job onto a machine.

    Finds the order of the axes with the least communication time (the objective 'time',
    summed over the axes), and splits axes if that helps. With NVLink, times are those
    of NCCL. The default is tp-cp-ep-dp-pp, others as given, fastest first; on a torus,
    JAX's order. For a framework, the output is the best order that it accepts, its
    settings, and the gain on other slots.

    Axes and traffic come from --mesh and --traffic, from a --framework and --train, or
    from the --graph of a recorded or imported job. By default, ep uses alltoall, pp
    a chain, and other axes rings. Devices are numbered by slot in the allocation.

    \b
    --to prints only a part of the result:
    jax         device numbers of the best order, in the shape of the mesh
    ranks       the device of every rank
    name        the framework's best order on devices as allocated
    settings    the framework's settings for that order
    slurm, kueue, kai, volcano      a request for segments of hosts under a switch

    \b
    Examples:
      topoloom ai axes --framework megatron --ranks 256 --tp 2 --cp 4 --ep 8 \\
          --machine dgx-h100-pod --train qwen3-235b-a22b,sequence=32768
      topoloom ai axes --graph job.npz --machine tpu-v4-cube
      topoloom ai axes --mesh tp=4,dp=16 --traffic tp=1GB,dp=halving:250MB \\
          --machine tpu-v4-cube --to jax
      topoloom ai axes --mesh tp=4,ep=8,dp=8 --traffic tp=9GB,ep=4GB,dp=1GB \\
          --machine nvl72-row --to slurm
      topoloom ai axes --mesh tp=8,dp=16 --traffic tp=1GB,dp=250MB \\
          --machine dgx-h100-pod --collectives nccl --write-graph p.npz -o x.json
    """
    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import monitor_search, print_json
    from topoloom.cli.exit_status import Interrupted
    from topoloom.launch.scheduler_requests import SCHEDULERS
    from topoloom.placements.placement_file import save_placement
    from topoloom.tasks.axes import map_axes
    from topoloom.tasks.problem import AllocationSpec, load_nodes
    from topoloom.tasks.search import limit_search

    if to is not None and as_json:
        raise Error(
            "--to and --json are mutually exclusive; --json contains all orders"
        )
    _check_collectives_options(collectives, gpus_per_node, write_graph)
    problem = _read_problem(job, mesh, traffic, model, graph, to)
    inferred = problem.inferred
    if inferred is not None and not as_json and to is None:
        _print_inferred(inferred)
    results = (output, write_graph, to)
    if machine is None:
        _print_mesh_only(inferred, results != (None, None, None), as_json)
        return
    _check_traffic(problem, graph)
    given, described = load_nodes(machine, AllocationSpec(*allowed, seed))
    if to in SCHEDULERS:
        if results[:2] != (None, None):
            raise Error(
                f"--to {to} writes a request for hosts that are not allocated yet; "
                "leave out output files"
            )
        _print_request(given.allocation, problem, described.labels, seed, to)
        return
    search = read_search(seed, time, work)
    with monitor_search("ordering axes", search) as watch:
        mapped = map_axes(
            given.allocation,
            problem.job,
            problem.traffic,
            named=to in ("name", "settings"),
            recorded=inferred is not None,
            progress=limit_search(search, watch),
        )
    if collectives != "expand":
        mapped = mapped.with_nccl_messages(gpus_per_node)
    if write_graph is not None:
        mapped.save_pattern(write_graph)
    if output is not None:
        result = mapped.placement_file(
            hosts=given.hosts,
            node=described.node,
            graph=str(write_graph or ""),
            command=command_line.get(),
        )
        save_placement(output, result)
    if to is not None:
        print(mapped.text(to))
    elif as_json:
        recorded: Mapping[str, Any] = inferred.document() if inferred else {}
        print_json({**mapped.document(), **recorded})
    else:
        _print_result(problem, mapped, [write_graph, output])
    if watch.interrupted:
        raise Interrupted("interrupted; the printed order is the best so far")


def _print_mesh_only(
    inferred: InferredMesh | None, needs_machine: bool, as_json: bool
) -> None:
    from topoloom._core import Error
    from topoloom.cli.console import print_json

    if inferred is None:
        raise Error("--machine is missing, such as --machine dgx-h100-pod")
    if needs_machine:
        raise Error("orders are compared on a machine; add --machine")
    if as_json:
        print_json(inferred.document())


def _check_collectives_options(
    collectives: str, gpus_per_node: int | None, write_graph: Path | None
) -> None:
    from topoloom._core import Error
    from topoloom.graphs.profile import BY_NCCL

    if collectives not in ("expand", BY_NCCL):
        raise Error(f"--collectives {collectives}: the only choice for axes is nccl")
    if gpus_per_node is not None and collectives != BY_NCCL:
        raise Error(
            "--gpus-per-node is for the messages of NCCL; add --collectives nccl"
        )
    if collectives == BY_NCCL and write_graph is None:
        raise Error("--collectives is for the written graph; add --write-graph")


def _read_problem(
    job: JobOptions,
    mesh: str | None,
    traffic: str | None,
    model: str | None,
    graph: str | None,
    to: str | None,
) -> AxesProblem:
    """Read the axes and their traffic; check that they fit the format of --to."""
    from topoloom._core import Error
    from topoloom.support.name_lookup import describe_unknown_name
    from topoloom.tasks.axes import FORMATS, infer_axes_problem, read_axes_problem

    if to is not None and to not in FORMATS:
        raise Error(describe_unknown_name("order format", to, FORMATS))
    if graph is None:
        mapped_job = read_job(job, mesh)
        is_mesh = isinstance(mapped_job, dict)
    elif mesh is not None or any(job) or traffic is not None or model is not None:
        raise Error(
            "--graph defines the mesh and its traffic; leave out other options for them"
        )
    else:
        is_mesh = True
    if to == "jax" and not is_mesh:
        raise Error("--to jax is for meshes; write --to ranks for a framework's job")
    if to in ("name", "settings") and is_mesh:
        raise Error(f"--to {to} requires a job of --framework; use --to jax for a mesh")
    if graph is not None:
        return infer_axes_problem(graph)
    if (traffic is None) == (model is None):
        raise Error(
            "the traffic is missing; add --traffic, such as tp=1GB, or --train MODEL"
        )
    return read_axes_problem(mapped_job, traffic=traffic, model=model)


def _check_traffic(problem: AxesProblem, graph: str | None) -> None:
    from topoloom._core import Error

    if problem.inferred is not None and not problem.traffic:
        raise Error(f"nothing in {graph} sends along axes; use topoloom map")


def _print_request(
    cluster: Allocation,
    problem: AxesProblem,
    labels: Sequence[str],
    seed: int,
    scheduler: str,
) -> None:
    from topoloom.cli.console import make_progress_bar
    from topoloom.tasks.machines.segment_request import find_segment_request

    with make_progress_bar("comparing segments", "sizes") as bar:
        wanted = find_segment_request(
            cluster,
            problem.job,
            problem.traffic,
            labels,
            seed,
            bar,
            scheduler=scheduler,
        )
    print(wanted.text(scheduler))


def _print_inferred(inferred: InferredMesh) -> None:
    """Print the mesh of a trace, and the bytes of each operation along the axes."""
    from math import prod

    from topoloom.cli.console import print_facts
    from topoloom.support.units import counted, format_bytes

    mesh = " ".join(f"{name}={size}" for name, size in inferred.mesh.items())
    ranks = prod(inferred.mesh.values())
    rows = []
    for one in inferred.operations:
        text = f"{one.name} of {format_bytes(one.bytes)}, {counted(one.calls, 'time')}"
        if one.ranks < ranks:
            text += f", by {one.ranks:,} of {ranks:,} ranks"
        rows.append(("+".join(one.axes), text))
    if inferred.left_over:
        left = f"{format_bytes(inferred.left_over)} in all, along none of the axes"
        rows.append(("left over", left))
    print_facts(rows, f"mesh {mesh}, the fastest first")


def _print_result(
    problem: AxesProblem, mapped: MappedAxes, written: list[Path | None]
) -> None:
    from topoloom._core import Machine
    from topoloom.cli.console import print_facts, print_table
    from topoloom.frameworks.training_step import TrainingStep
    from topoloom.graphs.axes import MeshOrders
    from topoloom.support.gain import format_percent, gain
    from topoloom.support.units import counted, format_count

    orders = mapped.orders
    is_mesh = isinstance(orders, MeshOrders)
    default = (mapped.default or mapped).orders
    names = list(dict.fromkeys(one.name for one in (*default.traffic, *orders.traffic)))
    rows = []
    for title, those, order in (
        ("default", default, default.given),
        ("whole axes" if is_mesh else "best name", orders, orders.nested),
        ("best", orders, orders.best),
    ):
        seconds: dict[str, float] = dict.fromkeys(names, 0.0)
        for one, part in zip(those.traffic, order.seconds, strict=True):
            seconds[one.name] += part
        times = [format_count(part) for part in (*seconds.values(), order.total)]
        gained = format_percent(gain(mapped.default_seconds, order.total))
        rows.append((title, those.text(order), *times, gained))
    machine = orders.allocation.machine
    ranks, slots = len(orders.best.slots), orders.allocation.slot_count
    unit = "seconds" if machine.has_bandwidths else "bytes on the busiest link"
    print_facts([], f"{counted(ranks, 'rank')} on {machine.name}: {unit} per step")
    columns = ["", mapped.axis_direction, *names, "all", "gain"]
    kept = ["", mapped.axis_direction, "all", "gain"]
    print_table(columns, rows, left=2, keep=kept)
    facts = []
    if isinstance(problem.traffic, TrainingStep):
        billions = problem.traffic.model.weights / 1e9
        facts.append(("model", f"{billions:,.1f} billion weights"))
    if mapped.has_nccl_times:
        facts.append(("times", "by NCCL's model of bus bandwidths, not line rates"))
    if slots > ranks:
        facts.append(("idle", f"{slots - ranks:,} of {slots:,} slots"))
    if isinstance(orders, MeshOrders) and orders.back_and_forth(orders.best):
        facts.append(("back and forth", ", ".join(orders.back_and_forth(orders.best))))
    if not is_mesh and orders.best is not orders.nested:
        moved = (orders.best.slots != orders.nested.slots).sum()
        if moved:
            facts.append(("best", f"{moved:,} ranks on other slots; -o places them"))
    if mapped.is_split_by_jax:
        text = "create_device_mesh requires allow_split_physical_axes=True"
        facts.append(("default", text))
    facts += _list_setting_facts(mapped, machine.has_bandwidths)
    usual = Machine(machine.text).remarks
    facts += [("remark", one) for one in machine.remarks if one not in usual]
    print_facts(facts, written=written)


def _list_setting_facts(
    mapped: MappedAxes, has_bandwidths: bool
) -> list[tuple[str, str]]:
    """Format the framework's options to set, and the times of other variants."""
    from textwrap import wrap

    from topoloom.tasks.axes import format_step

    if mapped.job is None:
        return []
    name = mapped.orders.text(mapped.chosen)
    facts = [
        ("set", line)
        for one in mapped.job.settings(name)
        for line in wrap(one, 100, break_on_hyphens=False)
    ]
    for axes, seconds in mapped.others.items():
        facts.append(("instead", f"{axes}: {format_step(seconds, has_bandwidths)}"))
    return facts
