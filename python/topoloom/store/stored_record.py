# SPDX-License-Identifier: BSD-3-Clause
"""Parses records of runs; others can have written them, or damaged them.

Values of known keys have the types of `topoloom.documents.runs`, and numbers are
finite. Keys of later versions are kept.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

Record = dict[str, Any]

_NOTHING = type(None)
_TEXTS = (
    *("kind", "user", "host", "job", "partition", "directory", "program", "key"),
    *("threads", "launcher", "machine", "hosts", "mapper", "objective", "note"),
    *("recording", "placed_by", "placement", "trial", "variant", "study", "cell"),
)
#: Types of the value of a key, if the record has it.
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("id", "state"), (str,)),
    **dict.fromkeys(_TEXTS, (str, _NOTHING)),
    **dict.fromkeys(("ranks", "ranks_per_node", "exit_status"), (int, _NOTHING)),
    **dict.fromkeys(("wall_seconds", "drift"), (int, float, _NOTHING)),
    "nodes": (int,),
    "started": (int, float),
    "verified": (bool, _NOTHING),
    "command": (list,),
    "mpi_time": (dict, _NOTHING),
    "predicted": (dict, _NOTHING),
}
_MPI_TIMES = ("run", "min", "mean", "max", "share_at_most")
#: Numbers beyond this are damage; `time.localtime` refuses larger times.
_MAX_NUMBER, _MAX_TIME = 1e300, 1e11


def parse_record(text: bytes) -> Any:
    """Parse the JSON of one or more records; None if it is damaged."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def is_record(record: Any) -> bool:
    """Return whether a value is the record of a run."""
    if type(record) is not dict or not {"id", "state"} <= record.keys():
        return False
    for key, value in record.items():
        kind, known = type(value), _TYPES.get(key)
        if known is not None and kind not in known:
            return False
        if kind in (int, float) and not _is_number(value):
            return False
    times, pairs = record.get("mpi_time"), record.get("predicted")
    return (
        abs(record.get("started", 0)) < _MAX_TIME
        and all(type(word) is str for word in record.get("command", ()))
        and (not times or all(_is_number(times.get(name)) for name in _MPI_TIMES))
        and (not pairs or all(map(_is_pair, pairs.values())))
    )


def _is_pair(value: Any) -> bool:
    return type(value) is list and len(value) == 2 and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and -_MAX_NUMBER < value < _MAX_NUMBER


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
