# SPDX-License-Identifier: BSD-3-Clause
"""The work of the verbs, as functions with typed results."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
