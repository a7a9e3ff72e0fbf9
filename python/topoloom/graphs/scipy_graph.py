# SPDX-License-Identifier: BSD-3-Clause
"""Converts communication graphs from and to sparse matrices of SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoloom._core import CommGraph, Error
from topoloom.support.optional_imports import import_optional


def from_scipy(matrix: Any, messages: Any = None) -> CommGraph:
    """Implement `CommGraph.from_scipy`."""
    bytes_ = _read_entries(matrix, "matrix")
    count = bytes_.shape[0]
    if messages is None:
        return CommGraph.from_edges(count, bytes_.row, bytes_.col, bytes_.data)
    counts = _read_entries(messages, "messages")
    if counts.shape != bytes_.shape:
        raise Error(
            f"messages has shape {counts.shape}, and the matrix {bytes_.shape}; "
            "give both the same"
        )
    nothing = np.zeros(len(counts.data), np.int64)
    CommGraph.from_edges(count, counts.row, counts.col, nothing, counts.data)  # checks
    return CommGraph.from_edges(
        count,
        np.append(bytes_.row, counts.row),
        np.append(bytes_.col, counts.col),
        np.append(bytes_.data, nothing.astype(bytes_.data.dtype)),
        np.append(np.zeros(len(bytes_.data), np.int64), counts.data.astype(np.int64)),
    )


def to_scipy(graph: CommGraph, values: str = "bytes") -> Any:
    """Implement `CommGraph.to_scipy`."""
    sparse = import_optional("scipy.sparse", "to_scipy()")
    if values not in ("bytes", "messages"):
        raise Error(f"values is {values!r}; it must be 'bytes' or 'messages'")
    data = np.array(getattr(graph, values))
    peer = graph.peer.astype(np.int64)
    first = graph.first.astype(np.int64)
    shape = (graph.rank_count, graph.rank_count)
    matrix = sparse.csr_array((data, peer, first), shape=shape)
    itself = np.flatnonzero((graph.self_bytes != 0) | (graph.self_messages != 0))
    if len(itself) == 0:
        return matrix
    ranks = np.repeat(np.arange(graph.rank_count), np.diff(first))
    own = getattr(graph, f"self_{values}")[itself]
    rows, columns = np.append(ranks, itself), np.append(peer, itself)
    # Entries are unique, so tocsr() has no duplicates to sum.
    joined = sparse.coo_array((np.append(data, own), (rows, columns)), shape=shape)
    return joined.tocsr()


def _read_entries(matrix: Any, name: str) -> Any:
    """Return the stored entries of a square matrix, including duplicates."""
    sparse = import_optional("scipy.sparse", "from_scipy()")
    if not sparse.issparse(matrix):
        raise TypeError(
            f"{name} must be a sparse array of scipy, not {type(matrix).__name__}; "
            "make one with scipy.sparse.csr_array(...)"
        )
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise Error(f"{name} has shape {matrix.shape}; give one that is square")
    if hasattr(matrix, "check_format"):  # on inconsistent matrices, SciPy would crash
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise Error(f"{name} is damaged: {error}") from None
    return matrix.tocoo(copy=False)
