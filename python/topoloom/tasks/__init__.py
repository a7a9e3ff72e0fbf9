# SPDX-License-Identifier: BSD-3-Clause
"""Typed functions that implement the verbs of the command line."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
