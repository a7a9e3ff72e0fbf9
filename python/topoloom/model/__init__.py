# SPDX-License-Identifier: BSD-3-Clause
"""Network models: their files, shipped models, and fits to measured times."""

from topoloom.support.public_names import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__)
