# SPDX-License-Identifier: BSD-3-Clause
"""Pickles of graphs, machines, allocations, placements and results.

A pickle contains a type name, a form version, and the constructor's arguments.
Unpickling raises `topoloom.Error` for other form versions and unsupported machines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from topoloom import _core
from topoloom._core import Error

#: Version of the pickled arguments; increment it when any type's arguments change.
FORM = 1

_core_of: Any = _core  # The stub omits private names.
_MAKERS: dict[str, Callable[..., Any]] = {
    "CommGraph": _core.CommGraph.from_csr,
    "Machine": _core_of.Machine._restored,
    "Allocation": _core.Allocation,
    "Placement": _core_of.Placement._restored,
    "PlaceResult": _core_of.PlaceResult._restored,
}


def reduced(kind: str, *parts: Any) -> tuple[Any, ...]:
    """Return the value of ``__reduce__``; called by the core.

    Strings are interned, so that a pickle of many placements contains the machine text
    once.
    """
    shared = (sys.intern(part) if type(part) is str else part for part in parts)
    return restore, (kind, FORM, *shared)


def restore(kind: str, form: int, *parts: Any) -> Any:
    """Restore a pickled object.

    Raises `topoloom.Error` if another version of Topoloom wrote the pickle in a form
    that this version does not know.
    """
    if form != FORM or kind not in _MAKERS:
        raise Error(
            f"this pickle of a {kind} has form {form}, but this version of Topoloom "
            f"reads form {FORM}; write it again with this version, or use the files "
            "of save_graph, save_machine and save_placement"
        )
    return _MAKERS[kind](*parts)
