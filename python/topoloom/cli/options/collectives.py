# SPDX-License-Identifier: BSD-3-Clause
"""Options of `topoloom collective`, grouped by subject, and checks for conflicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from topoloom.cli import completions
from topoloom.cli.options.files import (
    Figure,
    WriteGraph,
    figure_option,
    output_option,
)
from topoloom.cli.options.messages import MaybeBytes, Root
from topoloom.cli.options.network import SwitchName
from topoloom.cli.options.programs import Mpicc
from topoloom.cli.options.simulators import SimulatorName
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.schedules.choose import Call
    from topoloom.tasks.collectives.collective_result import ResultFiles

_DEFAULT_BYTES = "1KiB"


class MessageOptions(NamedTuple):
    """Options for the size and the number of messages."""

    amount: MaybeBytes = None
    root: Root = 0
    degree: Annotated[
        int | None,
        Option(
            "--degree",
            metavar="D",
            help="For many-to-many: each rank sends to the next D ranks.",
        ),
    ] = None
    demand: Annotated[
        Path | None,
        Option(
            "--demand",
            metavar="FILE",
            help="For many-to-many: a communication graph or matrix with the bytes "
            "from rank to rank, instead of --bytes and --degree.",
        ),
    ] = None

    def make_call(self, operation: str, ranks: int) -> Call:
        """Make the description of a call with one message size."""
        from topoloom._core import Error
        from topoloom.support.units import parse_bytes
        from topoloom.tasks.collectives.collective import read_call

        if self.amount is not None and self.demand is not None:
            raise Error("--bytes cannot be combined with --demand")
        size = parse_bytes(self.amount or _DEFAULT_BYTES)
        return read_call(operation, ranks, size, self.root, self.degree, self.demand)

    def make_measured_call(self, operation: str, ranks: int) -> tuple[Call, list[int]]:
        """Describe a call to measure, and list its sizes in bytes."""
        from topoloom.support.units import parse_bytes
        from topoloom.tasks.collectives.collective import read_call

        call = read_call(operation, ranks, 1, self.root, self.degree)
        if call.operation == "barrier":
            return call, []
        return call, [*map(parse_bytes, (self.amount or _DEFAULT_BYTES).split("+"))]


class ResultOptions(NamedTuple):
    """Options for output files."""

    to: Annotated[
        str | None,
        Option(
            "--to",
            metavar="FORMAT",
            help="Format of -o: decision rules of an MPI library (open-mpi, mpich, "
            "mpich-5, intel-mpi), or the best schedule (goal, mscclxml).",
            autocompletion=completions.schedule_formats,
        ),
    ] = None
    output: Annotated[
        Path | None,
        output_option(
            "With --order-ranks, --to or --run: write the placement, that, or all "
            "measured times as JSON Lines."
        ),
    ] = None
    write_pattern: WriteGraph = None
    decisions: Annotated[
        Path | None,
        output_option(
            "Write which schedule the library takes from which size on, as JSON; "
            "with --run the best of those measured.",
            "--decisions",
        ),
    ] = None


class SimulationOptions(NamedTuple):
    """Options for simulations of switches."""

    simulator: SimulatorName = None
    switch: SwitchName = None


class MeasureOptions(NamedTuple):
    """Options for measurements of schedules."""

    run: Annotated[
        bool,
        Option(
            "--run",
            help="Measure schedules, and the MPI library's own, on the machine.",
        ),
    ] = False
    repeats: Annotated[
        int | None,
        Option(
            "--repeats",
            help="With --run: calls of each schedule and size; default: 30.",
        ),
    ] = None
    mpicc: Mpicc = None
    timeline: Annotated[
        Path | None,
        figure_option(
            "With --run: draw who waits for whom in a call of the fastest schedule",
            "--timeline",
        ),
    ] = None


class DrawingOptions(NamedTuple):
    """The figures."""

    figure: Figure = None
    over: Annotated[
        str,
        Option("--over", help="The x axis of the figure: bytes, ranks or degree."),
    ] = "bytes"
    rounds: Annotated[
        Path | None,
        figure_option("Draw the best schedule, round by round", "--rounds"),
    ] = None


def check_option_conflicts(
    others: Sequence[str],
    order_ranks: bool,
    message: MessageOptions,
    results: ResultOptions,
    simulation: SimulationOptions,
    measuring: MeasureOptions,
    drawing: DrawingOptions,
) -> None:
    """Raise an error for conflicting options."""
    from topoloom._core import Error

    if others and (results.to is None or order_ranks or message.demand):
        raise Error(
            "several collectives require --to, without --order-ranks and --demand; add "
            "--to, or name one collective"
        )
    simulator, switch = simulation
    if simulator not in (None, "switches"):
        raise Error(
            f"collectives can be simulated only with switches, not with '{simulator}'"
        )
    if switch is not None and simulator is None:
        raise Error("--switch is for --with switches")
    if simulator is not None and (measuring.run or others):
        raise Error(
            "--with simulates one collective; name only one, and leave out --run"
        )
    ranked_only = (
        order_ranks,
        results.to,
        results.write_pattern,
        drawing.rounds,
        message.demand,
        drawing.over != "bytes",
    )
    if measuring.run and any(ranked_only):
        raise Error(
            "--run only measures schedules; leave out --order-ranks, --to, "
            "--write-graph, --rounds, --demand and --over"
        )


def check_run_only_options(
    launcher: Sequence[str] | None, measuring: MeasureOptions
) -> None:
    """Raise an error for options that require --run."""
    from topoloom._core import Error

    if launcher:
        raise Error(
            f"'{launcher[0]}' is started to measure; add --run, or leave it out"
        )
    if measuring.timeline or measuring.mpicc or measuring.repeats is not None:
        raise Error("--timeline, --mpicc and --repeats are for --run; add it")


def make_result_files(
    order_ranks: bool, results: ResultOptions, drawing: DrawingOptions
) -> ResultFiles:
    """Determine the content of each output file; raise an error for conflicts.

    Raises
    ------
    topoloom.Error
        For an unknown format, or if nothing defines the content of -o.
    """
    from topoloom._core import Error
    from topoloom.schedules.exports.schedule_formats import find_format
    from topoloom.tasks.collectives.collective_result import ResultFiles

    to, output = results.to, results.output
    form = find_format(to) if to is not None else None
    if order_ranks and to is not None:
        raise Error(
            "-o writes one of the placement and the export; leave out --order-ranks or "
            "--to"
        )
    if output is not None and not order_ranks and to is None:
        raise Error(
            "-o has no content; add --order-ranks for a placement, --to for an export, "
            "or --run for measured times"
        )
    if output is None and to is not None:
        raise Error(f"--to {to} needs a file to write; add -o FILE")
    if drawing.figure is None and drawing.over != "bytes":
        raise Error("--over is for --figure; add it")
    return ResultFiles(
        placement=output if order_ranks else None,
        export=None if order_ranks else output,
        export_format=form,
        pattern=results.write_pattern,
        decisions=results.decisions,
        figure=drawing.figure,
        over=drawing.over,
        rounds=drawing.rounds,
    )
