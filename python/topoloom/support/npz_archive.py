# SPDX-License-Identifier: BSD-3-Clause
"""Opens archives of NumPy arrays whose sizes fit the size of the file.

NumPy allocates what the header of an array states before it reads the array, and zeros
can be compressed a thousandfold: without limits, a file of 1 KiB fills memory.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import IO, Any

import numpy as np

from topoloom._core import Error
from topoloom.support.files import open_regular

_MAX_MEMBERS = 1000
#: Limit on uncompressed bytes: a constant, plus a ratio that few graphs reach.
_MIN_LIMIT, _MAX_RATIO = 16 << 20, 16


def open_archive(path: str | Path, stream: IO[bytes] | None = None) -> Any:
    """Return the `NpzFile`, or the array, of a file; pickled objects are refused.

    Raises `topoloom.Error` for devices and pipes, and for archives that state more data
    than they can contain; for damaged files, the exceptions of `numpy.load`.

    Parameters
    ----------
    path
        Name of the file, for messages.
    stream
        Content of the file; by default, the file is opened.
    """
    stream = open_regular(path) if stream is None else stream
    try:
        found: Any = np.load(stream, allow_pickle=False)
        if isinstance(found, np.ndarray):
            stream.close()
            return found
        _check_members(path, found.zip, stream.seek(0, 2))
    except BaseException:
        stream.close()
        raise
    found.fid = stream  # NumPy closes only the files that it opens itself
    return found


def _check_members(path: str | Path, archive: Any, size: int) -> None:
    members = archive.infolist()
    if len(members) > _MAX_MEMBERS:
        raise Error(f"{path}: more than {_MAX_MEMBERS} arrays")
    total = sum(member.file_size for member in members)
    if total > _MIN_LIMIT + _MAX_RATIO * size:
        raise Error(
            f"{path}: {size} bytes that state {total} bytes of arrays; save them "
            "uncompressed"
        )
    for member in members:
        with archive.open(member) as stream:
            stated = _read_stated_bytes(stream)
        if stated > member.file_size:
            raise Error(
                f"{path}: array '{member.filename}' states {stated} bytes, but has "
                f"{member.file_size}"
            )


def _read_stated_bytes(stream: IO[bytes]) -> int:
    """Return the bytes that the header of an array states; 0 if it is no array."""
    form: Any = np.lib.format
    try:
        version = form.read_magic(stream)
    except ValueError:
        return 0
    if version not in ((1, 0), (2, 0)):
        raise ValueError("unknown version of the format of arrays")
    is_old = version == (1, 0)
    read = form.read_array_header_1_0 if is_old else form.read_array_header_2_0
    shape, _, dtype = read(stream)
    return int(math.prod(shape) * dtype.itemsize)
