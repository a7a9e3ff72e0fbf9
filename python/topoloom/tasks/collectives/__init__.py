# SPDX-License-Identifier: BSD-3-Clause
"""Schedules of collectives: ranked, measured, simulated, on grids and trees."""
