# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective`: rank the schedules of a collective."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.collectives import (
    DrawingOptions,
    MeasureOptions,
    MessageOptions,
    ResultOptions,
    SimulationOptions,
    check_option_conflicts,
    check_run_only_options,
    make_result_files,
)
from topoloom.cli.options.files import AsJson, PlacementOption
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import (
    AllocationOptions,
    LauncherName,
    MaybeMachineText,
    RankLimitOptions,
)
from topoloom.cli.options.messages import Model, Ranks
from topoloom.cli.options.searches import Seed, Threads
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.schedules.choose import Call
    from topoloom.simulate.result import SimulationResult
    from topoloom.tasks.collectives.collective import (
        CollectivePlatform,
        RankedCollective,
    )
    from topoloom.tasks.collectives.collective_result import (
        CollectiveResult,
        ResultFiles,
    )
    from topoloom.tasks.collectives.simulate_schedules import SimulatedSchedules


@flatten_option_groups
def command(
    operation: Annotated[
        str,
        Argument(
            metavar="OPERATION[+OPERATION]",
            help="alltoall, allgather, allreduce, bcast, ..., barrier, many-to-many; "
            "several for --to.",
            autocompletion=completions.operations,
        ),
    ],
    launcher_command: Annotated[
        list[str] | None,
        Argument(
            metavar="-- LAUNCHER",
            help="With --run: the launcher command, without a program.",
        ),
    ] = None,
    *,
    ranks: Ranks,
    message: MessageOptions,
    model: Model = None,
    machine: MaybeMachineText = None,
    allowed: AllocationOptions,
    launcher: LauncherName = "slurm",
    limits: RankLimitOptions,
    placement: PlacementOption = None,
    schedule: Annotated[
        str | None,
        Option(
            "--schedule",
            metavar="NAME[+NAME]",
            help="Schedules to compare, with options as in 'chain(segment=4096)'. "
            "Default: all.",
            autocompletion=completions.schedules,
        ),
    ] = None,
    order_ranks: Annotated[
        bool,
        Option(
            "--order-ranks",
            help="Order the ranks for the best schedule, rank schedules again, and so "
            "on; -o writes the placement.",
        ),
    ] = False,
    results: ResultOptions,
    simulation: SimulationOptions,
    measuring: MeasureOptions,
    drawing: DrawingOptions,
    seed: Seed = 1,
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Rank all schedules of a collective by predicted time.

    libtopoloom-collective chooses by the same times. On a machine, a rank waits only
    for its own messages; a message waits for its sender, its receiver, and the links of
    its route. Of schedules with more than 65,536 messages, only a sample is evaluated.
    Without a machine, each round waits for the previous round. Without a model, the
    machine defines message costs. Messages have 1 KiB by default.

    \b
    time        seconds until the last rank has finished
    CPU         seconds in which the busiest rank sends, receives and copies; only if
                the model contains the receive overhead
    congestion  seconds for which the busiest link is busy, summed over rounds
    simulated   with --with switches, for the five fastest schedules or --schedule:
                seconds until the last rank has finished, including the queueing of
                packets in switches; the machine defines message costs

    --run measures schedules: give only the launcher after --. Its ranks run the
    schedules and the MPI library's own collective in turn. Separate sizes with +:
    --bytes 64+4KiB. A model or machine adds predicted times.

    \b
    Examples:
      topoloom collective alltoall --ranks 1024 --bytes 76 --model qsnet
      topoloom collective allgather -n 512 --bytes 4KiB --model hdr \\
          --machine torus:8x8x8,bandwidth=10GB/s
      topoloom collective alltoall -n 256 --bytes 64 --order-ranks -o x.json \\
          -m fattree:16:16,bandwidth=25GB/s+node:1,startup=1us
      topoloom collective allreduce -n 1024 --model hdr --decisions table.json
      topoloom collective many-to-many -n 256 --bytes 76 --degree 64 \\
          --model qsnet --figure over-degree.svg --over degree
      topoloom collective many-to-many -n 256 --demand p.npz --model hdr
      topoloom collective bcast -n 8 --model hdr --rounds binomial.svg
      topoloom collective allreduce -n 1024 --model hdr --to open-mpi -o rules.txt
      topoloom collective alltoall+bcast -n 64 --model hdr --to mpich -o rules.json
      topoloom collective allreduce -n 64 --bytes 1MiB --with switches \\
          -m torus:4x4x4,bandwidth=10GB/s,latency=100ns+node:1,startup=1us
      topoloom collective alltoall -n 64 --bytes 64+4KiB --run --decisions table.json \\
          -- mpirun -n 64
    """
    from functools import partial

    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import monitor_search, print_json
    from topoloom.support.range_checks import check_int64
    from topoloom.tasks.collectives.collective import read_platform
    from topoloom.tasks.collectives.collective_result import rank_collectives
    from topoloom.tasks.problem import AllocationSpec

    check_int64("--threads", threads, 0)
    names = [name for name in (schedule or "").split("+") if name]
    first, *others = operation.split("+")
    check_option_conflicts(
        others, order_ranks, message, results, simulation, measuring, drawing
    )
    if not measuring.run:
        check_run_only_options(launcher_command, measuring)
    where = AllocationSpec(*allowed, seed, limits.make_launch_order(launcher))
    platform_of = partial(
        read_platform, model=model, machine=machine, where=where, placement=placement
    )
    if measuring.run:
        call, sizes = message.make_measured_call(first, ranks)
        predicts = (model, machine, placement) != (None, None, None)
        platform = platform_of(call) if predicts else None
        measure = partial(
            _measure_schedules, call, sizes, launcher_command or [], platform, names
        )
        measure(measuring, results, drawing.figure, as_json)
        return
    calls = [message.make_call(one, ranks) for one in (first, *others)]
    files = make_result_files(order_ranks, results, drawing)
    if simulation.simulator is not None and machine is None and placement is None:
        raise Error("--with switches requires a machine; add --machine")
    platform = platform_of(calls[0])
    files.check_drawable(calls[0], platform)
    result = rank_collectives(
        calls,
        platform,
        names,
        _make_simulation(simulation, machine, bool(names)),
        order_ranks=order_ranks,
        seed=seed,
        threads=threads,
        monitor=monitor_search,
    )
    written = result.write(files, command_line.get())
    if as_json:
        print_json(result.document(files))
    else:
        _print_result(result, files, written)
    _report_interrupt(result, results.output)


def _make_simulation(
    simulation: SimulationOptions, machine: str | None, named: bool
) -> Callable[[RankedCollective], SimulatedSchedules] | None:
    """Return the function that simulates the named or the fastest schedules."""
    from functools import partial

    from topoloom.cli.console import make_progress_bar
    from topoloom.simulate.switch_toml import load_given_or_machine_switch
    from topoloom.tasks.collectives.simulate_schedules import (
        FASTEST,
        simulate_schedules,
    )

    if simulation.simulator is None:
        return None
    return partial(
        simulate_schedules,
        switch=load_given_or_machine_switch(simulation.switch, machine),
        fastest=None if named else FASTEST,
        monitor=partial(make_progress_bar, unit="messages"),
    )


def _measure_schedules(
    call: Call,
    sizes: list[int],
    launcher: list[str],
    platform: CollectivePlatform | None,
    schedules: list[str],
    measuring: MeasureOptions,
    results: ResultOptions,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Measure schedules in an MPI job, and print their times."""
    from topoloom.cli.exit_status import Interrupted
    from topoloom.cli.measured_output import MeasuredFiles, write_measured
    from topoloom.figure.timeline import check_timeline
    from topoloom.tasks.collectives.measure import measure_collective

    timeline = measuring.timeline
    if timeline is not None:
        check_timeline(call.ranks)
    repeats = 30 if measuring.repeats is None else measuring.repeats
    measured = measure_collective(
        call,
        sizes,
        launcher,
        platform,
        schedules,
        repeats=repeats,
        mpicc=measuring.mpicc,
        traced=timeline is not None,
    )
    files = MeasuredFiles(results.output, results.decisions, figure, timeline)
    write_measured(measured, files, as_json)
    if measured.interrupted:
        raise Interrupted(f"interrupted after {measured.repeats} of {repeats} calls")


def _report_interrupt(result: CollectiveResult, output: Path | None) -> None:
    from topoloom.cli.exit_status import Interrupted
    from topoloom.support.units import counted

    if result.simulation is not None and result.simulation.interrupted:
        done = counted(len(result.simulated), "schedule")
        raise Interrupted(f"interrupted after {done} in switches")
    if result.found.interrupted:
        best = f"; {output} holds the best placement so far" if output else ""
        raise Interrupted(f"interrupted{best}")


def _print_result(
    result: CollectiveResult, files: ResultFiles, written: list[Path | None]
) -> None:
    from topoloom.cli.suggested_command import insert_file_name

    for other in result.others:
        _print_schedules(other, [], "", {})
    form, use = files.export_format, ""
    if form is not None and files.export is not None:
        use = insert_file_name(files.export, form.USE)
    _print_schedules(result.found, written, use, result.simulated)


def _print_schedules(
    collective: RankedCollective,
    written: list[Path | None],
    use: str,
    simulated: dict[str, SimulationResult],
) -> None:
    """Print the schedules by time, and the gain from reordering ranks."""
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import (
        counted,
        format_bytes,
        format_count,
        format_seconds,
    )

    call, platform, ranked = collective.call, collective.platform, collective.ranked
    on = f" on {platform.machine_title}" if platform.machine_title else ""
    size = "" if call.operation == "barrier" else f" of {format_bytes(call.bytes)}"
    if call.demand is not None:
        pairs = counted(call.demand.edge_count, "pair")
        size = f" of {format_bytes(call.demand.total_bytes)} between {pairs}"
    title = f"{call.operation}{size} among {counted(call.ranks, 'rank')}{on}"
    facts = [("messages cost", platform.model_name)]
    if platform.unused:
        facts.append(("allocation", platform.unused))
    if collective.together is not None:
        facts += [
            (
                f"{turn.what} {number}",
                f"{turn.schedule}, {format_seconds(turn.seconds)}",
            )
            for number, turn in enumerate(collective.together.steps, 1)
        ]
    print_facts(facts, title)
    columns = ["schedule", "", "rounds", "messages", "bytes", "time"]
    rows = []
    for one in ranked:
        cost = one.cost
        mark = (
            "MPI's usual"
            if one.name.partition("(")[0] == collective.default_schedule
            else ""
        )
        row = [one.name, mark, format_count(cost.rounds), format_count(cost.messages)]
        row += [format_bytes(cost.bytes), format_seconds(cost.time)]
        if collective.has_receive_overhead:
            row.append(format_seconds(cost.cpu))
        if platform.slots is not None:
            row.append(format_seconds(cost.congestion))
        if simulated:
            packets = simulated.get(one.name)
            row.append("" if packets is None else format_seconds(sum(packets.seconds)))
        rows.append(row)
    if collective.has_receive_overhead:
        columns.append("CPU")
    if platform.slots is not None:
        columns.append("congestion")
    if simulated:
        columns.append("simulated")
    print_table(columns, rows, best=0, left=2)
    print_facts([("use it", use)] if use else [], written=written)
