# SPDX-License-Identifier: BSD-3-Clause
"""Draws the last call of a trace.

Usage: ``python docs/timeline_picture.py calls.jsonl docs/how-to/run/timeline.svg``.
"""

from __future__ import annotations

import sys

from topoloom.figure.timeline import draw_timeline
from topoloom.schedules.call_trace import load_traces


def main() -> None:
    """Draw it."""
    draw_timeline(sys.argv[2], load_traces(sys.argv[1])[-1])


if __name__ == "__main__":
    main()
