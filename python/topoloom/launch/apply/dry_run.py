# SPDX-License-Identifier: BSD-3-Clause
"""Compares where a launcher would start each rank with the placement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.apply import openmpi_map, srun_map
from topoloom.launch.apply.job_map import JobMap, PlacementRefusedError
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.exports import hostfile, openmpi_rankfile, slurm_hostfile
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import NO_MESSAGE

ReadMap = Callable[[ExportFormat, str, HostPlacement, str, Sequence[str]], JobMap]


class Checker(NamedTuple):
    """A launcher with a dry run, and the function that reads its map of the ranks."""

    program: str
    read_map: ReadMap


CHECKERS: dict[str, Checker] = {
    openmpi_rankfile.FORMAT.name: Checker("mpirun", openmpi_map.read_job_map),
    hostfile.FORMAT.name: Checker("mpirun", openmpi_map.read_job_map),
    slurm_hostfile.FORMAT.name: Checker("srun", srun_map.read_job_map),
}


class DryRun(NamedTuple):
    """The launcher, and the ranks that it would start elsewhere, a line each."""

    launcher: str
    mismatches: list[str]


def dry_run(
    target: ExportFormat,
    text: str,
    placement: HostPlacement,
    program: str | None = None,
    options: Sequence[str] = (),
) -> DryRun:
    """Let a launcher read an exported file, and compare its map rank by rank.

    Parameters
    ----------
    target, text, placement
        The format, the exported file, and the placement in it.
    program
        The launcher. Default: the usual one of the format.
    options
        More options of the launcher, such as ``--oversubscribe``.

    Raises
    ------
    PlacementRefusedError
        If the launcher cannot apply the file.
    topoloom.Error
        If the format's launcher has no dry run, or `program` is another launcher.
    """
    if target.name not in CHECKERS:
        raise Error(
            f"nothing can check {target.name}: its launcher does not report where "
            f"ranks would start; those of {', '.join(CHECKERS)} do, and 'topoloom run' "
            "tries a placement with a program that does nothing"
        )
    checker = CHECKERS[target.name]
    program = program or checker.program
    answer = checker.read_map(target, text, placement, program, options)
    if len(answer.hosts) < placement.rank_count:
        why = answer.message or NO_MESSAGE
        raise PlacementRefusedError(f"{program} refuses the placement: {why}")
    found = (_mismatch(placement, rank, answer) for rank in range(placement.rank_count))
    return DryRun(answer.launcher, [line for line in found if line])


def _mismatch(placement: HostPlacement, rank: int, answer: JobMap) -> str | None:
    host, mapped = placement.host_name(rank), answer.hosts[rank]
    if not _same_host(host, mapped):
        return f"rank {rank} would start on {mapped}, not on {host}"
    return answer.binding_errors.get(rank)


def _same_host(name: str, other: str) -> bool:
    """Compare host names, either of which may lack its domain."""
    if "." in name and "." in other:
        return name == other
    return name.partition(".")[0] == other.partition(".")[0]
