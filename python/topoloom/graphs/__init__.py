# SPDX-License-Identifier: BSD-3-Clause
"""Communication graphs: generated, recorded, by phases, of the axes of AI training."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
