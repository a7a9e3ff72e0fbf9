# SPDX-License-Identifier: BSD-3-Clause
"""Puts together what the ranks of a recorded command left."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from topoloom._core import Error
from topoloom.graphs.profile import Profile
from topoloom.preload.record.marks import describe_ends, read_marks, why_nothing
from topoloom.preload.record.recording import Block, read_blocks


class NothingRecorded(Error):
    """The command ran, but left no recording; `exit_status` is how it ended."""

    def __init__(self, message: str, exit_status: int) -> None:
        super().__init__(message)
        self.exit_status = exit_status


def read_recording(
    folder: str | Path, exit_status: int = 0, time_limit: float | None = None
) -> Profile:
    """Put together the files in a folder that was the recorder's ``TOPOLOOM_RECORD``.

    Parameters
    ----------
    exit_status
        Of the command.
    time_limit
        Seconds after which it was ended, if it was.

    Raises
    ------
    NothingRecorded
        If there is none.
    topoloom.Error
        If one is damaged, or they are of several programs.
    """
    marks = read_marks(Path(folder))
    files = {
        file: file.stem.rpartition("-")[2]
        for kind in ("partial", "recording")  # where a rank has both, the whole one
        for file in sorted(Path(folder).glob(f"{kind}-*.topoloom"))
    }
    jobs = {*files.values(), *marks.started}
    if len(jobs) > 1:
        raise Error(
            f"the command ran {len(jobs)} MPI programs, one after another; "
            "record them one by one"
        )
    if not files:
        why = why_nothing(marks, exit_status)
        if time_limit is not None:
            why = f"it was ended after {time_limit:g} s; until then, {why}"
        raise NothingRecorded(
            f"nothing was recorded (exit status {exit_status}): {why}", exit_status
        )
    blocks = {block.rank: block for file in files for block in read_blocks(file)}
    profile = _profile(list(blocks.values()), exit_status)
    ends = describe_ends(marks, jobs.pop(), profile.missing)
    if time_limit is not None:
        told = {rank for ranks in ends.values() for rank in ranks}
        cut = [rank for rank in profile.partial if rank not in told]
        ends[f"cut short by the time limit of {time_limit:g} s"] = cut
    profile.ends.update({how: ranks for how, ranks in ends.items() if ranks})
    return profile


def _profile(blocks: list[Block], exit_status: int) -> Profile:
    rank_count = blocks[0].rank_count
    if any(block.rank_count != rank_count for block in blocks):
        raise Error("the command ran several MPI programs; record them one by one")
    members = {k: v for block in blocks for k, v in block.communicators.items()}
    numbers = {identity: number for number, identity in enumerate(sorted(members))}
    records = np.concatenate([block.records for block in blocks])
    known = np.isin(records[:, 2], list(numbers))
    if not np.all(known):
        raise Error("damaged recording: a collective names no known communicator")
    records[:, 2] = [numbers[identity] for identity in records[:, 2].tolist()]
    traffic = np.concatenate([_traffic(block) for block in blocks])
    return Profile(  # which refuses impossible numbers
        rank_count=rank_count,
        traffic=traffic[np.lexsort(traffic.T[::-1])],
        records=records[np.lexsort(records.T[::-1])],
        communicators=[members[identity] for identity in sorted(members)],
        missing=sorted(set(range(rank_count)) - {block.rank for block in blocks}),
        partial=sorted(block.rank for block in blocks if not block.complete),
        lost=sum(block.lost for block in blocks),
        wall_seconds=max(block.seconds for block in blocks),
        exit_status=exit_status,
    )


def _traffic(block: Block) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Turn (phase, kind, peer, bytes, messages) into rows with source and target."""
    phase, kind, peer, size, count = block.counters.T
    here = np.full_like(peer, block.rank)
    got = kind == 3  # a get moves bytes from the peer to this rank
    source, target = np.where(got, peer, here), np.where(got, here, peer)
    return np.stack([phase, kind, source, target, size, count], axis=1)
