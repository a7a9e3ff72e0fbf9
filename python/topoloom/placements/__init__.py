# SPDX-License-Identifier: BSD-3-Clause
"""Measures of placements, tiles of process grids, and quadratic assignment."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
