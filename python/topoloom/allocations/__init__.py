# SPDX-License-Identifier: BSD-3-Clause
"""The slots of a job: made, chosen among free nodes, measured."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
