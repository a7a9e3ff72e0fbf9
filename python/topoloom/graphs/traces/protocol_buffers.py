# SPDX-License-Identifier: BSD-3-Clause
"""Reads fields of protocol buffers by number, without a schema."""

from __future__ import annotations

from collections.abc import Iterator

from topoloom.graphs.traces.trace_files import TruncatedFileError

#: The number of a field, and its value: an integer or bytes.
Field = tuple[int, int | bytes]

_CUT = "is truncated, or not a protocol buffer"


def parse_fields(data: bytes) -> Iterator[Field]:
    """Yield the fields of a message in file order."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = read_varint(data, at)
            yield number, value
            continue
        if kind == 2:
            size, at = read_varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise TruncatedFileError(_CUT)
        if at + size > len(data):
            raise TruncatedFileError(_CUT)
        part = data[at : at + size]
        yield number, part if kind == 2 else int.from_bytes(part, "little")
        at += size


def split_messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages in a stream, in which each is preceded by its size."""
    at = 0
    while at < len(data):
        size, at = read_varint(data, at)
        if at + size > len(data):
            raise TruncatedFileError(_CUT)
        yield data[at : at + size]
        at += size


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of seven bits per byte; return value and end position."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise TruncatedFileError(_CUT)
