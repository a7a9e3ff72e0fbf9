# SPDX-License-Identifier: BSD-3-Clause
"""Training frameworks: process groups, rank orders, and the traffic of models."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
