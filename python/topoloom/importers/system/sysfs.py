# SPDX-License-Identifier: BSD-3-Clause
"""Reads short text files in Linux's ``/sys``."""

from __future__ import annotations

from pathlib import Path

from topoloom._core import Error


def read_cpu_mask(file: Path) -> int:
    """Read a CPU list such as ``0-3,8`` as a bit mask; 0 if the file is missing."""
    mask = 0
    for part in read_word(file).split(","):
        first, _, last = part.partition("-")
        if not part:
            continue
        try:
            low, high = int(first), int(last or first)
            mask |= (1 << high + 1) - (1 << low)
        except ValueError:
            raise Error(f"{file}: '{part[:40]}' is not a range of CPUs") from None
    return mask


def read_word(file: Path) -> str:
    """Read a file; "" if the file is missing."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
