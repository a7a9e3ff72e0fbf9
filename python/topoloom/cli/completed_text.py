# SPDX-License-Identifier: BSD-3-Clause
"""Completes values with inner structure: chains, lists, options, machine texts."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

#: Names, the options of each, and the words that each option takes.
Entries = Mapping[str, Mapping[str, Sequence[str]]]


def filter_prefix(typed: str, words: Iterable[str]) -> list[str]:
    """Return the words that begin with what was typed."""
    return [word for word in words if word.startswith(typed)]


def complete_chain(
    typed: str, entries: Entries, separators: Container[str] = ()
) -> list[str]:
    """Complete the last name, such as in ``gge+swap(reach=3)``, or its last option."""
    begin, opened = 0, -1
    for place, sign in enumerate(typed):
        if sign == "(":
            opened = place
        elif sign == ")":
            opened = -1
        elif sign in separators and opened < 0:
            begin = place + 1
    if opened < 0:
        return filter_prefix(typed, [typed[:begin] + name for name in entries])
    options = entries.get(typed[begin:opened], {})
    return _complete_last_option(typed, opened + 1, options)


def complete_machine_text(
    typed: str, names: Sequence[str], forms: Entries
) -> list[str]:
    """Complete a machine: a name, ``torus:8x8,latency=1us`` or ``frontier+node:8``.

    `forms` are topologies, such as ``torus``, and what is appended, such as ``+node``.
    """
    begin = max(typed.rfind("+"), 0)
    name, colon, rest = typed[begin:].partition(":")
    if colon:
        comma = rest.find(",")
        if comma < 0:
            return []
        place = begin + len(name) + 1 + comma + 1
        return _complete_last_option(typed, place, forms.get(name, {}))
    appended = "+" in typed
    found = [f"{form}:" for form in forms if form.startswith("+") == appended]
    words = found if appended else [*names, *found]
    return filter_prefix(typed, [typed[:begin] + word for word in words])


def complete_list(typed: str, words: Iterable[str]) -> list[str]:
    """Complete the last word of a list with commas."""
    before, comma, _ = typed.rpartition(",")
    return filter_prefix(typed, [before + comma + word for word in words])


def _complete_last_option(
    typed: str, begin: int, options: Mapping[str, Sequence[str]]
) -> list[str]:
    """Complete the last of the options from `begin` on, which commas separate."""
    begin = max(begin, typed.rfind(",", begin) + 1)
    name, equals, _ = typed[begin:].partition("=")
    if equals:
        place = begin + len(name) + 1
        words = [typed[:place] + word for word in options.get(name, ())]
    else:
        words = [f"{typed[:begin]}{option}=" for option in options]
    return filter_prefix(typed, words)
