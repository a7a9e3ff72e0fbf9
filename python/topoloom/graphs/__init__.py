# SPDX-License-Identifier: BSD-3-Clause
"""Communication graphs: patterns, recordings, phases, and axes of AI training."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
