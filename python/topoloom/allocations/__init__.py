# SPDX-License-Identifier: BSD-3-Clause
"""Allocations: read from files, chosen among free nodes, and their compactness."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
