# SPDX-License-Identifier: BSD-3-Clause
"""The error in a parameter, which the command line shows with the option's name."""

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
