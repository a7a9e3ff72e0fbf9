# SPDX-License-Identifier: BSD-3-Clause
"""Ranks, measures and simulates schedules of collectives; also on grids and trees."""
