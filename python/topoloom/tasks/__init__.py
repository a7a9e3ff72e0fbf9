# SPDX-License-Identifier: BSD-3-Clause
"""The work of the verbs, as functions with typed results."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
