# SPDX-License-Identifier: BSD-3-Clause
"""The version of the package, which the build reads from this file."""

from __future__ import annotations

__version__ = "0.1.0"
