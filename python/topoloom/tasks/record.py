# SPDX-License-Identifier: BSD-3-Clause
"""Records a program into a file, and summarizes its communication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from topoloom._core import Error
from topoloom.graphs.gpu_nodes import GPUS_PER_NODE
from topoloom.graphs.phases import make_recorded_phases
from topoloom.graphs.profile import BY_NCCL, Profile

if TYPE_CHECKING:
    from topoloom.documents.patterns import MpiTimeFields
    from topoloom.documents.programs import ProgramFacts, RecordDocument

    pass


class RecordedProgram(NamedTuple):
    """The profile of a recorded program, and its file."""

    profile: Profile
    path: Path
    collectives: str
    losses: Sequence[str] = ()
    gpus_per_node: int = GPUS_PER_NODE

    def facts(self) -> ProgramFacts:
        """Count messages, bytes and calls between ranks; find the busiest pair."""
        profile = self.profile
        time = profile.mpi_time
        sent = profile.point_to_point()
        own = sent.select(sent.source == sent.target)
        direct = sent.select(sent.source != sent.target)
        edges = profile.edges(self.collectives, None, self.gpus_per_node)
        edges = edges.select(edges.source != edges.target)
        busiest = int(edges.bytes.argmax()) if len(edges.bytes) else None
        return {
            "ranks": profile.rank_count,
            "messages": int(direct.messages.sum()),
            "bytes": int(direct.bytes.sum()),
            "pairs": len(direct.source),
            "own_messages": int(own.messages.sum()),
            "own_bytes": int(own.bytes.sum()),
            "collectives": profile.count_calls(),
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
            "phases": list(make_recorded_phases(profile, self.collectives)),
            "seconds": profile.wall_seconds,
            "mpi_time": cast("MpiTimeFields | None", time and time._asdict()),
            "missing_ranks": profile.missing,
            "partial_ranks": profile.partial,
            "ends": profile.ends,
            "lost_calls": profile.lost,
            "exit_status": profile.exit_status,
        }

    def document(self) -> RecordDocument:
        """Return the fields of the ``--json`` output."""
        return {"output": str(self.path), **self.facts()}

    def warnings(self) -> list[str]:
        """Describe missing data, and ranks that ended early."""
        profile, warnings = self.profile, []
        if profile.exit_status:
            warnings.append(
                f"the command ended with status {profile.exit_status}; "
                "the file contains the communication until then"
            )
        if profile.missing:
            warnings.append(f"no data from {_format_ranks(profile.missing)}")
        if profile.partial:
            warnings.append(
                f"{_format_ranks(profile.partial)} ended before MPI_Finalize; "
                "the file contains their communication until then"
            )
        warnings += [
            f"{_format_ranks(ranks)}: {how}" for how, ranks in profile.ends.items()
        ]
        warnings += self.losses
        if profile.lost:
            warnings.append(
                f"{profile.lost} calls are not in the file: to processes outside the "
                "program, or collectives between two groups"
            )
        return warnings


def record_program(
    program: Sequence[str],
    output: Path,
    collectives: str = "expand",
    *,
    mpicc: str | None = None,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
) -> RecordedProgram:
    """Run an MPI program, and write its communication graph.

    Parameters and exceptions are as in `topoloom.preload.record.record`. The file is
    written before the ranks' recordings are deleted.
    """
    from topoloom.preload.record import record

    profile = record(
        program,
        mpicc=mpicc,
        timeout=timeout,
        folder=output.parent,
        stdout=stdout,
        then=lambda profile: _save_profile(profile, output, collectives),
    )
    _check_not_empty(profile, output)
    return RecordedProgram(profile, output, collectives)


def record_torch(
    program: Sequence[str],
    output: Path,
    collectives: str = "expand",
    *,
    world: int | None = None,
    ranks: str = "0",
    gpus_per_node: int = GPUS_PER_NODE,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
) -> RecordedProgram:
    """Run a PyTorch program, and write its communication graph.

    Parameters
    ----------
    program
        The command that starts all ranks; with `world`, a command of one process.
    output
        The .npz file to write. All hosts must share its folder, which contains the
        recordings of the ranks during the run.
    collectives
        As in `topoloom.graphs.profile.Profile.save`.
    world, ranks
        Record a fake world of `world` ranks: the command runs once as each of `ranks`,
        such as ``0,256``. Each other rank is assumed to communicate like the nearest
        recorded rank below it.
    timeout
        Seconds after which the command is terminated; recorded data is kept.
    stdout
        The standard output of the program; by default inherited from this process.

    Raises
    ------
    topoloom.Error
        If the command cannot be started, or started several jobs. If the file cannot be
        written; the message contains the path of the recordings.
    topoloom.preload.record.NothingRecorded
        If no process of the command initialized torch.distributed.
    """
    from topoloom.frameworks.pytorch.recorded_job import (
        emulate_ranks,
        read_recording,
        run_job,
    )
    from topoloom.graphs.nccl_collectives import make_nccl_expansion
    from topoloom.preload.record import NothingRecorded
    from topoloom.preload.record.notes_folder import keep_notes_on_error, notes_folder
    from topoloom.support.ending_signals import hold_signals
    from topoloom.support.files import check_writable

    if not program:
        raise Error("no command; write it after --, as in: -- torchrun train.py")
    if collectives == BY_NCCL:
        # Check the range of numbers before the program runs.
        make_nccl_expansion(world or gpus_per_node, gpus_per_node)
    check_writable(output)
    with hold_signals() as signals, notes_folder(output.parent, "torch") as folder:
        limits = (folder, timeout, stdout, signals)
        if world is None:
            job = run_job(program, *limits)
        else:
            job = emulate_ranks(program, world, ranks, *limits)
        if not any(one.stat().st_size for one in Path(folder).glob("*.calls")):
            raise NothingRecorded(_explain_no_calls(job.status), job.status)
        trace = read_recording(folder)
        with keep_notes_on_error(folder, "*.calls"):
            profile = trace.profile()
            profile = replace(profile, wall_seconds=job.seconds, exit_status=job.status)
            _save_profile(profile, output, collectives, gpus_per_node)
    _check_not_empty(profile, output)
    missing = f"{len(profile.missing)} of {trace.ranks} ranks left nothing"
    losses = [one for one in trace.losses if not one.startswith(missing)]
    return RecordedProgram(profile, output, collectives, losses, gpus_per_node)


def _explain_no_calls(status: int) -> str:
    from topoloom.support.signal_status import describe_early_end

    if status:
        return (
            f"nothing was recorded: {describe_early_end(status)} before a process "
            "initialized torch.distributed"
        )
    return (
        "nothing was recorded (exit status 0): no process of the command initialized "
        "torch.distributed, or Python ignores PYTHONPATH"
    )


def record_nccl(
    program: Sequence[str],
    output: Path,
    collectives: str = "expand",
    *,
    gpus_per_node: int = GPUS_PER_NODE,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
) -> RecordedProgram:
    """Run a program, and write the communication graph of NCCL or RCCL.

    Parameters and exceptions are as in
    `topoloom.preload.nccl.profiler_plugin.record_nccl`. `collectives` and
    `gpus_per_node` are as in `topoloom.graphs.profile.Profile.save`.
    """
    from topoloom.preload.nccl.profiler_plugin import record_nccl

    profile, losses = record_nccl(
        program,
        timeout=timeout,
        folder=output.parent,
        stdout=stdout,
        then=lambda profile: _save_profile(profile, output, collectives, gpus_per_node),
    )
    _check_not_empty(profile, output)
    return RecordedProgram(profile, output, collectives, losses, gpus_per_node)


def recover_program(
    folder: Path,
    output: Path,
    collectives: str = "expand",
    gpus_per_node: int = GPUS_PER_NODE,
) -> RecordedProgram:
    """Write the communication graph of a job whose recording process was killed.

    The folder is deleted if it has the recordings of all ranks.

    Raises
    ------
    topoloom.Error
        If the folder contains no recordings, or the job still runs.
    """
    import shutil

    from topoloom.preload.record.live_ranks import find_ranks
    from topoloom.preload.record.notes_folder import is_in_use

    folder = folder.absolute()
    if is_in_use(folder) or find_ranks(folder):
        raise Error(f"{folder}: the job still runs; wait for its end")
    profile, losses = _read_recording(folder)
    _save_profile(profile, output, collectives, gpus_per_node)
    if not profile.missing:
        shutil.rmtree(folder, ignore_errors=True)
    return RecordedProgram(profile, output, collectives, losses, gpus_per_node)


def _read_recording(folder: Path) -> tuple[Profile, Sequence[str]]:
    """Read the files of a recorder of MPI, PyTorch or NCCL."""
    from topoloom.frameworks.pytorch import recorded_job
    from topoloom.preload.nccl import profiler_plugin
    from topoloom.preload.record import read_recording

    if any(folder.glob("*.calls")):
        trace = recorded_job.read_recording(folder)
        return trace.profile(), trace.losses
    if any(folder.glob("*.jsonl")):
        return profiler_plugin.read_recording(folder)
    if not any(folder.glob("*.topoloom")):
        raise Error(f"{folder}: no recordings of ranks")
    return read_recording(folder), ()


def _save_profile(
    profile: Profile, output: Path, collectives: str, gpus_per_node: int = GPUS_PER_NODE
) -> None:
    if not _is_empty(profile):
        profile.save(output, collectives, gpus_per_node)


def _is_empty(profile: Profile) -> bool:
    """Return whether the command failed before any communication was recorded."""
    counted = len(profile.traffic) + len(profile.records)
    return profile.exit_status != 0 and counted == 0


def _check_not_empty(profile: Profile, output: Path) -> None:
    from topoloom.preload.record import NothingRecorded

    if _is_empty(profile):
        ends = [
            f"; {_format_ranks(ranks)}: {how}" for how, ranks in profile.ends.items()
        ]
        if profile.missing:
            ends.insert(0, f"; no data from {_format_ranks(profile.missing)}")
        raise NothingRecorded(
            f"the command failed (exit status {profile.exit_status}) before it sent "
            f"anything; {output} is not written{''.join(ends)}",
            profile.exit_status,
        )


def _format_ranks(ranks: list[int]) -> str:
    """Format a list of ranks: ``ranks 0-3, 7``."""
    from topoloom.support.number_ranges import compress_ranges

    shown = compress_ranges(ranks).split(",")
    more = f" and {len(shown) - 8} more spans" if len(shown) > 8 else ""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {', '.join(shown[:8])}{more}"
