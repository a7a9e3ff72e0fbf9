# SPDX-License-Identifier: BSD-3-Clause
"""Routes as a SciPy sparse matrix."""

from __future__ import annotations

from typing import Any

from topoloom.support.optional_imports import import_optional


def build_sparse_matrix(
    pairs: int, links: int, first: Any, link: Any, share: Any
) -> Any:
    """Build a CSR matrix of link shares; `Machine.route_matrix` calls this."""
    sparse = import_optional("scipy.sparse", "route_matrix()")
    small = len(link) < 1 << 31 and links < 1 << 31
    index = "int32" if small else "int64"
    columns, starts = link.astype(index), first.astype(index)
    return sparse.csr_array((share, columns, starts), shape=(pairs, links))
