# SPDX-License-Identifier: BSD-3-Clause
"""Network models: file formats, shipped models, and fits to measured times."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
