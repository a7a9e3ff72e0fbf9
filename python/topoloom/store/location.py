# SPDX-License-Identifier: BSD-3-Clause
"""Finds the directory of the run store."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from topoloom._core import Error

#: Environment variable with the directory of the store.
VARIABLE = "TOPOLOOM_STORE"


def find_store(named: str | Path | None = None) -> Path:
    """Return the directory of the run store, which need not exist.

    It is `named`, or ``$TOPOLOOM_STORE``, or ``topoloom/runs`` in ``$XDG_DATA_HOME``,
    or in ``~/.local/share``.

    Raises `topoloom.Error` if there is no home directory.
    """
    if chosen := named or os.environ.get(VARIABLE):
        return Path(chosen).absolute()
    data = os.environ.get("XDG_DATA_HOME", "")
    if Path(data).is_absolute():
        return Path(data) / "topoloom" / "runs"
    with contextlib.suppress(RuntimeError):
        home = Path.home()
        if home.is_absolute():
            return home / ".local" / "share" / "topoloom" / "runs"
    raise Error(f"there is no home directory for the run store; set {VARIABLE}")
