# SPDX-License-Identifier: BSD-3-Clause
"""Translates PyTorch's names of collectives and element types."""

from __future__ import annotations

from topoloom._core import Error

#: Operations by PyTorch's name for them, without underscores.
_OPERATIONS = {
    "allreduce": "allreduce",
    "allreducecoalesced": "allreduce",
    "allgather": "allgather",
    "allgatherbase": "allgather",
    "allgatherintotensorcoalesced": "allgather",
    "reducescatter": "reduce_scatter",
    "reducescatterbase": "reduce_scatter",
    "reducescattertensorcoalesced": "reduce_scatter",
    "alltoall": "alltoall",
    "alltoallbase": "alltoall",
    "alltoallv": "alltoall",
    "broadcast": "bcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "barrier": "barrier",
    "allreducebarrier": "barrier",
}

_BYTES = {
    **dict.fromkeys(("byte", "char", "bool", "uint8", "int8"), 1),
    **dict.fromkeys(("half", "bfloat16", "short", "float16", "int16", "uint16"), 2),
    **dict.fromkeys(("float", "int", "float32", "int32", "uint32"), 4),
    **dict.fromkeys(
        ("double", "long", "float64", "int64", "uint64", "complexfloat"), 8
    ),
    "complexdouble": 16,
}


def translate_operation(name: str) -> str | None:
    """Translate a collective's name, such as ``_allgather_base``; None if unknown."""
    return _OPERATIONS.get(name.lower().replace("_", ""))


def element_bytes(name: str) -> int:
    """Return the size in bytes of an element type such as ``BFloat16``."""
    word = name.lower()
    if word.startswith("float8"):
        return 1
    if word not in _BYTES:
        raise Error(f"has elements of unknown type '{name}'")
    return _BYTES[word]
