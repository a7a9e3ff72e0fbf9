# SPDX-License-Identifier: BSD-3-Clause
"""Draws ``streams.svg``: buckets that fill and leave, and how the end is found.

``python docs/how-to/run/stream_pictures.py`` renews it.
"""

from __future__ import annotations

from pathlib import Path

from object_pictures import BLUE, GRAY, GREEN, RED, marker, text

OUT = Path(__file__).with_name("streams.svg")
LANES = {"rank 0": 60, "rank 1": 130, "rank 2": 200}
LEFT, RIGHT, ROOM = 110, 880, 4


def bucket(x: float, lane: int, items: int) -> str:
    """Draw a bucket above a rank's line, with this number of items in it."""
    y = list(LANES.values())[lane] - 12
    box = f'x="{x}" y="{y}" width="{ROOM * 9 + 1}" height="10"'
    parts = [f'<rect {box} fill="white" stroke="{BLUE}"/>']
    parts += [
        f'<rect x="{x + 2 + 9 * i}" y="{y + 2}" width="6" height="6" fill="{BLUE}"/>'
        for i in range(items)
    ]
    return "".join(parts)


def message(x: float, lanes: tuple[int, int]) -> str:
    """Draw a bucket on its way."""
    start, end = (list(LANES.values())[lane] for lane in lanes)
    return (
        f'<line x1="{x}" y1="{start}" x2="{x + 60}" y2="{end}" stroke="{BLUE}" '
        f'stroke-width="1.8" marker-end="url(#{BLUE[1:]})"/>'
    )


def wave(places: tuple[int, int, int], color: str, words: str) -> str:
    """Draw where ranks join a reduction, and what it adds up."""
    rows = list(LANES.values())
    points = " ".join(f"{x},{y}" for x, y in zip(places, rows, strict=True))
    parts = [
        f'<polyline points="{points}" fill="none" stroke="{color}" '
        'stroke-width="1.5" stroke-dasharray="5 4"/>'
    ]
    parts += [
        f'<circle cx="{x}" cy="{y}" r="5" fill="{color}"/>'
        for x, y in zip(places, rows, strict=True)
    ]
    return "".join(parts) + text(places[2] - 60, 232, words, color)


def picture() -> str:
    """Draw three ranks, from left to right."""
    parts = ["<defs>", marker(BLUE), "</defs>"]
    for name, y in LANES.items():
        parts.append(text(14, y + 4, name))
        parts.append(f'<path d="M{LEFT} {y}H{RIGHT}" stroke="{GRAY}"/>')
    parts += [
        bucket(120, 0, 2),
        bucket(190, 0, 4),
        message(230, (0, 1)),
        bucket(330, 1, 1),
        message(385, (1, 2)),
        wave((460, 430, 405), RED, "a message crosses: 2 sent, 1 received"),
        wave((650, 670, 690), GREEN, "2 sent, 2 received"),
    ]
    end = 790
    parts.append(
        f'<path d="M{end} 30V214" stroke="{GREEN}" stroke-width="2.5"/>'
        + text(end - 44, 22, "fence: wait() returns", GREEN)
    )
    parts += [
        text(120, 38, "items fill a bucket"),
        text(268, 90, "which leaves when it is full"),
        text(270, 154, "a handler pushes"),
    ]
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 248" '
        'font-family="sans-serif" font-size="12">'
    )
    back = '<rect width="900" height="248" fill="white"/>'
    return "\n".join([head, back, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    OUT.write_text(picture())
