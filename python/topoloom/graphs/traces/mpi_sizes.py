# SPDX-License-Identifier: BSD-3-Clause
"""Counts MPI collectives of one rank, given the bytes that its calls name."""

from __future__ import annotations

from collections.abc import Sequence

from topoloom.graphs.traces.trace import Trace

#: Bytes of MPI's datatypes of C and Fortran, on systems with 64-bit pointers.
_NAMES = {
    1: (
        "BYTE CHAR SIGNED_CHAR UNSIGNED_CHAR PACKED CHARACTER INT8_T UINT8_T "
        "C_BOOL INTEGER1"
    ),
    2: ("SHORT UNSIGNED_SHORT INT16_T UINT16_T INTEGER2"),
    4: (
        "INT UNSIGNED FLOAT INT32_T UINT32_T INTEGER REAL LOGICAL INTEGER4 REAL4 WCHAR"
    ),
    8: (
        "DOUBLE LONG UNSIGNED_LONG LONG_LONG AINT LONG_LONG_INT "
        "UNSIGNED_LONG_LONG INT64_T UINT64_T DOUBLE_PRECISION INTEGER8 REAL8 "
        "2INT FLOAT_INT COMPLEX C_COMPLEX OFFSET COUNT"
    ),
    16: ("LONG_DOUBLE DOUBLE_COMPLEX C_DOUBLE_COMPLEX 2DOUBLE_PRECISION"),
}
#: Name -> bytes.
DATATYPE_BYTES = {
    f"MPI_{name}": size for size, names in _NAMES.items() for name in names.split()
}


def count_gathered_parts(
    trace: Trace, rank: int, members: Sequence[int], root: int, sent: int
) -> None:
    """Count what a rank sends in a gatherv, directly to the root."""
    trace.add_uneven_group(members)
    if rank != root and sent:
        trace.send(rank, root, sent, kind="direct")


def count_scattered_parts(
    trace: Trace, rank: int, members: Sequence[int], root: int, received: int
) -> None:
    """Count what a rank receives in a scatterv, directly from the root."""
    trace.add_uneven_group(members)
    if rank != root and received:
        trace.send(root, rank, received, kind="direct")
