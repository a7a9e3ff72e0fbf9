# SPDX-License-Identifier: BSD-3-Clause
"""Machine descriptions: reading, writing, importing and summarizing."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
