# SPDX-License-Identifier: BSD-3-Clause
"""Compares the output in a page with that of the command, and renews it."""

from __future__ import annotations

import re

#: What differs from run to run, and the text that replaces it before the comparison.
NORMALIZED = [
    # The time of a search: below a placement, and as the last column of a table.
    (r"(candidates in) [\d.]+ s$", r"\1 TIME"),
    (r" +search$", " search"),
    (r" +\d+\.\d\d s$", " TIME"),
    (r"─+$", "─"),
    # What a real program takes, and what Topoloom derives from it.
    (r"[\d.]+ m?s per step$", "TIME per step"),
    (r"^time: [\d.e-]+ s$", "time: TIME"),
    (r"(  ranks +\d+), [\d.]+ s$", r"\1, TIME"),
    (r"(  time in MPI +).*", r"\1TIME"),
    (r"is at most [\d.]+ % of the recorded run time", "is at most SHARE"),
    (r"so the program gains at most [\d.]+ %", "so the program gains at most SHARE"),
]
#: A line that stands for any lines.
ELLIPSES = ("...", "…")


def normalize(line: str) -> str:
    """Replace what differs from run to run."""
    for pattern, replacement in NORMALIZED:
        line = re.sub(pattern, replacement, line)
    return line


def is_ellipsis(line: str) -> bool:
    """Return whether the line stands for any lines."""
    return line.strip() in ELLIPSES


def is_same_output(shown: list[str], printed: list[str]) -> bool:
    """Return whether the command printed what the page shows.

    A blank line at the end does not count.
    """
    real = [normalize(line) for line in _drop_blank_end(printed)]
    parts: list[list[str]] = [[]]
    for line in _drop_blank_end(shown):
        if is_ellipsis(line):
            parts.append([])
        else:
            parts[-1].append(normalize(line))
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return real == first
    if real[: len(first)] != first or len(real) < len(first) + len(last):
        return False
    rest = real[len(first) : len(real) - len(last)]
    if real[len(real) - len(last) :] != last:
        return False
    for part in parts[1:-1]:
        found = [
            start
            for start in range(len(rest) - len(part) + 1)
            if rest[start : start + len(part)] == part
        ]
        if not found:
            return False
        rest = rest[found[0] + len(part) :]
    return True


def renew_output(shown: list[str], printed: list[str]) -> list[str]:
    """Return the printed lines, less those that the page replaces by an ellipsis.

    A line is kept if the page shows one that differs only in numbers. If a line of
    the page has no such counterpart, all printed lines are returned.
    """
    if not shown or shown[-1]:
        printed = _drop_blank_end(printed)
    if not any(map(is_ellipsis, shown)):
        return printed
    renewed: list[str] = []
    start = 0
    for line in shown:
        if is_ellipsis(line):
            renewed.append(line)
            continue
        shapes = [_mask_numbers(other) for other in printed[start:]]
        if _mask_numbers(line) not in shapes:
            return printed
        start += shapes.index(_mask_numbers(line)) + 1
        renewed.append(printed[start - 1])
    return renewed


def _drop_blank_end(lines: list[str]) -> list[str]:
    return lines[:-1] if lines and not lines[-1] else lines


def _mask_numbers(line: str) -> str:
    line = re.sub(r"[+-]?\d[\d.,]*(?: [KMG]?i?B| [mun]?s)?\b", "0", line)
    return re.sub(r"[ ─]+", " ", line)
