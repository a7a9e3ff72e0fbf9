# SPDX-License-Identifier: BSD-3-Clause
"""Splits lists that users write with commas."""

from __future__ import annotations

import re


def split_at_commas(text: str) -> list[str]:
    """Split text at commas outside parentheses, and strip blanks."""
    return [item.strip() for item in re.split(r",(?![^()]*\))", text)]
