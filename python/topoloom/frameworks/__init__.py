# SPDX-License-Identifier: BSD-3-Clause
"""Training frameworks: process groups, rank orders, and the traffic of models."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
