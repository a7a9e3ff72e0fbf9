# SPDX-License-Identifier: BSD-3-Clause
"""Reads recording files; ``mpi/record/rank_block.c`` defines the format."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error

HEADER = b"topoloom-recording 2\n"
_HEADER_BYTES = 32
_RECORD_MAGIC = 0x746F706F6C6F6F6D
_RECORD_WORDS = 11

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
    counters: Words  # shape (n, 5): phase, kind, peer, bytes, messages
    records: Words  # shape (n, 6): phase, operation, communicator, root, bytes, calls
    communicators: dict[int, Words]  # id -> world ranks


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
            f"{path}: recording version '{version}', but this topoloom reads version 2"
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
        except (IndexError, ValueError):
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
    end_counters = _RECORD_WORDS + 5 * counts[0]
    end_records = end_counters + 6 * counts[1]
    counters = words[_RECORD_WORDS:end_counters].reshape(counts[0], 5)
    records = words[end_counters:end_records].reshape(counts[1], 6)
    if np.any((counters[:, 2] < 0) | (counters[:, 2] >= size)):
        raise ValueError
    communicators = {}
    at = end_records
    for _ in range(counts[2]):
        identity, members, listed = words[at : at + 3].tolist()
        at += 3
        if listed:
            ranks = words[at : at + members]
            at += members
        else:
            start, stride = words[at : at + 2].tolist()
            ranks = start + stride * np.arange(members, dtype=np.int64)
            at += 2
        if len(ranks) != members or np.any((ranks < 0) | (ranks >= size)):
            raise ValueError
        communicators[identity] = ranks
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
