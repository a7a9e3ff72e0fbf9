# SPDX-License-Identifier: BSD-3-Clause
"""Range checks of integers."""

from __future__ import annotations

from topoloom._core import Error


def check_int64(name: str, number: int, minimum: int) -> None:
    """Raise `topoloom.Error` unless ``minimum <= number < 2**63``."""
    if number < minimum:
        raise Error(f"{name} must be {minimum} or more, not {number}")
    if number >= 2**63:
        raise Error(f"{name} must be below 2^63, not {number}")
