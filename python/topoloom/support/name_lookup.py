# SPDX-License-Identifier: BSD-3-Clause
"""Look-up by name, with error messages that suggest the most similar name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

Entry = TypeVar("Entry")

#: Characters of a name from which on it is completed, and how many names are suggested.
_MIN_PREFIX, _MAX_SUGGESTED = 3, 3


def suggest(given: str, known: Iterable[str]) -> str:
    """Suggest the most similar name, as in `` (did you mean 'x'?)``, or "".

    Without a similar name, suggest those that begin with `given`.
    """
    import difflib

    known, given = list(known), given.lower()
    names = difflib.get_close_matches(given, known, n=1)
    if not names and len(given) >= _MIN_PREFIX:
        names = [name for name in known if name.startswith(given)][:_MAX_SUGGESTED]
    return f" (did you mean {' or '.join(map(repr, names))}?)" if names else ""


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
