# SPDX-License-Identifier: BSD-3-Clause
"""Draws ``objects.svg``: how a message finds an object that has moved, and a fence.

``python docs/how-to/run/object_pictures.py`` renews it.
"""

from __future__ import annotations

from pathlib import Path

OUT = Path(__file__).with_name("objects.svg")
LANES = {"rank 0: sender": 60, "rank 1: home": 120, "rank 2: was there": 180}
LANES["rank 3: is there"] = 240
LEFT, RIGHT = 150, 880
BLUE, RED, GREEN, GRAY = "#2563a8", "#c2410c", "#15803d", "#888888"


def text(x: float, y: float, words: str, color: str = "#222222") -> str:
    """Write a line of text."""
    return f'<text x="{x}" y="{y}" fill="{color}">{words}</text>'


def arrow(x: float, lanes: tuple[int, int], words: str, color: str) -> str:
    """Draw a message from one rank to another, and what it says."""
    rows = list(LANES.values())
    start, end = (rows[lane] for lane in lanes)
    line = (
        f'<line x1="{x}" y1="{start}" x2="{x + 55}" y2="{end}" stroke="{color}" '
        f'stroke-width="1.8" marker-end="url(#{color[1:]})"/>'
    )
    return line + text(x + 34, (start + end) / 2 + 3, words, color)


def marker(color: str) -> str:
    """Define the head of arrows of a color."""
    return (
        f'<marker id="{color[1:]}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" '
        f'markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="{color}"/>'
        "</marker>"
    )


def picture() -> str:
    """Draw four ranks and what they send each other, from left to right."""
    parts = ["<defs>", *(marker(color) for color in (BLUE, RED, GREEN)), "</defs>"]
    for name, y in LANES.items():
        parts.append(text(14, y + 4, name))
        line = f'x1="{LEFT}" y1="{y}" x2="{RIGHT}" y2="{y}"'
        parts.append(f'<line {line} stroke="{GRAY}"/>')
    parts += [
        arrow(170, (2, 3), "1 object moves", GREEN),
        arrow(250, (3, 1), "2 I have it", GREEN),
        arrow(370, (0, 2), "3 message", BLUE),
        arrow(440, (2, 3), "3 forwarded", BLUE),
        arrow(530, (3, 0), "3 it is here", RED),
        arrow(640, (0, 3), "4 next message", BLUE),
    ]
    middle = 800
    parts.append(
        f'<line x1="{middle}" y1="40" x2="{middle}" y2="258" stroke="{RED}" '
        'stroke-width="2" stroke-dasharray="6 4"/>'
    )
    parts += [
        text(middle - 30, 30, "fence: run()", RED),
        text(150, 292, "1 the object leaves; rank 2 keeps where it went"),
        text(150, 310, "2 it arrives, and its home rank learns where it is"),
        text(500, 292, "3 an old address: forwarded, and the sender learns"),
        text(500, 310, "4 the next message goes straight"),
    ]
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 325" '
        'font-family="sans-serif" font-size="12">'
    )
    back = '<rect width="900" height="325" fill="white"/>'
    return "\n".join([head, back, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    OUT.write_text(picture())
