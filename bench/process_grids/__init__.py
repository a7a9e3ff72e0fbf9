# SPDX-License-Identifier: BSD-3-Clause
"""Collectives on the lines of process grids, in tiles, simulated."""
