# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective`: which schedule of a collective is the fastest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli import complete
from topoloom.cli.options.files import (
    AsJson,
    Figure,
    PlacementOption,
    WritePattern,
    figure_option,
    output_option,
)
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import (
    AllocationOptions,
    LauncherName,
    LimitOptions,
    MaybeMachineText,
)
from topoloom.cli.options.messages import MaybeBytes, Model, Ranks, Root
from topoloom.cli.options.network import SwitchName
from topoloom.cli.options.programs import Mpicc
from topoloom.cli.options.searches import Seed, Threads
from topoloom.cli.options.simulators import MaybeSimulatorName
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.simulate.result import SimulationResult
    from topoloom.tasks.collectives.collective import RankedCollective


@with_groups
def command(
    operation: Annotated[
        str,
        Argument(
            metavar="OPERATION[+OPERATION]",
            help="alltoall, allgather, allreduce, bcast, ..., barrier, many-to-many; "
            "several for --to.",
            autocompletion=complete.operations,
        ),
    ],
    launcher_command: Annotated[
        list[str] | None,
        Argument(
            metavar="-- LAUNCHER",
            help="With --run: what starts the ranks, without a program.",
        ),
    ] = None,
    *,
    ranks: Ranks,
    amount: MaybeBytes = None,
    root: Root = 0,
    degree: Annotated[
        int | None,
        Option(
            "--degree",
            metavar="D",
            help="For many-to-many: each rank sends to the next D ones.",
        ),
    ] = None,
    demand: Annotated[
        Path | None,
        Option(
            "--demand",
            metavar="FILE",
            help="For many-to-many: a pattern or a matrix, who sends how many bytes "
            "to whom; instead of --bytes and --degree.",
        ),
    ] = None,
    model: Model = None,
    machine: MaybeMachineText = None,
    allowed: AllocationOptions,
    launcher: LauncherName = "slurm",
    limits: LimitOptions,
    placement: PlacementOption = None,
    schedule: Annotated[
        str | None,
        Option(
            "--schedule",
            metavar="NAME[+NAME]",
            help="Only these; options as in 'chain(segment=4096)'. Default: all.",
            autocompletion=complete.schedules,
        ),
    ] = None,
    order_ranks: Annotated[
        bool,
        Option(
            "--order-ranks",
            help="Order the ranks for the best schedule, choose again, and so on; -o "
            "writes the placement.",
        ),
    ] = False,
    to: Annotated[
        str | None,
        Option(
            "--to",
            metavar="FORMAT",
            help="What -o writes: which of its own algorithms an MPI library is to "
            "use (open-mpi, mpich, mpich-5, intel-mpi), or the best schedule (goal, "
            "mscclxml).",
            autocompletion=complete.schedule_formats,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option(
            "With --order-ranks, --to or --run: write the placement, that, or all "
            "measured times as JSON Lines."
        ),
    ] = None,
    write_pattern: WritePattern = None,
    decisions: Annotated[
        Path | None,
        output_option(
            "Write which schedule the library takes from which size on, as JSON; "
            "with --run the best of those measured.",
            "--decisions",
        ),
    ] = None,
    simulator: MaybeSimulatorName = None,
    switch: SwitchName = None,
    run: Annotated[
        bool,
        Option(
            "--run",
            help="Measure schedules on the machine, beside the MPI library's own.",
        ),
    ] = False,
    repeats: Annotated[
        int | None,
        Option(
            "--repeats",
            help="With --run: calls of each schedule and size; default: 30.",
        ),
    ] = None,
    mpicc: Mpicc = None,
    timeline: Annotated[
        Path | None,
        figure_option(
            "With --run: draw who waits for whom in a call of the fastest schedule",
            "--timeline",
        ),
    ] = None,
    figure: Figure = None,
    over: Annotated[
        str,
        Option("--over", help="The x axis of the figure: bytes, ranks or degree."),
    ] = "bytes",
    rounds: Annotated[
        Path | None,
        figure_option("Draw the best schedule, round by round", "--rounds"),
    ] = None,
    seed: Seed = 1,
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Rank all schedules of a collective by what they cost.

    Times are those by which libtopoloom-collective chooses. On a machine a rank waits
    only for messages that come to it, and a message for its two ranks and for what
    fills the links of its route; schedules with more than 65,536 messages are sampled.
    Without a machine each round waits for the one before. Without a model messages cost
    what the machine says. They have 1 KiB unless --bytes or a demand says otherwise.

    \b
    time        seconds until the last rank has ended
    CPU         seconds that the busiest rank sends, receives and copies; only where
                the model says what receivers need
    congestion  seconds that the busiest link of every round needs
    simulated   with --with switches, of the five fastest or those of --schedule:
                seconds until the last rank has ended, where packets wait for each other
                in switches; messages cost what the machine says

    With --run they are measured: a launcher without a program, written after --, starts
    the ranks, which run each schedule and the MPI library's own collective in turns.
    Several sizes are --bytes 64+4KiB. A model or machine adds what is predicted.

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
    import json
    from functools import partial

    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import print_json, progress_bar, watching
    from topoloom.cli.exit_status import Interrupted
    from topoloom.cli.measured_output import Files, write_measured
    from topoloom.cli.shell import naming_file
    from topoloom.figure.rounds import check_rounds, draw_rounds
    from topoloom.figure.schedules import draw_schedules, vary_call
    from topoloom.figure.timeline import check_timeline
    from topoloom.graphs.graph_file import save_graph
    from topoloom.graphs.phases import phase_array
    from topoloom.placements.placement_file import save_placement
    from topoloom.schedules.exports.registry import find_format
    from topoloom.simulate.switch_toml import find_switch
    from topoloom.support.checks import check_at_least
    from topoloom.support.files import write_text
    from topoloom.support.units import counted, parse_bytes
    from topoloom.tasks.collectives.collective import (
        export_collectives,
        rank_collective,
        read_call,
        read_setting,
    )
    from topoloom.tasks.collectives.in_switches import FASTEST, simulate_schedules
    from topoloom.tasks.collectives.measure import measure_collective
    from topoloom.tasks.problem import Where

    check_at_least("--threads", threads, 0)
    names = [name for name in (schedule or "").split("+") if name]
    operation, *others = operation.split("+")
    if others and (to is None or order_ranks or demand):
        raise Error(
            "several collectives are for the rules of an MPI library: add --to, and no "
            "--order-ranks or --demand; or name one"
        )
    if simulator not in (None, "switches"):
        raise Error(f"collectives are simulated with switches, not with '{simulator}'")
    if switch is not None and simulator is None:
        raise Error("--switch is for --with switches")
    if simulator is not None and (run or others):
        raise Error("--with simulates one collective; leave out --run, and name one")
    if run:
        if order_ranks or to or write_pattern or rounds or demand or over != "bytes":
            raise Error(
                "--run measures; leave out --order-ranks, --to, --write-pattern, "
                "--rounds, --demand and --over"
            )
        where = Where(*allowed, seed, limits.order(launcher))
        asked = read_call(operation, ranks, 1, root, degree)
        predicts = (model, machine, placement) != (None, None, None)
        setting = (
            read_setting(asked, model, machine, where, placement) if predicts else None
        )
        if timeline is not None:
            check_timeline(ranks)
        texts = [] if asked.operation == "barrier" else (amount or "1KiB").split("+")
        turns = 30 if repeats is None else repeats
        measured = measure_collective(
            asked,
            [parse_bytes(text) for text in texts],
            launcher_command or [],
            setting,
            names,
            repeats=turns,
            mpicc=mpicc,
            traced=timeline is not None,
        )
        write_measured(measured, Files(output, decisions, figure, timeline), as_json)
        if measured.interrupted:
            raise Interrupted(f"interrupted after {measured.repeats} of {turns} calls")
        return
    if launcher_command:
        raise Error(
            f"'{launcher_command[0]}' is started to measure; add --run, or leave it out"
        )
    if timeline or mpicc or repeats is not None:
        raise Error("--timeline, --mpicc and --repeats are for --run; add it")
    if amount is not None and demand is not None:
        raise Error("--bytes makes no difference to a demand, which has its own")
    size = parse_bytes(amount or "1KiB")
    call = read_call(operation, ranks, size, root, degree, demand)
    form = find_format(to) if to is not None else None
    _check_output(output, order_ranks, to)
    where = Where(*allowed, seed, limits.order(launcher))
    if simulator is not None and machine is None and placement is None:
        raise Error("packets cross a machine: --with switches needs --machine")
    setting = read_setting(call, model, machine, where, placement)
    if figure is not None:
        vary_call(call, over, setting.slots)
    elif over != "bytes":
        raise Error("--over is for --figure; add it")
    if rounds is not None:
        check_rounds(call)
    found = rank_collective(
        call,
        setting,
        names,
        order_ranks=order_ranks,
        seed=seed,
        threads=threads,
        watching=watching,
    )
    also = [
        rank_collective(read_call(other, ranks, size, root), setting, names)
        for other in others
    ]
    in_switches = None
    if simulator is not None and not found.interrupted:
        in_switches = simulate_schedules(
            found,
            find_switch(switch, machine),
            len(found.ranked) if names else FASTEST,
            partial(progress_bar, unit="messages"),
        )
    document = found.document()
    simulated = {} if in_switches is None else in_switches.simulated
    for each in document["schedules"]:
        if one := simulated.get(each["name"]):
            each["simulated"] = sum(one.seconds)
            each["busiest"] = [channel._asdict() for channel in one.busiest]
            each["busiest_switches"] = [
                switch._asdict() for switch in one.busiest_switches
            ]
    if also:
        document["also"] = [each.document() for each in also]
    if output is not None and order_ranks:
        save_placement(output, found.placement_file(command=command_line.get()))
    if not found.interrupted:
        if output is not None and form is not None:
            write_text(output, export_collectives([found, *also], form))
        if write_pattern is not None:
            graph, phases = found.graph()
            save_graph(write_pattern, graph, {"phases": phase_array(phases)})
        if decisions is not None:
            table = found.decisions()
            write_text(decisions, json.dumps(table, indent=1) + "\n")
            document["decisions"] = table["decisions"]
        if figure is not None:
            at = found.setting.slots
            draw_schedules(figure, call, setting.model, at, over)
        if rounds is not None:
            draw_rounds(rounds, [(call, found.ranked[0].name)])
    if as_json:
        print_json(document)
    else:
        for each in also:
            _print(each, [], "", {})
        files = [output]
        if not found.interrupted:
            files += [write_pattern, decisions, figure, rounds]
        use = "" if form is None or output is None else naming_file(output, form.USE)
        _print(found, files, use, simulated)
    if in_switches is not None and in_switches.interrupted:
        done = counted(len(simulated), "schedule")
        raise Interrupted(f"interrupted after {done} in switches")
    if found.interrupted:
        best = f"; {output} holds the best placement so far" if output else ""
        raise Interrupted(f"interrupted{best}")


def _check_output(output: Path | None, order_ranks: bool, to: str | None) -> None:
    from topoloom._core import Error

    if order_ranks and to is not None:
        raise Error("-o writes either the placement or what --to says; leave one out")
    if output is not None and not order_ranks and to is None:
        raise Error(
            "-o writes the placement that --order-ranks finds, what --to says, or what "
            "--run measures; add one of them"
        )
    if output is None and to is not None:
        raise Error(f"--to {to} needs a file to write; add -o FILE")


def _print(
    found: RankedCollective,
    written: list[Path | None],
    use: str,
    simulated: dict[str, SimulationResult],
) -> None:
    """Print the table, the fastest first, and what ordering brought."""
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import (
        counted,
        format_bytes,
        format_count,
        format_seconds,
    )

    call, setting, ranked = found.call, found.setting, found.ranked
    on = f" on {setting.machine_title}" if setting.machine_title else ""
    size = "" if call.operation == "barrier" else f" of {format_bytes(call.bytes)}"
    if call.demand is not None:
        pairs = counted(call.demand.edge_count, "pair")
        size = f" of {format_bytes(call.demand.total_bytes)} between {pairs}"
    title = f"{call.operation}{size} among {counted(call.ranks, 'rank')}{on}"
    facts = [("messages cost", setting.model_name)]
    if setting.unused:
        facts.append(("allocation", setting.unused))
    if found.together is not None:
        facts += [
            (
                f"{turn.what} {number}",
                f"{turn.schedule}, {format_seconds(turn.seconds)}",
            )
            for number, turn in enumerate(found.together.steps, 1)
        ]
    print_facts(facts, title)
    columns = ["schedule", "", "rounds", "messages", "bytes", "time"]
    rows = []
    for one in ranked:
        cost = one.cost
        mark = "MPI's usual" if one.name.partition("(")[0] == found.usual else ""
        row = [one.name, mark, format_count(cost.rounds), format_count(cost.messages)]
        row += [format_bytes(cost.bytes), format_seconds(cost.time)]
        if found.knows_cpu:
            row.append(format_seconds(cost.cpu))
        if setting.slots is not None:
            row.append(format_seconds(cost.congestion))
        if simulated:
            packets = simulated.get(one.name)
            row.append("" if packets is None else format_seconds(sum(packets.seconds)))
        rows.append(row)
    if found.knows_cpu:
        columns.append("CPU")
    if setting.slots is not None:
        columns.append("congestion")
    if simulated:
        columns.append("simulated")
    print_table(columns, rows, best=0, left=2)
    print_facts([("use it", use)] if use else [], written=written)
