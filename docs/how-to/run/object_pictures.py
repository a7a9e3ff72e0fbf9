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
    """Write a line of text, in front of a white edge where lines cross it."""
    edge = 'stroke="white" stroke-width="5" paint-order="stroke"'
    return f'<text x="{x}" y="{y}" fill="{color}" {edge}>{words}</text>'


def arrow(number: int, x: float, lanes: tuple[int, int], color: str) -> str:
    """Draw a message from one rank to another, with its number."""
    rows = list(LANES.values())
    start, end = (rows[lane] for lane in lanes)
    line = (
        f'<line x1="{x}" y1="{start}" x2="{x + 60}" y2="{end}" stroke="{color}" '
        f'stroke-width="1.8" marker-end="url(#{color[1:]})"/>'
    )
    return line + text(x + 26, (start + end) / 2 + 4, str(number), color)


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
        arrow(1, 170, (2, 3), GREEN),
        arrow(2, 250, (3, 1), GREEN),
        arrow(3, 370, (0, 2), BLUE),
        arrow(4, 450, (2, 3), BLUE),
        arrow(5, 530, (3, 0), RED),
        arrow(6, 660, (0, 3), BLUE),
    ]
    middle = 800
    parts.append(
        f'<line x1="{middle}" y1="40" x2="{middle}" y2="258" stroke="{RED}" '
        'stroke-width="2" stroke-dasharray="6 4"/>'
    )
    parts += [
        text(middle - 30, 30, "fence: run()", RED),
        text(150, 286, "1 the object moves; rank 2 keeps where it went"),
        text(150, 304, "2 its home rank learns where it is"),
        text(150, 322, "3 messages come to where the object was"),
        text(520, 286, "4 they are forwarded"),
        text(520, 304, "5 their sender learns where the object is"),
        text(520, 322, "6 the next ones go straight there"),
    ]
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 336" '
        'font-family="sans-serif" font-size="12">'
    )
    back = '<rect width="900" height="336" fill="white"/>'
    return "\n".join([head, back, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    OUT.write_text(picture())
