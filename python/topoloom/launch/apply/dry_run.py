# SPDX-License-Identifier: BSD-3-Clause
"""Where a launcher would start each rank, and the placement that it was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.apply import openmpi_map, srun_map
from topoloom.launch.apply.job_map import JobMap, LauncherRefuses
from topoloom.launch.apply.program import WITHOUT_A_WORD
from topoloom.launch.exports import hostfile, openmpi_rankfile, slurm_hostfile
from topoloom.launch.exports.launch_formats import LaunchFormat
from topoloom.launch.host_placement import HostPlacement

Ask = Callable[[LaunchFormat, str, HostPlacement, str, Sequence[str]], JobMap]


class Checker(NamedTuple):
    """What reports where ranks would start: a program, and how to ask it."""

    program: str
    ask: Ask


CHECKERS: dict[str, Checker] = {
    openmpi_rankfile.NAME: Checker("mpirun", openmpi_map.ask),
    hostfile.NAME: Checker("mpirun", openmpi_map.ask),
    slurm_hostfile.NAME: Checker("srun", srun_map.ask),
}


class DryRun(NamedTuple):
    """Who was asked, and in what the answer differs from the placement."""

    launcher: str
    mismatches: list[str]


def dry_run(
    entry: LaunchFormat,
    text: str,
    placement: HostPlacement,
    program: str | None = None,
    options: Sequence[str] = (),
) -> DryRun:
    """Let a launcher read an exported file, and compare its map rank by rank.

    Parameters
    ----------
    entry, text, placement
        The format, what it wrote, and of what.
    program
        The launcher to ask; None for the usual one of the format.
    options
        More options of the launcher, such as ``--oversubscribe``.

    Raises
    ------
    LauncherRefuses
        If it cannot apply the file.
    topoloom.Error
        If the format's launcher has no dry run, or the program is another one.
    """
    if entry.NAME not in CHECKERS:
        raise Error(
            f"nothing can check {entry.NAME}: its launcher does not report where ranks "
            f"would start; those of {', '.join(CHECKERS)} do, and 'topoloom run' tries "
            "a placement with a program that does nothing"
        )
    checker = CHECKERS[entry.NAME]
    program = program or checker.program
    answer = checker.ask(entry, text, placement, program, options)
    if len(answer.hosts) < placement.rank_count:
        said = answer.said or WITHOUT_A_WORD
        raise LauncherRefuses(f"{program} refuses the placement: {said}")
    found = (_mismatch(placement, rank, answer) for rank in range(placement.rank_count))
    return DryRun(answer.launcher, [line for line in found if line])


def _mismatch(placement: HostPlacement, rank: int, answer: JobMap) -> str | None:
    host, mapped = placement.name(rank), answer.hosts[rank]
    if not _same_host(host, mapped):
        return f"rank {rank} would start on {mapped}, not on {host}"
    return answer.misbound.get(rank)


def _same_host(name: str, other: str) -> bool:
    """Compare names, of which one may lack its domain."""
    if "." in name and "." in other:
        return name == other
    return name.partition(".")[0] == other.partition(".")[0]
