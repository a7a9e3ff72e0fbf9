# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of machines, allocations, and judgements: who loads which links; models."""

from topoloom.support.public_names import attach

__getattr__, __dir__ = attach(__name__)
