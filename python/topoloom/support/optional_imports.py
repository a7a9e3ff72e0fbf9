# SPDX-License-Identifier: BSD-3-Clause
"""Imports optional packages when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from topoloom._core import Error


def import_optional(module: str, purpose: str) -> Any:
    """Import a module of an optional package; errors say how to install the package."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Error(
            f"{purpose} requires {package}; install it with: pip install {package}"
        ) from None
