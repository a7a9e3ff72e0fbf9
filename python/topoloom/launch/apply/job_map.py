# SPDX-License-Identifier: BSD-3-Clause
"""The location at which a launcher would start each rank, by its own report."""

from __future__ import annotations

from typing import NamedTuple

from topoloom._core import Error


class PlacementRefusedError(Error):
    """The launcher cannot apply the placement."""


class JobMap(NamedTuple):
    """A launcher's own map of a job.

    Attributes
    ----------
    launcher
        Name and version.
    message
        Its error, if it gave no map.
    hosts
        The host of each rank that it named.
    binding_errors
        Binding errors by rank.
    """

    launcher: str
    message: str
    hosts: dict[int, str]
    binding_errors: dict[int, str]
