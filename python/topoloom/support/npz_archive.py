# SPDX-License-Identifier: BSD-3-Clause
"""Opens archives of NumPy arrays whose sizes fit the size of the file.

NumPy allocates what the header of an array states before it reads the array, and zeros
can be compressed a thousandfold: without limits, a file of 1 KiB fills memory.
"""

from __future__ import annotations

import errno
import math
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.support.files import open_regular

_MAX_MEMBERS = 1000
_ARRAY_MAGIC = b"\x93NUMPY"
#: Limit on uncompressed bytes: a constant, plus a ratio that few graphs reach.
_MIN_LIMIT, _MAX_RATIO = 16 << 20, 16


class Archive(Mapping[str, NDArray[Any]]):
    """The arrays of a file; each is checked and read when it is used."""

    def __init__(self, path: str | Path, stream: IO[bytes], arrays: Any) -> None:
        self._path, self._stream, self._arrays = path, stream, arrays
        self._size = stream.seek(0, os.SEEK_END)
        self._left = _MIN_LIMIT + _MAX_RATIO * self._size

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._arrays.close()
        self._stream.close()  # NumPy closes only the files that it opens itself

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays.files)

    def __len__(self) -> int:
        return len(self._arrays.files)

    def __contains__(self, name: object) -> bool:
        return name in self._arrays.files

    def __getitem__(self, name: str) -> NDArray[Any]:
        try:
            return self._read_array(name)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            raise zipfile.BadZipFile("an offset is negative") from None
        except (RuntimeError, OverflowError) as error:  # encrypted, or damaged
            raise zipfile.BadZipFile(str(error)) from None

    def _read_array(self, name: str) -> NDArray[Any]:
        archive = self._arrays.zip
        member = archive.getinfo(name if name in archive.NameToInfo else f"{name}.npy")
        self._left -= member.file_size
        if self._left < 0:
            raise Error(
                f"{self._path}: {self._size} bytes that state {member.file_size} bytes "
                "of arrays; save them uncompressed"
            )
        with archive.open(member) as stream:
            what = f"{self._path}: array '{member.filename}'"
            _check_stated_bytes(what, stream, member.file_size)
        return np.asarray(self._arrays[name])


def open_archive(path: str | Path, stream: IO[bytes] | None = None) -> Any:
    """Return an `Archive`, or the single array of a file; refuse pickled objects.

    Raises `topoloom.Error` for devices and pipes, and for arrays that state more data
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
        if stream.read(len(_ARRAY_MAGIC)) == _ARRAY_MAGIC:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            _check_stated_bytes(path, stream, size)
        stream.seek(0)
        found: Any = np.load(stream, allow_pickle=False)
        if isinstance(found, np.ndarray):
            stream.close()
            return found
        if len(found.files) > _MAX_MEMBERS:
            raise Error(f"{path}: more than {_MAX_MEMBERS} arrays")
        return Archive(path, stream, found)
    except BaseException:
        stream.close()
        raise


def _check_stated_bytes(what: str | Path, stream: IO[bytes], size: int) -> None:
    stated = _read_stated_bytes(stream)
    if stated > size:
        raise Error(f"{what} states {stated} bytes, but has {size}")


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
