# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of machines, and of judgements: who talks to whom, who loads which links."""

from __future__ import annotations

from topoloom.figure.judgement import draw_judgement
from topoloom.figure.machine import draw_machine

__all__ = ["draw_judgement", "draw_machine"]
