# SPDX-License-Identifier: BSD-3-Clause
"""Pickles of graphs, machines, allocations, placements and results.

They have a kind, a version, and arguments of a constructor. Pickles of other versions,
and of unknown machines, are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from topoloom import _core
from topoloom._core import Error

#: The version; increase it if the arguments of any kind change.
FORM = 1

_core_of: Any = _core  # the stub lacks names with _
_MAKERS: dict[str, Callable[..., Any]] = {
    "CommGraph": _core.CommGraph.from_csr,
    "Machine": _core_of.Machine._restored,
    "Allocation": _core.Allocation,
    "Placement": _core_of.Placement._restored,
    "PlaceResult": _core_of.PlaceResult._restored,
}


def reduced(kind: str, *parts: Any) -> tuple[Any, ...]:
    """Implement ``__reduce__``; the core calls this.

    Interned strings let pickles of many placements store a machine's text once.
    """
    shared = (sys.intern(part) if type(part) is str else part for part in parts)
    return restore, (kind, FORM, *shared)


def restore(kind: str, form: int, *parts: Any) -> Any:
    """Make the object of a pickle; raises `topoloom.Error` for another version."""
    if form != FORM or kind not in _MAKERS:
        raise Error(
            f"this pickle of a {kind} has form {form}, but this version of Topoloom "
            f"reads form {FORM}; write it again with this version, or use the files "
            "of save_graph, save_machine and save_placement"
        )
    return _MAKERS[kind](*parts)
