# SPDX-License-Identifier: BSD-3-Clause
"""Error texts about unknown names: what there is, and which name is nearest."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown_name(kind: str, given: str, known: Iterable[str]) -> str:
    """Say that `given` is no `kind`, name the nearest one, and list all there are."""
    names = list(known)
    nearest = difflib.get_close_matches(given.lower(), names, n=1, cutoff=0.5)
    hint = f" (did you mean '{nearest[0]}'?)" if nearest else ""
    return f"no {kind} '{given}'{hint}; there are: {', '.join(names)}"
