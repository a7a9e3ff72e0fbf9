# SPDX-License-Identifier: BSD-3-Clause
"""Error messages about unknown names: the nearest name and all known ones."""

from __future__ import annotations

from collections.abc import Iterable


def suggest(given: str, known: Iterable[str]) -> str:
    """Suggest the nearest name: `` (did you mean 'x'?)``, or ""."""
    import difflib

    names = difflib.get_close_matches(given.lower(), list(known), n=1)
    return f" (did you mean '{names[0]}'?)" if names else ""


def unknown_name(kind: str, given: str, known: Iterable[str]) -> str:
    """Describe an unknown name, with the nearest known one and a list of all."""
    names = list(known)
    return f"no {kind} '{given}'{suggest(given, names)}; there are: {', '.join(names)}"
