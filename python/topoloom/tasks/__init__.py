# SPDX-License-Identifier: BSD-3-Clause
"""Typed functions that implement the commands of the command line."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
