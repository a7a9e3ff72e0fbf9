# SPDX-License-Identifier: BSD-3-Clause
"""Coordinates of nodes in a torus or mesh."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from topoloom._core import Machine


def has_coordinates(machine: Machine) -> bool:
    """Return whether the machine is a torus or mesh with one node per router."""
    return bool(machine.shape) and math.prod(machine.shape) == machine.node_count


def list_coordinates(machine: Machine, nodes: Iterable[int]) -> npt.NDArray[np.int64]:
    """List the coordinates of nodes; shape ``(nodes, axes)``."""
    return np.array([machine.coordinates(node) for node in nodes], dtype=np.int64)
