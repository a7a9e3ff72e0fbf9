# SPDX-License-Identifier: BSD-3-Clause
"""Dry runs: compare a launcher's own map of the ranks with the placement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from topoloom._core import Error
from topoloom.launch.apply import openmpi_map, srun_map
from topoloom.launch.apply.job_map import JobMap, PlacementRefusedError
from topoloom.launch.apply.launcher_failure import find_ssh_error
from topoloom.launch.export_format import ExportFormat
from topoloom.launch.exports import hostfile, openmpi_rankfile, slurm_hostfile
from topoloom.launch.host_placement import HostPlacement
from topoloom.launch.launcher import NO_MESSAGE

ReadMap = Callable[[ExportFormat, str, HostPlacement, str, Sequence[str]], JobMap]


class JobMapReader(NamedTuple):
    """A launcher that supports dry runs, and the function that reads its job map."""

    program: str
    read_map: ReadMap


CHECKERS: dict[str, JobMapReader] = {
    openmpi_rankfile.FORMAT.name: JobMapReader("mpirun", openmpi_map.read_job_map),
    hostfile.FORMAT.name: JobMapReader("mpirun", openmpi_map.read_job_map),
    slurm_hostfile.FORMAT.name: JobMapReader("srun", srun_map.read_job_map),
}


class DryRunResult(NamedTuple):
    """The launcher, and one line for each rank that it would start elsewhere."""

    launcher: str
    mismatches: list[str]


def dry_run(
    target: ExportFormat,
    text: str,
    placement: HostPlacement,
    program: str | None = None,
    options: Sequence[str] = (),
) -> DryRunResult:
    """Pass an exported file to a launcher, and compare its job map rank by rank.

    Parameters
    ----------
    target, text, placement
        The format, the exported file, and the placement in it.
    program
        The launcher. Default: the format's usual launcher.
    options
        Additional launcher options, such as ``--oversubscribe``.

    Raises
    ------
    PlacementRefusedError
        If the launcher cannot apply the file.
    topoloom.Error
        If the format's launcher has no dry run, or `program` is another launcher.
    """
    if target.name not in CHECKERS:
        raise Error(
            f"{target.name} cannot be checked: its launcher has no dry run, but the "
            f"launchers of {', '.join(CHECKERS)} have; 'topoloom run' tests a "
            "placement with a no-op program"
        )
    checker = CHECKERS[target.name]
    program = program or checker.program
    answer = checker.read_map(target, text, placement, program, options)
    if len(answer.hosts) < placement.rank_count:
        if cause := find_ssh_error(answer.message):
            raise PlacementRefusedError(f"{program} cannot reach a host: {cause}")
        why = answer.message or f"it {NO_MESSAGE}"
        raise PlacementRefusedError(f"{program} refuses the placement: {why}")
    found = (
        _describe_mismatch(placement, rank, answer)
        for rank in range(placement.rank_count)
    )
    return DryRunResult(answer.launcher, [line for line in found if line])


def _describe_mismatch(
    placement: HostPlacement, rank: int, answer: JobMap
) -> str | None:
    host, mapped = placement.host_name(rank), answer.hosts[rank]
    if not _is_same_host(host, mapped):
        return f"rank {rank} would start on {mapped}, not on {host}"
    return answer.binding_errors.get(rank)


def _is_same_host(name: str, other: str) -> bool:
    """Return whether two host names, each with or without a domain, are the same."""
    if "." in name and "." in other:
        return name == other
    return name.partition(".")[0] == other.partition(".")[0]
