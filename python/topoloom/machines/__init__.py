# SPDX-License-Identifier: BSD-3-Clause
"""Machine descriptions: reading, writing, importing and summarizing."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
