# SPDX-License-Identifier: BSD-3-Clause
"""The version of the installed package, read from its metadata."""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("topoloom")
