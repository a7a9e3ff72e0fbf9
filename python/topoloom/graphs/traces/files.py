# SPDX-License-Identifier: BSD-3-Clause
"""Files of a trace: their content, and the rank that is in a name."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from topoloom._core import Error


class TruncatedFileError(Error):
    """A file ends too early, or is damaged; the files of other ranks can be used."""


@contextmanager
def collect_losses(file: Path, losses: list[str]) -> Iterator[None]:
    """Note that a file is cut short, and go on behind the block."""
    try:
        yield
    except TruncatedFileError as error:
        losses.append(f"{file}: {error}")


def content(path: Path) -> bytes:
    """Read a file, which may be compressed by gzip."""
    data = path.read_bytes()
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        raise TruncatedFileError(
            "is cut short, or damaged: gzip cannot read it"
        ) from None


def as_json(data: bytes) -> Any:
    """Read JSON.

    Raises
    ------
    TruncatedFileError
        With the line where it ends or breaks.
    """
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        what = f"line {error.lineno}: {error.msg}"
    except (UnicodeDecodeError, RecursionError) as error:
        what = type(error).__name__
    raise TruncatedFileError(f"is not complete JSON ({what}); is it cut short?")


def rank_in_name(path: Path) -> int | None:
    """Return the last number of a file's name, without its endings."""
    numbers = re.findall("[0-9]{1,9}", path.name.partition(".json")[0])
    return int(numbers[-1]) if numbers else None


def rank_list(value: Any) -> list[int] | None:
    """Read ``[0, 2]``, a list or its text; None for anything else, such as ``...``."""
    if isinstance(value, str):
        if not re.fullmatch(r"\s*\[?\s*[0-9]+(?:\s*,\s*[0-9]+)*\s*\]?\s*", value):
            return None
        return [int(one) for one in re.findall("[0-9]+", value)]
    if isinstance(value, list) and all(type(one) is int for one in value) and value:
        return value
    return None
