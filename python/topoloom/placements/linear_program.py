# SPDX-License-Identifier: BSD-3-Clause
"""Solves linear programs with scipy in a child process, which can be stopped.

If a thread were used instead of a process, Python would abort when it exits while a
solver is running.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.support.child_processes import find_error_line, run_in_background

_POLL = 0.02


def solve(progress: Callable[[int], bool], **program: Any) -> Any:
    """Solve a linear program with `scipy.optimize.linprog`; return None if stopped.

    Parameters
    ----------
    progress
        Called periodically with 0; if it returns False, the solver stops.
    program
        Arguments of `linprog`.

    Raises
    ------
    topoloom.Error
        If the solver ends without a result, for example if memory is exhausted.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "program").open("wb") as file:
            pickle.dump(program, file)
        command = [sys.executable, "-m", __name__, str(folder)]
        with run_in_background(command, folder) as child:
            while child.status is None:
                if not progress(0):
                    return None
                time.sleep(_POLL)
        if child.status != 0:
            raise Error(
                f"the linear program was not solved: {find_error_line(child.output)}"
            )
        with (folder / "solved").open("rb") as file:
            return pickle.load(file)


def _solve_in_folder(folder: Path) -> None:
    """Solve the linear program stored in a folder, in the child process of `solve`."""
    from scipy.optimize import linprog

    with (folder / "program").open("rb") as file:
        found = linprog(**pickle.load(file))
    with (folder / "solved").open("wb") as file:
        pickle.dump(found, file)


if __name__ == "__main__":
    _solve_in_folder(Path(sys.argv[1]))
