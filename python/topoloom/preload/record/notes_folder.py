# SPDX-License-Identifier: BSD-3-Clause
"""The folder of the ranks' notes, which is kept if they cannot be processed."""

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
    """Make a temporary hidden folder in another; its name contains `recorder`.

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
    """Keep the notes in a visible folder if the block fails.

    `notes` is a pattern of their names; errors name `reader` as what reads them.

    Raises
    ------
    topoloom.Error
        The error of the block, with the folder if there are notes.
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
