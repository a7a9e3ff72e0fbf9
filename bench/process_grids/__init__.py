# SPDX-License-Identifier: BSD-3-Clause
"""Collectives on the rows and columns of process grids, in tiles, simulated."""
