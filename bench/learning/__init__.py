# SPDX-License-Identifier: BSD-3-Clause
"""Schedules learned at run time: convergence, cost, and agreement of ranks."""
