# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine sweep`: simulate the switches of a machine, load by load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, Figure
from topoloom.cli.options.machines import MachineArgument
from topoloom.cli.options.network import (
    AllocatorName,
    ArbiterName,
    Iterations,
    Router,
    RoutingName,
)
from topoloom.cli.options.searches import Seed, Threads
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom._core import LoadMeasure
    from topoloom.tasks.network.sweep import LoadSweep


def command(
    machine: MachineArgument,
    *,
    traffic_pattern: Annotated[
        str,
        Option(
            "--traffic-pattern",
            metavar="NAME",
            help="Destinations of packets; see 'topoloom list traffic-patterns'.",
            autocompletion=completions.traffic_patterns,
        ),
    ] = "uniform",
    injection: Annotated[
        str,
        Option(
            "--injection",
            metavar="NAME",
            help="Injection times: bernoulli, poisson, on-off (bursts) or closed (a "
            "window of packets without a reply); see 'topoloom list injections'.",
            autocompletion=completions.injections,
        ),
    ] = "bernoulli",
    router: Router = "input-queued",
    routing: RoutingName = "own",
    vcs: Annotated[
        int | None,
        Option(
            "--vcs",
            metavar="N",
            min=1,
            help="Virtual channels of each channel; voq: queues for each output.",
            show_default="two for each class that the routes need; voq: one",
        ),
    ] = None,
    buffer: Annotated[
        int,
        Option(
            "--buffer", metavar="FLITS", min=1, help="Buffer size per virtual channel."
        ),
    ] = 8,
    packet: Annotated[
        int, Option("--packet", metavar="FLITS", min=1, help="Size of packets.")
    ] = 4,
    switching: Annotated[
        str,
        Option(
            "--switching",
            metavar="wormhole|cut-through",
            help="When a packet goes on: when there is room for a flit, or for all; "
            "from crosspoints always for all.",
        ),
    ] = "wormhole",
    arbiter: ArbiterName = "round-robin",
    allocator: AllocatorName = "islip",
    iterations: Iterations = 1,
    loads: Annotated[
        str | None,
        Option(
            "--loads",
            metavar="LOAD,...",
            help="Flits that each node makes per cycle.",
            show_default="0.1,0.2,...,0.9",
        ),
    ] = None,
    figure: Figure = None,
    watch: Annotated[
        bool,
        Option(
            "--watch",
            help="Let packets take any virtual channel, even if they could deadlock; "
            "stop at the first deadlock.",
        ),
    ] = False,
    seed: Seed = 1,
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Simulate the switches of a machine, load by load.

    Buffers, virtual channels, arbiters and credits are simulated cycle by cycle. Each
    node injects packets at random times; the load is the mean rate. By default, the
    probability is the same in every cycle. Flits of packets follow the machine's
    routes, and wait for channels, buffers and virtual channels. If routes could
    deadlock, as on rings, packets change to another class of virtual channels; with too
    few classes, the deadlock is printed. A cycle is the time that a flit occupies a
    channel.

    \b
    load       flits that each sending node creates per cycle
    accepted   flits that arrive per cycle, divided by the number of sending nodes
    latency    cycles from the creation of a packet to its complete arrival: mean
               with 95 % confidence interval, median, 99th percentile
    saturated  some or all nodes create packets faster than the network accepts
    With --injection closed, load excludes replies, accepted includes them, and
    latency counts from the cycle in which a packet or reply may enter.

    \b
    Examples:
      topoloom machine sweep torus:4x4 --loads 0.1,0.2,0.4 --figure loads.svg
      topoloom machine sweep fattree:4:4 --traffic-pattern transpose --loads 0.2
      topoloom machine sweep torus:4x4 --vcs 4 --loads 0.1 \\
          --traffic-pattern 'hot-spot(percent=20)'
      topoloom machine sweep torus:4x4 --injection 'on-off(length=50)' --loads 0.2
      topoloom machine sweep torus:4x4 --injection 'closed(window=2)' --loads 1
      topoloom machine sweep fattree:4:4 --routing minimal-adaptive --loads 0.4
      topoloom machine sweep torus:8x8 --vcs 1 --watch --loads 0.2
      topoloom machine sweep dragonfly:5x1x2,nodes=2 --loads 0.1 \\
          --traffic-pattern 'shift(by=4)'
    """
    from topoloom.cli.console import monitor_search, print_json
    from topoloom.cli.exit_status import Failure, Interrupted
    from topoloom.figure.page import check_figure_suffix
    from topoloom.machines.machine_file import load_machine
    from topoloom.support.parameter_error import check_int64
    from topoloom.support.units import counted
    from topoloom.tasks.network.sweep import (
        DEFAULT_LOADS,
        SwitchSettings,
        sweep_loads,
    )

    check_int64("--threads", threads, 0)
    if figure is not None:
        check_figure_suffix(figure)
    found = sweep_loads(
        load_machine(machine),
        traffic_pattern,
        SwitchSettings(
            router,
            vcs,
            buffer,
            packet,
            switching,
            routing,
            arbiter,
            allocator,
            iterations,
        ),
        DEFAULT_LOADS if loads is None else _parse_loads(loads),
        injection=injection,
        watch=watch,
        seed=seed,
        threads=threads,
        monitor=monitor_search,
    )
    if figure is not None and found.points:
        from topoloom.figure.packet_latency import draw_loads

        draw_loads(figure, found.points, f"{machine}, {traffic_pattern} traffic")
    if as_json:
        print_json(found.document())
    else:
        _print_result(found)
    if found.stalled:
        raise Failure(found.stalled)
    if found.interrupted:
        raise Interrupted(f"interrupted after {counted(len(found.points), 'load')}")


def _parse_loads(text: str) -> list[float]:
    from topoloom._core import Error

    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise Error(
            f"--loads '{text}' is not a list of numbers, such as 0.1,0.2"
        ) from None


def _format_latencies(point: LoadMeasure) -> list[str]:
    if not point.packets:
        return ["", "", ""]
    return [
        f"{point.latency_mean:.1f} ± {point.half_width:.1f}",
        f"{point.latency_p50:.0f}",
        f"{point.latency_p99:.0f}",
    ]


def _print_result(sweep: LoadSweep) -> None:
    from topoloom.cli.console import print_table
    from topoloom.support.units import counted

    options = sweep.options
    title = (
        f"{counted(sweep.machine.node_count, 'node')}, "
        f"{sweep.switches:,} {'switch' if sweep.switches == 1 else 'switches'}, "
        f"{sweep.traffic} traffic, {sweep.injection} injection, "
        f"packets of {counted(options.packet, 'flit')}, "
        f"{counted(options.vcs or 0, 'virtual channel')} of {options.buffer}, "
        f"{options.routing} routing"
    )
    rows = [
        [
            f"{point.offered:g}",
            f"{point.accepted:.3f}",
            *_format_latencies(point),
            "saturated" if point.saturated else "",
        ]
        for point in sweep.points
    ]
    columns = ["load", "accepted", "latency", "median", "99 in 100", ""]
    print_table(columns, rows, title=title, keep=["load", "accepted", "latency"])
