# SPDX-License-Identifier: BSD-3-Clause
"""Reads the files of a trace, one per rank."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.support import json_values
from topoloom.support.files import prefix_errors, read_bytes

#: Limit on uncompressed bytes: a constant, plus a ratio that few traces reach.
_MIN_LIMIT, _MAX_RATIO = 32 << 20, 32


class TruncatedFileError(Error):
    """Raised for a truncated or damaged file; files of other ranks are usable."""


@contextmanager
def collect_losses(file: Path, losses: list[str]) -> Iterator[None]:
    """Catch a `TruncatedFileError` within the context, and add it to `losses`."""
    try:
        yield
    except TruncatedFileError as error:
        losses.append(f"{file}: {error}")


def read_content(path: Path) -> bytes:
    """Read a file, which may be compressed by gzip."""
    data = read_bytes(path)
    if data[:2] != b"\x1f\x8b":
        return data
    most = _MIN_LIMIT + _MAX_RATIO * len(data)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            content = stream.read(most + 1)
    except (OSError, EOFError, zlib.error):
        raise TruncatedFileError(
            "is truncated or damaged: gzip cannot read it"
        ) from None
    if len(content) > most:
        raise Error(f"is over {_MAX_RATIO} times larger uncompressed; uncompress it")
    return content


def parse_json(data: bytes) -> Any:
    """Parse JSON; raise `TruncatedFileError`, with the line number, on an error."""
    try:
        return json_values.parse_json(data)
    except Error as error:
        what = str(error).replace("not JSON: ", "")
    raise TruncatedFileError(
        f"is not complete JSON ({what}); probably the file is truncated"
    )


def read_rank_files(
    files: Sequence[Path], parse: Callable[[bytes], tuple[dict[str, Any], Any]]
) -> tuple[dict[int, tuple[Path, dict[str, Any]]], list[str]]:
    """Read one file per rank; return contents by rank, and descriptions of lost data.

    `parse` returns the content and the rank of a file. If it returns None as the rank,
    the rank is taken from the file name.
    """
    found: dict[int, tuple[Path, dict[str, Any]]] = {}
    losses: list[str] = []
    for file in files:
        with prefix_errors(file), collect_losses(file, losses):
            content, rank = parse(read_content(file))
            rank = find_rank(file) if rank is None else rank
            if type(rank) is not int:
                raise Error(
                    "has no rank in its file name; end the name with the rank, such as "
                    "_rank_3"
                )
            if rank in found:
                raise Error(f"is of rank {rank} like {found[rank][0]}")
            found[rank] = (file, content)
    if not found:
        raise Error(losses[0])
    return found, losses


def find_rank(path: Path) -> int | None:
    """Return the last number in a file name without its suffixes."""
    numbers = re.findall("[0-9]{1,9}", path.name.partition(".json")[0])
    return int(numbers[-1]) if numbers else None


def parse_ranks(value: Any) -> list[int] | None:
    """Parse a list of ranks, or a text such as ``[0, 2]``; None for other values."""
    if isinstance(value, str):
        if not re.fullmatch(
            r"\s*\[?\s*[0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*\s*\]?\s*", value
        ):
            return None
        return [int(one) for one in re.findall("[0-9]+", value)]
    if isinstance(value, list) and all(type(one) is int for one in value) and value:
        return value
    return None
