# SPDX-License-Identifier: BSD-3-Clause
"""Figures of machines, allocations, link loads, schedules and network models."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
