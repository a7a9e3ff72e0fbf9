# SPDX-License-Identifier: BSD-3-Clause
"""Communication graphs: patterns, recordings, phases, and axes of AI training."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
