# SPDX-License-Identifier: BSD-3-Clause
"""What a launcher reports of the ranks that it would start."""

from __future__ import annotations

from typing import NamedTuple

from topoloom._core import Error


class LauncherRefuses(Error):
    """The launcher cannot start ranks where the placement wants them."""


class JobMap(NamedTuple):
    """A launcher's own map of a job.

    Attributes
    ----------
    launcher
        Name and version.
    said
        What it said where it gave no map.
    hosts
        The host of each rank; ranks that it did not name are missing.
    misbound
        In words, what is wrong with the binding of a rank, where something is.
    """

    launcher: str
    said: str
    hosts: dict[int, str]
    misbound: dict[int, str]
