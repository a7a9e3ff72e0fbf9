# SPDX-License-Identifier: BSD-3-Clause
"""Temporary folder of the ranks' recordings, kept if processing them fails."""

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
    """Make a temporary hidden folder in `folder`, with `recorder` in its name.

    Raises `topoloom.Error` if the folder is not writable.
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
def keep_notes_on_error(
    folder: str | Path,
    notes: str = NOTES,
    reader: str = "in Python, topoloom.preload.record.read_recording reads that folder",
) -> Iterator[None]:
    """Rename the folder to a visible name if the block fails.

    `notes` is a glob pattern that matches the files; error messages end with `reader`,
    a hint how to read the files.

    Raises
    ------
    topoloom.Error
        The error of the block; the message contains the folder if it has files.
    """
    try:
        yield
    except Exception as error:
        if not any(Path(folder).glob(notes)):
            raise
        kept = Path(folder).with_name(Path(folder).name.lstrip("."))
        Path(folder).rename(kept)
        raise Error(
            f"{error}; the recordings of the ranks are in {kept}: {reader}"
        ) from error
