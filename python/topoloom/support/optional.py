# SPDX-License-Identifier: BSD-3-Clause
"""Imports of optional packages."""

from __future__ import annotations

import importlib
from typing import Any

from topoloom._core import Error


def import_package(module: str, purpose: str) -> Any:
    """Import a module, or raise `topoloom.Error` with its `pip` command."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Error(
            f"{purpose} needs {package}; install it with: pip install {package}"
        ) from None
