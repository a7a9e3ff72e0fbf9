# SPDX-License-Identifier: BSD-3-Clause
"""Describes elements and attributes of XML that an importer does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from topoloom.support.units import counted
from topoloom.support.xml_tree import Element

#: Lengths of what remarks quote, and their number.
_MAX_QUOTED, _MAX_REMARKS = 20, 6

#: Tag -> its attributes; None for tags whose attributes and contents are not read.
KnownNames = Mapping[str, Collection[str] | None]


def describe_unknown_names(root: Element, known: KnownNames) -> tuple[str, ...]:
    """Return a remark for each unknown name, such as a misspelled one."""
    found: Counter[str] = Counter()
    waiting = [root]
    while waiting:
        element = waiting.pop()
        tag = element.tag[:_MAX_QUOTED]
        if element.tag not in known:
            found[f"element <{tag}>"] += 1
            continue
        names = known[element.tag]
        if names is None:
            continue
        for name in element.attributes:
            if name not in names:
                found[f"attribute {name[:_MAX_QUOTED]} of <{tag}>"] += 1
        waiting += reversed(element.children)
    remarks = [
        f"unknown {what} ignored" + (f" {count:,} times" if count > 1 else "")
        for what, count in sorted(found.items())
    ]
    if len(remarks) > _MAX_REMARKS:
        more = counted(len(remarks) - _MAX_REMARKS + 1, "other unknown name")
        remarks = [*remarks[: _MAX_REMARKS - 1], f"{more} ignored"]
    return tuple(remarks)
