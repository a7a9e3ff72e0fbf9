# SPDX-License-Identifier: BSD-3-Clause
"""Measures of placements, tiles of process grids, and quadratic assignment."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
