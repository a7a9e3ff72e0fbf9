# SPDX-License-Identifier: BSD-3-Clause
"""Errors in parameters, which the command line shows with the option's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from topoloom._core import Error


class ParameterError(Error):
    """An error in the value of a parameter, or in a combination of parameters.

    The message begins with `parameters`, the names in Python. The command line replaces
    each by the option that the user typed.
    """

    def __init__(self, parameters: str | Sequence[str], problem: str) -> None:
        names = (parameters,) if isinstance(parameters, str) else tuple(parameters)
        super().__init__(names, problem)
        self.parameters = names
        self.problem = problem

    def __str__(self) -> str:
        """Return the message with the names in Python."""
        return self.describe(str)

    def describe(self, rename: Callable[[str], str]) -> str:
        """Return the message with each name replaced by ``rename(name)``."""
        return f"{' and '.join(map(rename, self.parameters))} {self.problem}"


def check_int64(parameter: str, number: int, minimum: int) -> None:
    """Raise `ParameterError` unless ``minimum <= number < 2**63``."""
    if number < minimum:
        raise ParameterError(parameter, f"must be {minimum} or more, not {number}")
    if number >= 2**63:
        raise ParameterError(parameter, f"must be below 2^63, not {number}")
