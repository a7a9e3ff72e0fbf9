# SPDX-License-Identifier: BSD-3-Clause
"""Reads recording files; ``mpi/record/rank_block.c`` defines the format."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error

HEADER = b"topoloom-recording 3\n"
_HEADER_BYTES = 32
_RECORD_MAGIC = 0x746F706F6C6F6F6D
_RECORD_WORDS = 11
#: Forms of the members of a communicator; the third is a start and a stride.
_LISTED, _ELSEWHERE = 1, 2

Words = NDArray[np.int64]


class RankRecord(NamedTuple):
    """The counts of one rank; columns are in the order of the file format.

    `mpi_seconds` of the `seconds` were spent inside MPI calls.
    """

    rank: int
    rank_count: int
    complete: bool
    seconds: float
    mpi_seconds: float
    lost: int
    #: shape (n, 6): phase, kind, communicator id or 0, peer, bytes, messages
    counters: Words
    records: Words  # shape (n, 6): phase, operation, communicator, root, bytes, calls
    communicators: dict[int, Words]  # id -> world ranks, unless another rank has them


def read_records(path: Path) -> list[RankRecord]:
    """Read a file; skip the last record if it is truncated but others are complete.

    Raises `topoloom.Error` if the file is not a recording.
    """
    data = path.read_bytes()
    if len(data) < _HEADER_BYTES or not data.startswith(b"topoloom-recording "):
        raise Error(f"{path}: not a recording of Topoloom")
    if not data.startswith(HEADER):
        version = data[:_HEADER_BYTES].split()[1].rstrip(b"\0").decode(errors="replace")
        raise Error(
            f"{path}: recording version '{version}', but this topoloom reads version 3"
        )
    words = np.frombuffer(
        data[: len(data) // 8 * 8], dtype=np.int64, offset=_HEADER_BYTES
    )
    blocks: list[RankRecord] = []
    at = 0
    while at + _RECORD_WORDS <= len(words):
        if words[at] != _RECORD_MAGIC:
            order = "other byte order" if _is_byte_swapped(words[at]) else "damaged"
            raise Error(f"{path}: {order} at byte {_HEADER_BYTES + 8 * at}")
        length = int(words[at + 1])
        if length < _RECORD_WORDS or at + length > len(words):
            break
        try:
            blocks.append(_parse_record(words[at : at + length]))
        except (IndexError, KeyError, ValueError):
            raise Error(f"{path}: damaged at byte {_HEADER_BYTES + 8 * at}") from None
        at += length
    if not blocks:
        raise Error(f"{path}: the recording is truncated")
    return blocks


def _is_byte_swapped(word: np.int64) -> bool:
    return int(word.byteswap()) == _RECORD_MAGIC


def _parse_record(words: Words) -> RankRecord:
    _, _, rank, size, complete, run_ns, mpi_ns, lost, *counts = words[
        :_RECORD_WORDS
    ].tolist()
    if not 0 <= rank < size or min(counts) < 0:
        raise ValueError
    end_counters = _RECORD_WORDS + 6 * counts[0]
    end_records = end_counters + 6 * counts[1]
    counters = words[_RECORD_WORDS:end_counters].reshape(counts[0], 6).copy()
    records = words[end_counters:end_records].reshape(counts[1], 6)
    if np.any((counters[:, 3] < 0) | (counters[:, 3] >= size)):
        raise ValueError
    communicators: dict[int, Words] = {}
    ids = {0: 0}
    at = end_records
    for _ in range(counts[2]):
        number, identity, members, form = words[at : at + 4].tolist()
        at += 4
        ids[number] = identity
        if form == _ELSEWHERE:
            continue
        if form == _LISTED:
            ranks = words[at : at + members]
            at += members
        else:
            start, stride = words[at : at + 2].tolist()
            ranks = start + stride * np.arange(members, dtype=np.int64)
            at += 2
        if len(ranks) != members or np.any((ranks < 0) | (ranks >= size)):
            raise ValueError
        communicators[identity] = ranks
    numbers, where = np.unique(counters[:, 2], return_inverse=True)
    counters[:, 2] = np.array([ids[n] for n in numbers.tolist()], dtype=np.int64)[where]
    return RankRecord(
        rank,
        size,
        bool(complete),
        run_ns / 1e9,
        mpi_ns / 1e9,
        lost,
        counters,
        records,
        communicators,
    )
