# SPDX-License-Identifier: BSD-3-Clause
"""Files that ship with the package: machines, models, sources of MPI libraries."""

from __future__ import annotations

from pathlib import Path

from topoloom import _core


def get_core_library_path() -> Path:
    """Return the path of libtopoloom, next to the compiled module."""
    assert _core.__file__ is not None
    return Path(_core.__file__).with_name("libtopoloom.so")


def require_core_library() -> Path:
    """Return the path of libtopoloom; raise if it is missing.

    Raises `topoloom.Error` if the installation has no libtopoloom.
    """
    library = get_core_library_path()
    if not library.exists():
        raise _core.Error(f"this installation of topoloom lacks {library}")
    return library


def find_shipped_folder(name: str) -> Path:
    """Find a shipped directory such as ``machines`` or ``mpi/record``.

    Wheels have these directories in ``topoloom/data``; source trees and editable
    installations have them in the top folder of the repository.
    """
    package = Path(__file__).resolve().parents[1]
    for home in (package / "data", package.parents[1]):
        if (home / name).is_dir():
            return home / name
    raise FileNotFoundError(f"this installation of topoloom lacks '{name}'")
