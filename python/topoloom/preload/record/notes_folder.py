# SPDX-License-Identifier: BSD-3-Clause
"""Temporary folder of the ranks' recordings, kept if processing them fails."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from topoloom._core import Error

NOTES = "*.topoloom"
#: This file in a folder is locked while the recording process lives.
_LOCK = "lock"


@contextlib.contextmanager
def notes_folder(folder: str | Path, recorder: str) -> Iterator[str]:
    """Make a temporary hidden folder in `folder`, with `recorder` in its name.

    If this process is killed, `find_leftovers` finds the folder.

    Raises `topoloom.Error` if the folder is not writable.
    """
    try:
        home = Path(folder).absolute()
        notes = tempfile.mkdtemp(prefix=f".topoloom-{recorder}-", dir=home)
    except OSError as error:
        raise Error(f"cannot write into '{folder}': {error.strerror}") from None
    try:
        with _lock_folder(Path(notes)):
            yield notes
    finally:
        shutil.rmtree(notes, ignore_errors=True)


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder; not on file systems without locks, whose leftovers stay unseen."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock = stack.enter_context((folder / _LOCK).open("wb"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def is_in_use(folder: Path) -> bool:
    """Return whether a process of Topoloom, on any host, still uses a folder."""
    try:
        with (folder / _LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def find_leftovers(folder: str | Path) -> list[Path]:
    """List the folders of recordings whose process was killed."""
    found = Path(folder).glob(".topoloom-*-*")
    return sorted(each for each in found if _has_lock(each) and not is_in_use(each))


def _has_lock(folder: Path) -> bool:
    with contextlib.suppress(OSError):  # The folder may be another user's.
        return (folder / _LOCK).exists()
    return False


@contextlib.contextmanager
def keep_notes_on_error(folder: str | Path, notes: str = NOTES) -> Iterator[None]:
    """Rename the folder to a visible name if the block fails.

    `notes` is a glob pattern that matches the files.

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
            f"{error}; the recordings of the ranks are in {kept}: "
            "topoloom record --recover reads that folder"
        ) from error
