# SPDX-License-Identifier: BSD-3-Clause
"""Options for measurements between the ranks that a launcher starts."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from topoloom.cli.options.programs import Mpicc
from topoloom.cli.options.searches import Seconds
from topoloom.cli.parameters import Argument, Option

Launcher = Annotated[
    list[str] | None,
    Argument(metavar="-- LAUNCHER", help="What starts the ranks, without a program."),
]


class ProbeLimits(NamedTuple):
    """Options for the duration of the measurements, and their compiler."""

    quick: Annotated[
        bool, Option("--quick", help="Take a minute at most, with fewer samples.")
    ] = False
    thorough: Annotated[
        bool, Option("--thorough", help="Take an hour at most, with more samples.")
    ] = False
    time: Seconds = None
    mpicc: Mpicc = None

    def list_given(self) -> list[str]:
        """List the options that are given."""
        return [f"--{name}" for name, value in self._asdict().items() if value]

    def make_settings(self) -> dict[str, Any]:
        """Check the options, and return the keyword arguments of the tasks."""
        from topoloom._core import Error
        from topoloom.support.units import parse_duration

        if self.quick and self.thorough:
            raise Error("--quick and --thorough are mutually exclusive; leave one out")
        limit = None if self.time is None else parse_duration(self.time)
        if limit == 0:
            raise Error(
                "--time 0 leaves no time to measure; set a longer time, such as "
                "--time 30s"
            )
        effort = "quick" if self.quick else "thorough" if self.thorough else "default"
        return {"effort": effort, "seconds": limit, "mpicc": self.mpicc}


def require_launcher(launcher: list[str] | None) -> list[str]:
    """Return the launcher; raise an error if none is given."""
    from topoloom._core import Error

    if not launcher:
        raise Error("no launcher is given; add it after --, such as -- srun -N 16")
    return launcher
