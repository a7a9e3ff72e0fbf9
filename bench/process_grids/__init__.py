# SPDX-License-Identifier: BSD-3-Clause
"""Simulated collectives on lines of process grids, in default order and in tiles."""
