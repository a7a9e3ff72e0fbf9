# SPDX-License-Identifier: BSD-3-Clause
"""Checks of numbers from users."""

from __future__ import annotations

from topoloom._core import Error


def check_int64(what: str, number: int, least: int) -> None:
    """Refuse a number below `least`, or of more than 63 bits."""
    if number < least:
        raise Error(f"{what} must be {least} or more, not {number}")
    if number >= 2**63:
        raise Error(f"{what} must be below 2^63, not {number}")
