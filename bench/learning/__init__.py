# SPDX-License-Identifier: BSD-3-Clause
"""Schedules learned at run time: how fast, at what cost, and whether ranks agree."""
