# SPDX-License-Identifier: BSD-3-Clause
"""Optional packages, imported by the functions that need them."""

from __future__ import annotations

import importlib
from typing import Any

from topoloom._core import Error


def import_optional(module: str, purpose: str) -> Any:
    """Import a module of another package; errors say how to install it."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Error(
            f"{purpose} needs {package}; install it with: pip install {package}"
        ) from None
