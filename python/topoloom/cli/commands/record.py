# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom record`: record the bytes that ranks of a program exchange."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.programs import (
    Collectives,
    GpusPerNode,
    MaybeProgram,
    Mpicc,
    Nccl,
    PlayedRanks,
    Torch,
    WorldSize,
)
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.documents.programs import ProgramFacts
    from topoloom.tasks.record import RecordedProgram


#: Options that apply to a recording whose process was killed.
_OF_RECOVERY = {"output", "collectives", "gpus_per_node", "recover", "as_json"}


def command(
    context: click.Context,
    program: MaybeProgram = None,
    *,
    output: Annotated[
        Path,
        output_option("Write the graph as .npz."),
    ],
    collectives: Collectives = "expand",
    gpus_per_node: GpusPerNode = None,
    mpicc: Mpicc = None,
    torch: Torch = False,
    nccl: Nccl = False,
    world: WorldSize = None,
    ranks: PlayedRanks = None,
    timeout: Annotated[
        str | None,
        Option(
            "--timeout", metavar="TIME", help="End the job after this time, e.g. 10min."
        ),
    ] = None,
    recover: Annotated[
        Path | None,
        Option(
            "--recover",
            metavar="FOLDER",
            help="Read the hidden folder of a killed 'record'.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a program and record the bytes sent from rank to rank.

    MPI: records any dynamically linked program without changes to it. Counts all kinds
    of point-to-point messages, one-sided access, and all collectives, including
    neighborhood collectives. Collectives of different communicators are phases; so is
    what follows MPI_Pcontrol(N). Ctrl-C, SIGTERM and hangups end the job and write the
    recorded data. The exit status is the program's. stdout is the program's; the report
    goes to stderr.

    PyTorch: a command with torchrun, another command with --torch, or one process that
    is run as several ranks of a large --world-size. Counts every call of
    torch.distributed, also from DDP, FSDP and compiled code.

    NCCL (--nccl): any program that uses NCCL, also without PyTorch. Counts the events
    that NCCL 2.23 or later reports to profiler plugins.

    \b
    Examples:
      topoloom record -o app.npz -- mpirun -n 64 ./app input.txt
      topoloom record -o app.npz --collectives keep -- srun -n 4096 ./app
      topoloom record -o app.npz --mpicc /opt/mpi/bin/mpicc -- ./run-my-job.sh
      topoloom record -o job.npz -- torchrun --nproc-per-node 8 train.py
      topoloom record -o job.npz --torch -- srun -n 16 python train.py
      topoloom record -o job.npz --world-size 1024 --rank 0,512 -- python train.py
      topoloom record -o job.npz --nccl -- mpirun -n 8 all_reduce_perf -e 128M
      topoloom record -o app.npz --recover .topoloom-record-x1y2z3
    """
    from topoloom._core import Error
    from topoloom.cli.console import note, note_json
    from topoloom.cli.options.given import check_options_apply
    from topoloom.cli.output.run import note_leftovers
    from topoloom.graphs.gpu_nodes import GPUS_PER_NODE
    from topoloom.launch.apply.torch_command import is_torchrun
    from topoloom.support.ending_signals import raise_on_signals
    from topoloom.tasks.record import recover_program

    if output.suffix != ".npz":
        raise Error(
            f"{output}: a communication graph is written as .npz; change the suffix"
        )
    program, gpus = program or [], gpus_per_node or GPUS_PER_NODE
    if recover is not None:
        check_options_apply(context, _OF_RECOVERY, "--recover")
        if program:
            raise Error("--recover runs no command; leave it out")
        recorded = recover_program(recover, output, collectives, gpus)
        if recover.exists():
            note(f"topoloom: {recover} is kept, as recordings of ranks are missing")
    else:
        is_torch = not nccl and (torch or world is not None or is_torchrun(program))
        _check_recorder(nccl, torch, is_torch, mpicc, world, ranks)
        note_leftovers(output.parent)
        options: dict[str, Any] = {"timeout": _parse_timeout(timeout)}
        if nccl:
            options["gpus_per_node"] = gpus
        elif is_torch:
            options |= {"world": world, "ranks": "0" if ranks is None else ranks}
            options["gpus_per_node"] = gpus
        else:
            options["mpicc"] = mpicc
        with raise_on_signals():
            recorded = _record(program, output, collectives, is_torch, nccl, options)
    if as_json:
        note_json(recorded.document())
    else:
        _print_result(recorded.facts(), output)
    for warning in recorded.warnings():
        note(f"topoloom: {warning}")
    raise click.exceptions.Exit(recorded.profile.exit_status)


def _parse_timeout(text: str | None) -> float | None:
    from topoloom._core import Error
    from topoloom.support.units import parse_duration

    seconds = None if text is None else parse_duration(text)
    if seconds == 0:
        raise Error(
            "--timeout 0 leaves the job no time; set a longer time, such as 10min"
        )
    return seconds


def _record(
    program: list[str],
    output: Path,
    collectives: str,
    is_torch: bool,
    nccl: bool,
    options: dict[str, Any],
) -> RecordedProgram:
    """Run and record the program with the recorder of its communication."""
    from topoloom.cli.exit_status import Failure
    from topoloom.graphs.profile import BY_NCCL, COLLECTIVES, check_collectives
    from topoloom.preload.record import NothingRecorded
    from topoloom.tasks import record

    by_gpus = (BY_NCCL,) if is_torch or nccl else ()
    check_collectives(collectives, (*COLLECTIVES, *by_gpus))
    try:
        if nccl:
            return record.record_nccl(program, output, collectives, **options)
        if is_torch:
            return record.record_torch(program, output, collectives, **options)
        return record.record_program(program, output, collectives, **options)
    except NothingRecorded as error:
        raise Failure(str(error), error.exit_status or 1) from None


def _check_recorder(
    nccl: bool,
    torch: bool,
    is_torch: bool,
    mpicc: str | None,
    world: int | None,
    ranks: str | None,
) -> None:
    """Raise an error for options of recorders other than the chosen one."""
    from topoloom._core import Error

    if nccl and torch:
        raise Error("--torch and --nccl select different recorders; leave one out")
    if (is_torch or nccl) and mpicc is not None:
        by = "--nccl" if nccl else "a program of PyTorch"
        raise Error(f"--mpicc is for MPI programs, not for {by}; leave it out")
    if nccl and world is not None:
        raise Error("--nccl requires a real job, not --world-size; leave one out")
    if world is None and ranks is not None:
        raise Error("--rank requires --world-size, the total number of ranks")


def _print_result(facts: ProgramFacts, output: Path) -> None:
    """Print the report on stderr, because stdout is the program's."""
    import sys

    from topoloom.cli.console import print_facts
    from topoloom.cli.output.graph import format_mpi_time
    from topoloom.support.units import counted, format_bytes

    lines = [
        ("ranks", f"{facts['ranks']}, {facts['seconds']:.3g} s"),
        (
            "point to point",
            f"{format_bytes(facts['bytes'])} in "
            f"{counted(facts['messages'], 'message')} between "
            f"{counted(facts['pairs'], 'pair')}",
        ),
    ]
    if facts["own_messages"]:
        own = counted(facts["own_messages"], "message")
        lines.append(("to itself", f"{format_bytes(facts['own_bytes'])} in {own}"))
    if calls := facts["collectives"]:
        named = ", ".join(f"{count:,} {name}" for name, count in calls.items())
        lines.append(("collectives", named))
    if facts["graph_bytes"] != facts["bytes"]:
        count = counted(facts["graph_messages"], "message")
        both = f"{format_bytes(facts['graph_bytes'])} in {count}"
        lines.append(("with collectives", both))
    if pair := facts["busiest_pair"]:
        lines.append(
            (
                "busiest pair",
                f"{pair['source']} to {pair['target']}: "
                f"{format_bytes(pair['bytes'])} in "
                f"{counted(pair['messages'], 'message')}",
            )
        )
    if facts["mpi_time"]:
        lines.append(("time in MPI", format_mpi_time(facts["mpi_time"])))
    if facts["phases"]:
        lines.append(("phases", "; ".join(facts["phases"])))
    print_facts(lines, written=[output], stream=sys.stderr)
