# SPDX-License-Identifier: BSD-3-Clause
"""Collective schedules: which is best, on which ranks, where messages meet, costs."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
