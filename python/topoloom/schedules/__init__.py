# SPDX-License-Identifier: BSD-3-Clause
"""Collective schedules: choice, costs, contention and rank order."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
