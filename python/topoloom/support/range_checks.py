# SPDX-License-Identifier: BSD-3-Clause
"""Range checks of integers."""

from __future__ import annotations

from topoloom.support.parameter_error import ParameterError


def check_int64(parameter: str, number: int, minimum: int) -> None:
    """Raise `ParameterError` unless ``minimum <= number < 2**63``."""
    if number < minimum:
        raise ParameterError(parameter, f"must be {minimum} or more, not {number}")
    if number >= 2**63:
        raise ParameterError(parameter, f"must be below 2^63, not {number}")
