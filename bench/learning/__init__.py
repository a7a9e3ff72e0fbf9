# SPDX-License-Identifier: BSD-3-Clause
"""Schedules learned at run time: speed, cost, and agreement of ranks."""
