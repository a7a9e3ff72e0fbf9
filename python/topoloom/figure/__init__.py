# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of machines, allocations, and judgements: who loads which links; models."""

from __future__ import annotations

from topoloom.figure.allocation import draw_allocation
from topoloom.figure.judgement import draw_judgement
from topoloom.figure.machine import draw_machine
from topoloom.figure.model import draw_model

__all__ = ["draw_allocation", "draw_judgement", "draw_machine", "draw_model"]
