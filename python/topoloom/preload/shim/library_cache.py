# SPDX-License-Identifier: BSD-3-Clause
"""Finds a cache folder for libraries to preload that no other user can write to.

Who can replace a library to preload runs code in every rank. The cache is therefore
used only if each file and folder on its path belongs to the user or root, and nobody
else can write to it.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom._core import Error
from topoloom.support.files import make_shared_directory

if TYPE_CHECKING:
    import tempfile

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
#: Relative to the package; a centre can install compiled libraries there.
_PREBUILT = "libraries"
_log = logging.getLogger(__name__)


def find_cache() -> Path:
    """Return the folder of compiled libraries; create it with mode 0700.

    It is ``topoloom`` in ``$XDG_CACHE_HOME`` or ``~/.cache``. If other users can write
    to both, it is a temporary folder in the working directory.

    Raises `topoloom.Error` if the folder cannot be created or preloaded from, or if
    other users can write to all these folders.
    """
    reasons: list[str] = []
    for home in _list_cache_homes():
        folder = home / "topoloom"
        with explain_write_errors(folder):
            reason = find_foreign_access(folder)
            if reason is None:
                make_private_folders(folder)
                # In a sticky folder, another user can have been faster.
                reason = find_foreign_access(folder)
        if reason is None:
            _check_preloadable(folder)
            for each in reasons:
                _warn_once(f"{each}; libraries to preload are kept in {folder}")
            return folder
        reasons.append(f"the cache {folder} is not used: {reason}")
    return _use_temporary_folder(reasons)


def find_prebuilt(name: str) -> Path | None:
    """Return the library that a centre installed in the package, or None.

    Its owner may be the owner of the package, whose code the user runs anyway.
    """
    package = Path(__file__).resolve().parents[2]
    library = package / _PREBUILT / name
    try:
        owners = {0, os.geteuid(), package.stat().st_uid}
        for each in (library, library.parent, package / _PREBUILT):
            if _describe_foreign_access(each, each.lstat(), owners):
                return None
    except OSError:
        return None
    return library


def find_foreign_access(path: Path) -> str | None:
    """Describe the first part of the path that another user can write, or return None.

    The parents are checked up to the user's home, or to the root. Symbolic links are
    checked like their targets. Missing and unreadable parts are ignored.
    """
    owners = {0, os.geteuid()}
    home = _find_home()
    ends = {home, home.resolve()} if home else set()
    pending, checked = [path], set[Path]()
    while pending:
        current = pending.pop()
        for each in (current, *current.parents):
            if each in checked:
                break
            checked.add(each)
            with contextlib.suppress(OSError):
                status = each.lstat()
                if reason := _describe_foreign_access(each, status, owners):
                    return reason
                if stat.S_ISLNK(status.st_mode):
                    pending.append(each.parent / each.readlink())
            if each in ends:
                break
    return None


def make_private_folders(folder: Path) -> None:
    """Create the folder and its missing parents with mode 0700, whatever the umask."""
    if not folder.parent.is_dir():
        make_private_folders(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)


def is_private(path: Path) -> bool:
    """Return whether the path exists and only the user or root can write to it."""
    try:
        return not _describe_foreign_access(path, path.lstat(), {0, os.geteuid()})
    except OSError:
        return False


@contextlib.contextmanager
def explain_write_errors(folder: Path) -> Iterator[None]:
    """Raise errors of the operating system as errors of the cache folder."""
    try:
        yield
    except OSError as error:
        raise Error(
            f"cannot write into {folder}: {error.strerror}; set XDG_CACHE_HOME to "
            "another folder"
        ) from None


def _list_cache_homes() -> list[Path]:
    homes = []
    if named := os.environ.get("XDG_CACHE_HOME"):
        if Path(named).is_absolute():
            homes.append(Path(named))
        else:  # as the XDG Base Directory Specification demands
            _warn_once(f"XDG_CACHE_HOME={named} is ignored: it is not an absolute path")
    if home := _find_home():
        homes.append(home / ".cache")
    return homes


def _find_home() -> Path | None:
    """Return the user's home; None if neither HOME nor the system tells it."""
    with contextlib.suppress(RuntimeError):
        home = Path.home()
        return home if home.is_absolute() else None
    return None


def _describe_foreign_access(
    path: Path, status: os.stat_result, owners: set[int]
) -> str | None:
    if status.st_uid not in owners:
        return f"{path} belongs to another user (uid {status.st_uid})"
    mode = status.st_mode
    # Only its owner can rename or delete a file in a sticky folder, such as /tmp.
    is_protected = stat.S_ISLNK(mode) or (stat.S_ISDIR(mode) and mode & stat.S_ISVTX)
    if mode & _OTHERS_WRITE and not is_protected:
        return f"other users can write to {path} (chmod go-w prevents it)"
    return None


def _check_preloadable(folder: Path) -> None:
    if re.search(r"[\s:]", str(folder)):
        raise Error(
            f"the cache '{folder}' contains a space or a colon, which LD_PRELOAD does "
            "not support; set XDG_CACHE_HOME to another folder"
        )


def _use_temporary_folder(reasons: list[str]) -> Path:
    folder = Path(_make_temporary_folder().name)
    _check_preloadable(folder)
    if reason := find_foreign_access(folder):
        reasons.append(f"{folder.parent} is not used: {reason}")
        raise Error(
            f"{'; '.join(reasons)}; set XDG_CACHE_HOME to a folder that only you can "
            "write to"
        )
    for each in reasons:
        _warn_once(f"{each}; libraries to preload are compiled for this run only")
    return folder


@functools.cache  # keeps the folder until the process ends
def _make_temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return make_shared_directory("libraries")


@functools.cache
def _warn_once(text: str) -> None:
    _log.warning("topoloom: %s", text)
