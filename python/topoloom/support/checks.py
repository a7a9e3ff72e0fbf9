# SPDX-License-Identifier: BSD-3-Clause
"""Range checks of integers."""

from __future__ import annotations

from topoloom._core import Error


def check_int64(what: str, number: int, least: int) -> None:
    """Raise `topoloom.Error` unless ``least <= number < 2**63``."""
    if number < least:
        raise Error(f"{what} must be {least} or more, not {number}")
    if number >= 2**63:
        raise Error(f"{what} must be below 2^63, not {number}")
