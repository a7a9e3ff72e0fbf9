# SPDX-License-Identifier: BSD-3-Clause
"""Coordinates within a job's box, for launchers that place by coordinates."""

from __future__ import annotations

import math

from topoloom._core import Error
from topoloom.launch.host_placement import HostPlacement, Ids
from topoloom.nodes.node_coordinates import has_coordinates, list_coordinates


def find_torus_box(placement: HostPlacement, format_name: str) -> tuple[list[int], Ids]:
    """Find the box that the allocation fills, and the coordinates of its hosts.

    Returns
    -------
    shape : list of int
        Extents of the box.
    coordinates : int array of shape ``(hosts, axes)``
        Coordinates of each host, from 0.

    Raises
    ------
    topoloom.Error
        If `has_coordinates` is false, or the allocation is not a complete box.
    """
    machine = placement.machine
    if not has_coordinates(machine):
        raise Error(
            f"{format_name} places ranks by coordinates, but {machine.name} is not a "
            "torus or mesh with one node per router"
        )
    nodes = placement.nodes.tolist()
    coordinates = list_coordinates(machine, nodes)
    coordinates -= coordinates.min(axis=0)
    shape = (coordinates.max(axis=0) + 1).tolist()
    if math.prod(shape) != len(nodes):
        raise Error(
            f"{format_name} uses coordinates relative to a job's shape, but the "
            f"{len(nodes)} nodes of the allocation do not form a complete box; their "
            "box is "
            f"{format_shape(shape)}"
        )
    return shape, coordinates


def format_shape(shape: list[int]) -> str:
    """Format extents as ``4x6x8``."""
    return "x".join(map(str, shape))
