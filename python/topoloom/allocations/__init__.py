# SPDX-License-Identifier: BSD-3-Clause
"""Allocations: reads them, chooses them among free nodes, measures compactness."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
