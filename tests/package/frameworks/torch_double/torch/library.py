# SPDX-License-Identifier: BSD-3-Clause
"""Registration of kernels in the PyTorch stub."""

import torch


class Library:
    """The kernels registered for one namespace."""

    def __init__(self, name, kind):
        assert (name, kind) == ("c10d", "IMPL")

    def impl(self, operation, kernel, key, *, with_keyset):
        """Add a kernel."""
        assert key == "BackendSelect"
        assert with_keyset
        getattr(torch.ops.c10d, operation).default.kernel = kernel
