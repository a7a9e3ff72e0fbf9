# SPDX-License-Identifier: BSD-3-Clause
"""Collective schedules: costs, choice, rank orders and exports."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
