# SPDX-License-Identifier: BSD-3-Clause
"""Look-up by name, and error texts that suggest the nearest name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

Entry = TypeVar("Entry")


def suggest(given: str, known: Iterable[str]) -> str:
    """Suggest the nearest name: `` (did you mean 'x'?)``, or ""."""
    import difflib

    names = difflib.get_close_matches(given.lower(), list(known), n=1)
    return f" (did you mean '{names[0]}'?)" if names else ""


def unknown_name(kind: str, given: str, known: Iterable[str]) -> str:
    """Describe an unknown name, with the nearest known one and a list of all."""
    names = list(known)
    return f"no {kind} '{given}'{suggest(given, names)}; there are: {', '.join(names)}"


def find_by_name(kind: str, name: str, entries: Mapping[str, Entry]) -> Entry:
    """Look up an entry; raise `topoloom.Error` with `unknown_name`."""
    from topoloom._core import Error

    if name not in entries:
        raise Error(unknown_name(kind, name, entries))
    return entries[name]
