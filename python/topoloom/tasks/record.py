# SPDX-License-Identifier: BSD-3-Clause
"""Records a program into a file, and sums up what it sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from topoloom._core import Error
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.profile import Profile

_READER = (
    "in Python, topoloom.frameworks.pytorch.recorded_job.read_recording(FOLDER)"
    '.profile().save("job.npz") writes it'
)


class Recorded(NamedTuple):
    """What a program sent, the file that it is in, and how collectives are counted."""

    profile: Profile
    path: Path
    collectives: str
    losses: Sequence[str] = ()
    gpus_per_node: int = 8

    def facts(self) -> dict[str, Any]:
        """Count messages, bytes and calls; find the busiest pair."""
        profile = self.profile
        direct = profile.point_to_point()
        edges = profile.edges(self.collectives, None, self.gpus_per_node)
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

    def document(self) -> dict[str, Any]:
        """Make what ``--json`` prints."""
        return {"output": str(self.path), **self.facts()}

    def warnings(self) -> list[str]:
        """Say what is not in the file, or ended early."""
        profile, said = self.profile, []
        if profile.exit_status:
            said.append(
                f"the command ended with status {profile.exit_status}; what it sent "
                "until then is in the file"
            )
        if profile.missing:
            said.append(f"nothing came from {_ranks(profile.missing)}")
        if profile.partial:
            said.append(
                f"{_ranks(profile.partial)} ended before MPI_Finalize; "
                "what they sent until then is in the file"
            )
        said += [f"{_ranks(ranks)}: {how}" for how, ranks in profile.ends.items()]
        said += self.losses
        if profile.lost:
            said.append(
                f"{profile.lost} calls are not in the file: to processes outside the "
                "program, or collectives between two groups"
            )
        return said


def record_program(
    program: Sequence[str],
    output: Path,
    collectives: str = "expand",
    *,
    mpicc: str | None = None,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
) -> Recorded:
    """Run an MPI program, and write who sends how many bytes to whom.

    Takes and raises what `topoloom.preload.record.record` does, and writes the file
    while what the ranks noted is still there.
    """
    from topoloom.preload.record import record

    profile = record(
        program,
        mpicc=mpicc,
        timeout=timeout,
        folder=output.parent,
        stdout=stdout,
        then=lambda profile: _save(profile, output, collectives),
    )
    _refuse_nothing(profile, output)
    return Recorded(profile, output, collectives)


def record_torch(
    program: Sequence[str],
    output: Path,
    collectives: str = "expand",
    *,
    world: int | None = None,
    ranks: str = "0",
    gpus_per_node: int = 8,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
) -> Recorded:
    """Run a PyTorch program, and write who sends how many bytes to whom.

    Parameters
    ----------
    program
        The command that starts all ranks; for a fake world, one process.
    output
        The file to write, .npz; the notes of the ranks are beside it for a moment, so
        all hosts should see its folder.
    collectives
        As `topoloom.graphs.profile.Profile.save` takes them.
    world, ranks
        Play each of these ranks, such as ``0,256``, of a world, one after another, and
        take the others to be like those before them.
    timeout
        Seconds after which the command is ended; what was counted is kept.
    stdout
        Where the program prints to; by default to our own output.

    Raises
    ------
    topoloom.Error
        If the command cannot be started, or started several jobs; if the file cannot be
        written, and where the notes are then.
    topoloom.preload.record.NothingRecorded
        If no process of it started a world of torch.distributed.
    """
    from topoloom.frameworks.pytorch.recorded_job import (
        play_ranks,
        read_recording,
        run_job,
    )
    from topoloom.graphs.nccl_collectives import nccl_expansion
    from topoloom.graphs.profile import BY_NCCL
    from topoloom.preload.record import NothingRecorded
    from topoloom.preload.record.keeping import keeping, notes_folder
    from topoloom.support.files import check_writable

    if not program:
        raise Error("no command; write it after --, as in: -- torchrun train.py")
    if collectives == BY_NCCL:
        nccl_expansion(world or gpus_per_node, gpus_per_node)  # refuses what it cannot
    check_writable(output)
    with notes_folder(output.parent, "torch") as folder:
        limits = (folder, timeout, stdout)
        if world is None:
            job = run_job(program, *limits)
        else:
            job = play_ranks(program, world, ranks, *limits)
        if not any(one.stat().st_size for one in Path(folder).glob("*.calls")):
            raise NothingRecorded(
                f"nothing was recorded (exit status {job.status}): no process of the "
                "command started a world of torch.distributed, or its Python ignores "
                "PYTHONPATH",
                job.status,
            )
        trace = read_recording(folder)
        with keeping(folder, "*.calls", _READER):
            profile = trace.profile()
            profile = replace(profile, wall_seconds=job.seconds, exit_status=job.status)
            _save(profile, output, collectives, gpus_per_node)
    _refuse_nothing(profile, output)
    missing = f"{len(profile.missing)} of {trace.ranks} ranks left nothing"
    losses = [one for one in trace.losses if not one.startswith(missing)]
    return Recorded(profile, output, collectives, losses, gpus_per_node)


def record_nccl(
    program: Sequence[str],
    output: Path,
    collectives: str = "expand",
    *,
    gpus_per_node: int = 8,
    timeout: float | None = None,
    stdout: IO[Any] | None = None,
) -> Recorded:
    """Run a program, and write what its processes send each other by NCCL or RCCL.

    Takes and raises what `topoloom.preload.nccl.profiler_plugin.record_nccl` does;
    `collectives` and `gpus_per_node` are as `topoloom.graphs.profile.Profile.save`
    takes them.
    """
    from topoloom.preload.nccl.profiler_plugin import record_nccl

    profile, losses = record_nccl(
        program,
        timeout=timeout,
        folder=output.parent,
        stdout=stdout,
        then=lambda profile: _save(profile, output, collectives, gpus_per_node),
    )
    _refuse_nothing(profile, output)
    return Recorded(profile, output, collectives, losses, gpus_per_node)


def _save(
    profile: Profile, output: Path, collectives: str, gpus_per_node: int = 8
) -> None:
    if not _is_nothing(profile):
        profile.save(output, collectives, gpus_per_node)


def _is_nothing(profile: Profile) -> bool:
    """Say whether the command failed before anything was counted."""
    counted = len(profile.traffic) + len(profile.records)
    return profile.exit_status != 0 and counted == 0


def _refuse_nothing(profile: Profile, output: Path) -> None:
    from topoloom.preload.record import NothingRecorded

    if _is_nothing(profile):
        ends = [f"; {_ranks(ranks)}: {how}" for how, ranks in profile.ends.items()]
        if profile.missing:
            ends.insert(0, f"; nothing came from {_ranks(profile.missing)}")
        raise NothingRecorded(
            f"the command failed (exit status {profile.exit_status}) before it sent "
            f"anything; {output} is not written{''.join(ends)}",
            profile.exit_status,
        )


def _ranks(ranks: list[int]) -> str:
    """Write ``ranks 0-3, 7``."""
    from topoloom.support.number_ranges import compress_ranges

    shown = compress_ranges(ranks).split(",")
    more = f" and {len(shown) - 8} more spans" if len(shown) > 8 else ""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {', '.join(shown[:8])}{more}"
