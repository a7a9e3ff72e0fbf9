# SPDX-License-Identifier: BSD-3-Clause
"""Figures of machines, allocations, link loads, schedules and network models."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
