# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom record`: record who sends how much to whom in an MPI program."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.programs import Collectives, Mpicc, Program

if TYPE_CHECKING:
    from topoloom.graphs.profile import Profile


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
    from topoloom.preload.record import NothingRecorded, record
    from topoloom.support.units import parse_duration

    check_collectives(collectives)
    if output.suffix != ".npz":
        raise Error(f"{output}: communication graphs are written as .npz")
    try:
        profile = record(
            program,
            mpicc=mpicc,
            timeout=None if timeout is None else parse_duration(timeout),
            folder=output.parent,
            stdout=sys.stderr if as_json else None,
            then=lambda profile: profile.save(output, collectives),
        )
    except NothingRecorded as error:
        raise Failure(str(error), error.exit_status or 1) from None
    facts = _facts(profile, collectives)
    if as_json:
        print_json({"output": str(output), **facts})
    else:
        _print(facts, output)
    for warning in _warnings(profile):
        note(f"topoloom: {warning}")
    raise typer.Exit(profile.exit_status)


def _facts(profile: Profile, collectives: str) -> dict[str, Any]:
    from topoloom.graphs.mpi_collectives import OPERATIONS

    direct = profile.point_to_point()
    edges = profile.edges(collectives)
    busiest = int(edges.bytes.argmax()) if len(edges.bytes) else None
    calls: Counter[str] = Counter()
    for _, operation, _, _, _, count in profile.records.tolist():
        calls[OPERATIONS[operation]] += count
    return {
        "ranks": profile.rank_count,
        "messages": int(direct.messages.sum()),
        "bytes": int(direct.bytes.sum()),
        "pairs": len(direct.source),
        "collectives": dict(calls.most_common()),
        "graph_messages": int(edges.messages.sum()),
        "graph_bytes": int(edges.bytes.sum()),
        "busiest_pair": None
        if busiest is None
        else {
            "source": int(edges.source[busiest]),
            "target": int(edges.target[busiest]),
            "bytes": int(edges.bytes[busiest]),
            "messages": int(edges.messages[busiest]),
        },
        "phases": profile.phases,
        "seconds": profile.wall_seconds,
        "missing_ranks": profile.missing,
        "partial_ranks": profile.partial,
        "ends": profile.ends,
        "lost_calls": profile.lost,
        "exit_status": profile.exit_status,
    }


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


def _warnings(profile: Profile) -> list[str]:
    warnings = []
    if profile.exit_status:
        warnings.append(
            f"the command ended with status {profile.exit_status}; what it sent until "
            "then is in the file"
        )
    if profile.missing:
        warnings.append(f"nothing came from {_ranks(profile.missing)}")
    if profile.partial:
        warnings.append(
            f"{_ranks(profile.partial)} ended before MPI_Finalize; "
            "what they sent until then is in the file"
        )
    warnings += [f"{_ranks(ranks)}: {how}" for how, ranks in profile.ends.items()]
    if profile.lost:
        warnings.append(
            f"{profile.lost} calls are not in the file: to processes outside the "
            "program, or collectives between two groups"
        )
    return warnings


def _ranks(ranks: list[int]) -> str:
    """Write ``ranks 0-3, 7``."""
    from topoloom.support.number_ranges import compress_ranges

    shown = compress_ranges(ranks).split(",")
    more = f" and {len(shown) - 8} more spans" if len(shown) > 8 else ""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {', '.join(shown[:8])}{more}"
