# SPDX-License-Identifier: BSD-3-Clause
"""Collective schedules: choice, costs, contention and rank order."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
