# SPDX-License-Identifier: BSD-3-Clause
"""Training frameworks: their process groups and rank orders, and models' traffic."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
