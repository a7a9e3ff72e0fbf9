# SPDX-License-Identifier: BSD-3-Clause
"""Collective schedules: their choice, costs, contention, and the order of ranks."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
