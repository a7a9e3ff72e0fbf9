# SPDX-License-Identifier: BSD-3-Clause
"""Merges the recordings of all ranks of a command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.graphs.profile import Profile
from topoloom.preload.record.recording import RankRecord, read_records
from topoloom.preload.record.status_log import (
    StatusLog,
    describe_terminations,
    explain_no_counts,
    read_status_log,
)
from topoloom.support.files import is_disk_full


class NothingRecorded(Error):
    """The command ran but recorded nothing; `exit_status` is the command's."""

    def __init__(self, message: str, exit_status: int) -> None:
        super().__init__(message)
        self.exit_status = exit_status


def read_recording(
    folder: str | Path,
    exit_status: int = 0,
    time_limit: float | None = None,
    explain: Callable[[StatusLog], str | None] = lambda _: None,
) -> Profile:
    """Merge the files that recorders wrote to a folder, given by ``TOPOLOOM_RECORD``.

    Parameters
    ----------
    exit_status
        Exit status of the command.
    time_limit
        Seconds after which the command was terminated; None: it ended by itself.
    explain
        Explains from the status log why nothing was recorded, or returns None.

    Raises
    ------
    NothingRecorded
        If the folder contains no recording.
    topoloom.Error
        If a file is damaged, or several programs were recorded.
    """
    log = read_status_log(Path(folder))
    files = {
        file: file.stem.rpartition("-")[2]
        # A complete recording replaces partial recordings of the same rank.
        for kind in ("partial", "recording")
        for file in sorted(Path(folder).glob(f"{kind}-*.topoloom"))
    }
    jobs = {*files.values(), *log.started}
    if len(jobs) > 1:
        if why := explain(log):
            raise Error(why)
        raise Error(
            f"the command ran {len(jobs)} MPI programs in sequence; record each "
            "separately"
        )
    if not files:
        full_disk = Path(folder) if is_disk_full(folder) else None
        why = explain(log) or explain_no_counts(log, exit_status, full_disk)
        if time_limit is not None:
            why = f"it was terminated after {time_limit:g} s; until then, {why}"
        raise NothingRecorded(
            f"nothing was recorded (exit status {exit_status}): {why}", exit_status
        )
    records = {record.rank: record for file in files for record in read_records(file)}
    profile = _make_profile(list(records.values()), exit_status)
    ends = describe_terminations(log, jobs.pop(), profile.missing)
    if time_limit is not None:
        described = {rank for ranks in ends.values() for rank in ranks}
        cut = [rank for rank in profile.partial if rank not in described]
        ends[f"cut short by the time limit of {time_limit:g} s"] = cut
    profile.ends.update({how: ranks for how, ranks in ends.items() if ranks})
    return profile


def _make_profile(records: list[RankRecord], exit_status: int) -> Profile:
    rank_count = records[0].rank_count
    if any(record.rank_count != rank_count for record in records):
        raise Error("the command ran several MPI programs; record each separately")
    members = {k: v for record in records for k, v in record.communicators.items()}
    numbers = {identity: number for number, identity in enumerate(sorted(members))}
    rows = np.concatenate([record.records for record in records])
    known = np.isin(rows[:, 2], list(numbers))
    if not np.all(known):
        raise Error("damaged recording: a collective has an unknown communicator")
    rows[:, 2] = [numbers[identity] for identity in rows[:, 2].tolist()]
    traffic = np.concatenate([_expand_counters(r, numbers) for r in records])
    return Profile(  # raises if a number is invalid
        rank_count=rank_count,
        traffic=traffic[np.lexsort(traffic.T[::-1])],
        records=rows[np.lexsort(rows.T[::-1])],
        communicators=[members[identity] for identity in sorted(members)],
        has_parallel_collectives=False,
        missing=sorted(set(range(rank_count)) - {record.rank for record in records}),
        partial=sorted(record.rank for record in records if not record.complete),
        lost=sum(record.lost for record in records),
        wall_seconds=max(record.seconds for record in records),
        run_seconds=_list_by_rank(rank_count, {r.rank: r.seconds for r in records}),
        mpi_seconds=_list_by_rank(rank_count, {r.rank: r.mpi_seconds for r in records}),
        exit_status=exit_status,
    )


def _list_by_rank(rank_count: int, values: dict[int, float]) -> NDArray[np.float64]:
    """Make an array of a value per rank; NaN for missing ranks."""
    found = np.full(rank_count, np.nan)
    found[list(values)] = list(values.values())
    return found


def _expand_counters(
    record: RankRecord, numbers: dict[int, int]
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Convert counters to rows of `Profile.traffic`.

    `numbers` are those of communicators by id; those of unknown members have -1.
    """
    phase, kind, communicator, peer, size, count = record.counters.T
    ids, where = np.unique(communicator, return_inverse=True)
    of_id = np.array([numbers.get(one, -1) for one in ids.tolist()], dtype=np.int64)
    here = np.full_like(peer, record.rank)
    got = kind == 3  # MPI_Get moves bytes from the peer to this rank.
    source, target = np.where(got, peer, here), np.where(got, here, peer)
    columns = (phase, kind, source, target, size, count, of_id[where])
    return np.stack(columns, axis=1)
