# SPDX-License-Identifier: BSD-3-Clause
"""How long the ranks of a recorded run were in MPI calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.graphs.npz import is_archive
from topoloom.support.files import prefix_errors
from topoloom.support.npz_archive import open_archive

Floats = NDArray[np.float64]
#: Arrays with the run time of each rank, and its time in MPI calls.
TIMES = ("profile_run_seconds", "profile_mpi_seconds")


class MpiTime(NamedTuple):
    """The longest run time of a rank in seconds, and how long ranks were in MPI calls.

    `share_at_most` is the largest share of the run time that faster communication can
    save: the run takes at least as long as the rank that is longest outside of MPI.
    """

    run: float
    min: float
    mean: float
    max: float
    share_at_most: float


def load_mpi_time(path: str | Path) -> MpiTime | None:
    """Read how long ranks of a recorded run were in MPI calls; None if unknown.

    Files of any format are accepted. Only the arrays of times are read.
    """
    if not is_archive(path):
        return None
    with open_archive(path) as arrays:
        if "profile_mpi_seconds" not in arrays:
            return None
        run, inside = (get_seconds(arrays, name) for name in TIMES)
    with prefix_errors(path):
        check_times(run, inside)
    return sum_up_times(run, inside)


def sum_up_times(run: Floats, inside: Floats) -> MpiTime | None:
    """Sum up the times of all ranks; NaN marks missing ranks."""
    known = ~np.isnan(inside)
    whole = float(run[known].max(initial=0))
    if whole == 0:
        return None
    times = inside[known]
    share = 1 - float((run - inside)[known].max()) / whole
    return MpiTime(
        whole, float(times.min()), float(times.mean()), float(times.max()), share
    )


def get_seconds(arrays: Mapping[str, NDArray[Any]], name: str) -> Floats:
    """Return an array of seconds; empty if the file was written without times."""
    return arrays[name].astype(np.float64) if name in arrays else np.zeros(0)


def check_times(run: Floats, inside: Floats) -> None:
    """Raise an error if times do not fit each other."""
    if run.shape != inside.shape:
        raise Error("the times in MPI are not those of every rank")
    if np.any(inside < 0) or np.any(inside > run):
        raise Error("a time in MPI is negative, or longer than the run")
