# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes whole files; a rename makes writes atomic."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from topoloom._core import Error
from topoloom.support.parameter_error import ParameterError
from topoloom.support.plain_text import cut_quotes

if TYPE_CHECKING:
    import tempfile

#: Maximum length of error messages, which can quote the file.
_MAX_CHARACTERS = 400
#: Messages are compared with the file up to here: a message can quote a long line.
_MAX_COMPARED_CHARACTERS = 4000
#: Bytes of a file that are searched for pieces that messages quote.
_MAX_COMPARED_BYTES = 16 << 20
#: Suffixes of files, which are mistaken as names of directories.
_FILE_SUFFIXES = (
    *(".json", ".npz", ".toml", ".txt", ".csv", ".xml", ".html"),
    *(".svg", ".png", ".pdf"),
)
#: Less free space counts as a full disk: small files are still written.
_MIN_FREE_BYTES = 64 * 1024
#: Limit on the size of a machine description.
MAX_BYTES = 256 * 1024 * 1024


@contextlib.contextmanager
def open_atomically(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` unless the block raises."""
    check_writable(path)
    target = Path(path)
    try:
        with (
            target.open("wb")
            if _is_device(target)
            else _open_temporary(target) as stream
        ):
            yield stream
    except OSError as error:
        error.filename = error.filename or str(target)
        raise


@contextlib.contextmanager
def _open_temporary(target: Path) -> Iterator[IO[bytes]]:
    import tempfile

    real = target.resolve()  # A symbolic link is kept; its target is replaced.
    try:
        handle, beside = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
    except OSError as error:
        error.filename = str(target)
        raise
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        Path(beside).chmod(0o666 & ~_get_umask())
        Path(beside).replace(real)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(beside).unlink()
        raise


def check_writable(path: str | Path) -> None:
    """Raise before any work if `open_atomically` could not write to the path."""
    target = _check_path(path)
    if not target.parent.is_dir():
        raise Error(f"{target}: there is no directory '{target.parent}'")
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    written = target if _is_device(target) else target.parent
    if not os.access(written, os.W_OK):
        reason = errno.EROFS if _is_read_only(written) else errno.EACCES
        raise OSError(reason, os.strerror(reason), str(target))


def check_page_name(path: str | Path) -> None:
    """Raise before any work if the path is no name for an HTML page."""
    target = _check_path(path)
    if target.suffix != ".html" and not _is_device(target):
        raise Error(f"{target}: pages are written as HTML; end the name with .html")
    check_writable(target)


def check_directory(path: str | Path) -> None:
    """Raise before any work if files cannot be written into this directory.

    The directory and its parents need not exist. Names such as ``x.json`` are refused.
    """
    target = _check_path(path)
    if target.exists() and not target.is_dir():
        raise Error(f"{target} is a file; name a directory for the results")
    if not target.exists() and target.suffix.lower() in _FILE_SUFFIXES:
        raise Error(f"{target} is a file name; name a directory for the results")
    existing = target.absolute()
    while not existing.exists():
        existing = existing.parent
    try:
        check_writable(existing / "result")
    except OSError as error:
        error.filename = str(target)
        raise


def is_disk_full(folder: str | Path) -> bool:
    """Return whether the disk of a folder has no space, or no room for more files."""
    disk = os.statvfs(folder)
    no_space = disk.f_bavail * disk.f_frsize < _MIN_FREE_BYTES
    return no_space or (disk.f_files > 0 and disk.f_favail == 0)


def _is_read_only(path: Path) -> bool:
    """Return whether the path is on a file system that is mounted read-only."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _check_path(path: str | Path) -> Path:
    if "\0" in str(path):
        raise Error(f"{str(path)!r} is not a file name")
    return Path(path)


def _is_device(path: Path) -> bool:
    """Return whether the path exists and is not a regular file, such as /dev/stdout."""
    stream = path.is_symlink() and path.absolute().parts[1] in ("dev", "proc")
    return path.exists() and (stream or not path.is_file())


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically, as UTF-8.

    Bytes of a command line that Python could not decode are decoded as UTF-8 here.
    """
    data = text.encode(errors="surrogateescape")
    if not text.isascii():
        data = data.decode(errors="replace").encode()
    with open_atomically(path) as stream:
        stream.write(data)


def open_regular(path: str | Path) -> IO[bytes]:
    """Open a file to read; refuse devices and pipes, which may never end.

    Raises `topoloom.Error` for them, and `OSError` for missing files and folders.
    """
    target = _check_path(path)
    # Opening a pipe would wait for a writer; opening a device can have effects.
    mode = target.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise Error(f"{path} is a device or a pipe; name a file")
    return target.open("rb")


def read_bytes(path: str | Path, limit: int | None = None) -> bytes:
    """Read a regular file; raise if it is larger than `limit` bytes."""
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if limit is not None and size > limit:
            raise Error(f"{path}: larger than the limit of {limit >> 20} MiB")
        return stream.read()


def read_text(path: str | Path, limit: int | None = None) -> str:
    """Read a text file; raise if it is binary or larger than `limit` bytes."""
    data = read_bytes(path, limit)
    try:
        text = data.decode("utf-8-sig")  # Windows editors write a byte-order mark
    except UnicodeDecodeError:
        raise Error(f"{path}: not a text file") from None
    if "\0" in text:
        raise Error(f"{path}: not a text file")
    return text


def exists(path: str | Path) -> bool:
    """Return whether a file exists; False for a name that is too long."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def prefix_errors(path: str | Path) -> Iterator[None]:
    """Prefix error messages with the path: ``line 7: x`` becomes ``path:7: x``.

    Pieces of the file in a message are cut: a file of another format can be secret.
    Errors of parameters keep their message, in which the command line names the option.
    """
    try:
        yield
    except ParameterError:
        raise
    except Error as error:
        text = str(error).removeprefix(f"{path}: ")[:_MAX_COMPARED_CHARACTERS]
        what = cut_quotes(text, _read_start(path))
        if len(what) > _MAX_CHARACTERS:
            what = what[: _MAX_CHARACTERS - 3] + "..."
        if what.startswith("line "):
            raise Error(f"{path}:{what.removeprefix('line ')}") from None
        raise Error(f"{path}: {what}") from None


def _read_start(path: str | Path) -> str:
    """Read the part of a file that messages are compared with; empty if not a file."""
    try:
        with open_regular(path) as stream:
            return stream.read(_MAX_COMPARED_BYTES).decode(errors="replace")
    except (Error, OSError, ValueError):
        return ""


def _get_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def make_shared_directory(name: str) -> tempfile.TemporaryDirectory[str]:
    """Make a temporary directory that all nodes see: in the working directory.

    If the working directory is not writable, use the system's temporary directory.

    Raises `topoloom.Error` if neither directory is writable.
    """
    try:
        return _make_directory(f".topoloom-{name}-", Path.cwd())
    except OSError as error:
        reason = error.strerror
    try:
        return make_local_directory(name)
    except OSError:
        raise Error(f"cannot write into the working directory: {reason}") from None


def make_local_directory(name: str) -> tempfile.TemporaryDirectory[str]:
    """Make a temporary directory on this host."""
    return _make_directory(f"topoloom-{name}-", None)


def _make_directory(prefix: str, home: Path | None) -> tempfile.TemporaryDirectory[str]:
    import tempfile

    # NFS does not delete open files; ignore this error.
    return tempfile.TemporaryDirectory(
        prefix=prefix, dir=home, ignore_cleanup_errors=True
    )
