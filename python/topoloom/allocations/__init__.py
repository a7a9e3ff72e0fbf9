# SPDX-License-Identifier: BSD-3-Clause
"""Allocations: read from files, chosen among free nodes, and their compactness."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
