# SPDX-License-Identifier: BSD-3-Clause
"""Machines: descriptions, with the allocation of a job, wiring and bisection."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
