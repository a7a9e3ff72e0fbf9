# SPDX-License-Identifier: BSD-3-Clause
"""Frameworks that train: the groups that they make of ranks, and what models send."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
