# SPDX-License-Identifier: BSD-3-Clause
"""Packages that only some functions need, imported when one is called."""

from __future__ import annotations

import importlib
from typing import Any

from topoloom._core import Error


def needed(module: str, purpose: str) -> Any:
    """Import a module of another package, or say how to get it."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Error(
            f"{purpose} needs {package}; install it with: pip install {package}"
        ) from None
