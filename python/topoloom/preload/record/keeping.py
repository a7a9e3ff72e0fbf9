# SPDX-License-Identifier: BSD-3-Clause
"""Where ranks leave notes, which stay where turning them into a graph fails."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from topoloom._core import Error

NOTES = "*.topoloom"


@contextlib.contextmanager
def notes_folder(folder: str | Path, recorder: str) -> Iterator[str]:
    """Make a hidden folder within another for the block; `recorder` is in its name.

    Raises
    ------
    topoloom.Error
        If nothing can be written there.
    """
    try:
        home = Path(folder).absolute()
        notes = tempfile.mkdtemp(prefix=f".topoloom-{recorder}-", dir=home)
    except OSError as error:
        raise Error(f"cannot write into '{folder}': {error.strerror}") from None
    try:
        yield notes
    finally:
        shutil.rmtree(notes, ignore_errors=True)


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
