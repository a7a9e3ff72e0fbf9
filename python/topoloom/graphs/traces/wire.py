# SPDX-License-Identifier: BSD-3-Clause
"""The wire format of protocol buffers: fields by number, without a schema."""

from __future__ import annotations

from collections.abc import Iterator

from topoloom.graphs.traces.files import TruncatedFileError

#: A field's number, and its integer or its bytes.
Field = tuple[int, int | bytes]

_CUT = "is cut short, or not a protocol buffer"


def fields(data: bytes) -> Iterator[Field]:
    """Yield the fields of a message in their order."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
            yield number, value
            continue
        if kind == 2:
            size, at = varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise TruncatedFileError(_CUT)
        if at + size > len(data):
            raise TruncatedFileError(_CUT)
        part = data[at : at + size]
        yield number, part if kind == 2 else int.from_bytes(part, "little")
        at += size


def delimited(data: bytes) -> Iterator[bytes]:
    """Yield messages that stand one after the other, each behind its size."""
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        if at + size > len(data):
            raise TruncatedFileError(_CUT)
        yield data[at : at + size]
        at += size


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of seven bits per byte; return it, and where it ends."""
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
