# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the notes of ranks on disk where turning them into a graph fails."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from topoloom._core import Error

NOTES = "*.topoloom"


@contextlib.contextmanager
def keeping(
    folder: str | Path,
    notes: str = NOTES,
    reader: str = "in Python, topoloom.preload.record.read_recording reads that folder",
) -> Iterator[None]:
    """Give the folder of the notes a name that can be seen, if the block fails.

    `notes` is what their names look like, `reader` what reads them.

    Raises
    ------
    topoloom.Error
        What failed, and where the notes are. Where there are none, what failed.
    """
    try:
        yield
    except Exception as error:
        if not any(Path(folder).glob(notes)):
            raise
        kept = Path(folder).with_name(Path(folder).name.lstrip("."))
        Path(folder).rename(kept)
        raise Error(
            f"{error}; what the ranks counted is kept in {kept}: {reader}"
        ) from error
