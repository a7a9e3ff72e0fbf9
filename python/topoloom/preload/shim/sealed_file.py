# SPDX-License-Identifier: BSD-3-Clause
"""Seals a compiled file with a checksum, which detects damaged files.

The checksum follows the ELF file: the loader ignores what no header refers to, and one
file is replaced atomically where two are not.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_MARK = b"topoloom-blake2b"
_DIGEST_BYTES = 16


def seal_file(path: Path) -> None:
    """Append the checksum, set mode 0700 and flush the file to its disk."""
    with path.open("r+b") as file:
        file.write(_make_seal(file.read()))
        file.flush()
        os.fchmod(file.fileno(), 0o700)
        os.fsync(file.fileno())


def is_sealed(path: Path) -> bool:
    """Return whether the file ends with the checksum of what precedes it."""
    try:
        data = path.read_bytes()
    except OSError:
        return False
    size = len(data) - len(_MARK) - _DIGEST_BYTES
    return size > 0 and data[size:] == _make_seal(data[:size])


def sync_folder(folder: Path) -> None:
    """Flush renamed entries of the folder to its disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _make_seal(data: bytes) -> bytes:
    return _MARK + hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
