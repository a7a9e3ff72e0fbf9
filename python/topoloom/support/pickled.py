# SPDX-License-Identifier: BSD-3-Clause
"""What pickles of graphs, machines, allocations, placements and results hold.

A kind, the number of the form, and what the object is made from again. A pickle of
another form, or of a machine that this version can't make, is refused in one line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from topoloom import _core
from topoloom._core import Error

#: To be raised when the parts of any kind change.
FORM = 1

_core_of: Any = _core  # what begins with _ is not among its types
_MAKERS: dict[str, Callable[..., Any]] = {
    "CommGraph": _core.CommGraph.from_csr,
    "Machine": _core_of.Machine._restored,
    "Allocation": _core.Allocation,
    "Placement": _core_of.Placement._restored,
    "PlaceResult": _core_of.PlaceResult._restored,
}


def reduced(kind: str, *parts: Any) -> tuple[Any, ...]:
    """Answer ``__reduce__``; the core calls this.

    Equal texts are one object, so that pickles with many placements on a machine hold
    its text once.
    """
    shared = (sys.intern(part) if type(part) is str else part for part in parts)
    return restore, (kind, FORM, *shared)


def restore(kind: str, form: int, *parts: Any) -> Any:
    """Make the object that was pickled.

    Raises
    ------
    topoloom.Error
        If another version of Topoloom wrote it in a form that this one does not read.
    """
    if form != FORM or kind not in _MAKERS:
        raise Error(
            f"this pickle of a {kind} has form {form}, but this version of Topoloom "
            f"reads form {FORM}; write it again with this version, or use the files "
            "of save_graph, save_machine and save_placement"
        )
    return _MAKERS[kind](*parts)
