# SPDX-License-Identifier: BSD-3-Clause
"""The version of the package; the build reads it from here."""

from __future__ import annotations

__version__ = "0.1.0"
