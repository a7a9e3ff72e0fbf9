# SPDX-License-Identifier: BSD-3-Clause
"""Writes files that are complete or absent after a kill at any moment.

A file is written beside its target under a name that no other process uses, flushed to
the disk, and renamed. This is safe with many writers on NFS and Lustre, without locks.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Callable
from pathlib import Path

#: Prefix of files that are being written.
UNFINISHED = ".unfinished-"
#: Age in seconds from which an unfinished file is left over from a killed process.
_LEFT_OVER_SECONDS = 24 * 3600
_CHUNK_BYTES = 1 << 20


def make_folder(folder: Path, like: Path) -> None:
    """Create a folder and its parents up to `like`, with the permissions of `like`."""
    if folder.is_dir():
        return
    if folder != like:
        make_folder(folder.parent, like)
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        # The umask would take write access from the group that shares the store.
        folder.chmod(stat.S_IMODE(like.stat().st_mode))


def replace_file(target: Path, data: bytes) -> None:
    """Write a file; readers see its old contents, or all of the new ones."""
    beside = name_beside(target)
    try:
        with beside.open("xb") as stream:
            stream.write(data)
        finish_file(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def name_beside(target: Path) -> Path:
    """Return the name of an unfinished file, which no other process uses."""
    writer = f"{os.uname().nodename}-{os.getpid()}-{secrets.token_hex(4)}"
    return target.with_name(f"{UNFINISHED}{writer}{target.suffix}")


def finish_file(beside: Path, target: Path) -> None:
    """Flush an unfinished file to the disk, and give it its name.

    Who can read and write the folder can read and write the file, whatever the umask.
    """
    beside.chmod(target.parent.stat().st_mode & 0o666)
    _flush(beside)
    beside.replace(target)
    # Some network file systems refuse to flush folders.
    with contextlib.suppress(OSError):
        _flush(target.parent)


def add_by_content(folder: Path, suffix: str, write: Callable[[Path], object]) -> str:
    """Let `write` write a file, and name it by the hash of its contents.

    Returns the name: the SHA-256 in hexadecimal digits, and the suffix. The file is in
    a subfolder that has the first two digits as its name.
    """
    beside = name_beside(folder / f"x{suffix}")
    try:
        write(beside)
        name = f"{hash_file(beside)}{suffix}"
        target = folder / name[:2] / name
        make_folder(target.parent, folder)
        finish_file(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    return name


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file's contents in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def read_file(path: str | Path) -> bytes:
    """Read a file; for many small files, in a third of the time of `open`.

    Pipes and devices that somebody put into a shared store are empty, and do not block.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return b""
        size = status.st_size
        parts = []
        while part := os.read(handle, size + 1):
            parts.append(part)
    finally:
        os.close(handle)
    return b"".join(parts)


def remove_unfinished(folder: Path) -> int:
    """Remove the files that killed processes left unfinished; return their number."""
    removed = 0
    oldest = time.time() - _LEFT_OVER_SECONDS
    for path in folder.glob(f"*{UNFINISHED}*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
                removed += 1
    return removed


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
