# SPDX-License-Identifier: BSD-3-Clause
"""Adds kernels to operations."""

import torch


class Library:
    """Kernels for the operations of one namespace."""

    def __init__(self, name, kind):
        assert (name, kind) == ("c10d", "IMPL")

    def impl(self, operation, kernel, key, *, with_keyset):
        """Add a kernel."""
        assert key == "BackendSelect"
        assert with_keyset
        getattr(torch.ops.c10d, operation).default.kernel = kernel
