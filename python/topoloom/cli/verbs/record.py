# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom record`: record who sends how much to whom in an MPI program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.programs import Collectives, Mpicc, Program


def command(
    program: Program,
    output: Annotated[
        Path,
        output_option("Write the graph as .npz."),
    ],
    collectives: Collectives = "expand",
    mpicc: Mpicc = None,
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout", metavar="TIME", help="End the job after this time, e.g. 10min."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run an MPI program and write who sends how many bytes to whom.

    Works with any dynamically linked program, unmodified. Counts point-to-point
    messages of every kind, one-sided access, neighborhood and other collectives.
    MPI_Pcontrol(N) in the program starts phase N. Ctrl-C ends the job and keeps what
    was counted. The exit status is the program's.

    \b
    Examples:
      topoloom record -o app.npz -- mpirun -n 64 ./app input.txt
      topoloom record -o app.npz --collectives keep -- srun -n 4096 ./app
      topoloom record -o app.npz --mpicc /opt/mpi/bin/mpicc -- ./run-my-job.sh
    """
    import sys

    from topoloom._core import Error
    from topoloom.cli.console import note, print_json
    from topoloom.cli.exit_status import Failure
    from topoloom.graphs.profile import check_collectives
    from topoloom.preload.record import NothingRecorded
    from topoloom.support.units import parse_duration
    from topoloom.tasks.record import record_program

    check_collectives(collectives)
    if output.suffix != ".npz":
        raise Error(f"{output}: communication graphs are written as .npz")
    try:
        recorded = record_program(
            program,
            output,
            collectives,
            mpicc=mpicc,
            timeout=None if timeout is None else parse_duration(timeout),
            stdout=sys.stderr if as_json else None,
        )
    except NothingRecorded as error:
        raise Failure(str(error), error.exit_status or 1) from None
    if as_json:
        print_json(recorded.document())
    else:
        _print(recorded.facts(), output)
    for warning in recorded.warnings():
        note(f"topoloom: {warning}")
    raise typer.Exit(recorded.profile.exit_status)


def _print(facts: dict[str, Any], output: Path) -> None:
    from topoloom.cli.console import print_facts

    lines = [
        ("ranks", f"{facts['ranks']}, {facts['seconds']:.3g} s"),
        (
            "sent",
            f"{facts['bytes']:,} bytes in {facts['messages']:,} messages "
            f"between {facts['pairs']:,} pairs",
        ),
    ]
    if pair := facts["busiest_pair"]:
        lines.append(
            (
                "busiest pair",
                f"{pair['source']} to {pair['target']}: {pair['bytes']:,} bytes "
                f"in {pair['messages']:,} messages",
            )
        )
    if calls := facts["collectives"]:
        named = ", ".join(f"{count:,} {name}" for name, count in calls.items())
        lines.append(("collectives", named))
    if facts["graph_bytes"] != facts["bytes"]:
        count = f"{facts['graph_messages']:,} messages"
        both = f"{facts['graph_bytes']:,} bytes in {count}"
        lines.append(("with collectives", both))
    if facts["phases"] not in ([0], []):
        lines.append(("phases", ", ".join(map(str, facts["phases"]))))
    print_facts(lines, written=[output])
