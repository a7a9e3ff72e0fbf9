# SPDX-License-Identifier: BSD-3-Clause
"""Files that ship with the package: zoo, models, MPI shims."""

from __future__ import annotations

from pathlib import Path

from topoloom import _core


def core_library() -> Path:
    """Return the path of libtopoloom, beside the compiled module."""
    assert _core.__file__ is not None
    return Path(_core.__file__).with_name("libtopoloom.so")


def need_core_library() -> Path:
    """Return libtopoloom, or raise `topoloom.Error` if it is not installed."""
    library = core_library()
    if not library.exists():
        raise _core.Error(f"this installation of topoloom lacks {library}")
    return library


def shipped(name: str) -> Path:
    """Find a directory such as ``machines`` or ``mpi/record``.

    It is in ``topoloom/data`` of wheels, and at the top of source trees.
    """
    package = Path(__file__).resolve().parents[1]
    for home in (package / "data", package.parents[1]):
        if (home / name).is_dir():
            return home / name
    raise FileNotFoundError(f"this installation of topoloom lacks '{name}'")
