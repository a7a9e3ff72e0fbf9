# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of judgements: who talks to whom, and what that does to the links."""

from __future__ import annotations

from topoloom.figure.judgement import draw_judgement

__all__ = ["draw_judgement"]
