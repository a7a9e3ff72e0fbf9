# SPDX-License-Identifier: BSD-3-Clause
"""A launcher's report of where it would start each rank."""

from __future__ import annotations

from typing import NamedTuple

from topoloom._core import Error


class PlacementRefusedError(Error):
    """Raised if the launcher cannot apply the placement."""


class JobMap(NamedTuple):
    """A launcher's own map of a job.

    Attributes
    ----------
    launcher
        Name and version.
    message
        Error message of the launcher, if it printed no map.
    hosts
        The host of each rank in the map.
    binding_errors
        How the binding of a rank differs, by rank.
    """

    launcher: str
    message: str
    hosts: dict[int, str]
    binding_errors: dict[int, str]
