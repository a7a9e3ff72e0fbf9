# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates placements, tiles process grids, and solves quadratic assignment."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
