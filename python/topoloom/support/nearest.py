# SPDX-License-Identifier: BSD-3-Clause
"""Error texts about unknown names: what there is, and which name is nearest."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(given: str, known: Iterable[str]) -> str:
    """Ask about the nearest name: `` (did you mean 'x'?)``, or nothing."""
    import difflib

    names = difflib.get_close_matches(given.lower(), list(known), n=1)
    return f" (did you mean '{names[0]}'?)" if names else ""


def unknown_name(kind: str, given: str, known: Iterable[str]) -> str:
    """Say that `given` is not a `kind`, name the nearest one, and list all of them."""
    names = list(known)
    return f"no {kind} '{given}'{nearest(given, names)}; there are: {', '.join(names)}"
