# SPDX-License-Identifier: BSD-3-Clause
"""Look-up by name, with error messages that suggest the most similar name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

Entry = TypeVar("Entry")


def suggest(given: str, known: Iterable[str]) -> str:
    """Suggest the most similar name, as in `` (did you mean 'x'?)``, or ""."""
    import difflib

    names = difflib.get_close_matches(given.lower(), list(known), n=1)
    return f" (did you mean '{names[0]}'?)" if names else ""


def describe_unknown_name(kind: str, given: str, known: Iterable[str]) -> str:
    """Describe an unknown name, with the most similar name and all known names."""
    names = list(known)
    return f"no {kind} '{given}'{suggest(given, names)}; there are: {', '.join(names)}"


def find_by_name(kind: str, name: str, entries: Mapping[str, Entry]) -> Entry:
    """Look up an entry; raise `topoloom.Error` if the name is unknown."""
    from topoloom._core import Error

    if name not in entries:
        raise Error(describe_unknown_name(kind, name, entries))
    return entries[name]
