# SPDX-License-Identifier: BSD-3-Clause
"""The prose of a file without its code, and the phrases that we do not write."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

THING = (
    "byte|rank|node|slot|link|message|pair|router|line|core|socket|round|card|switch|"
    "rack|group|host|call|step|edge|vertex|entry|cell|job|domain|axis|second|trip"
)
AMOUNT = (
    "bytes|messages|ranks|nodes|slots|links|cores|ports|cards|processes|hops|cells|lines|"
    "rounds|points|blocks|GPUs|times|steps|entries|[kKMGT]i?B(?:/s)?|Gbit/s|[mun]s|one|two"
)
#: What is outlawed: a text that is in all of it, a regular expression, and what we
#: write instead.
OUTLAWED = (
    (" a", rf"(?<!which )\b(?:{AMOUNT}|\d+) an? (?:{THING})\b", "per"),
    (
        " no ",
        r"(?<!there )\b(?:is|are) no (?!longer|more|less|better|worse)\w+",
        "is not a",
    ),
    (", as ", r", as [\"'{]", "such as"),
    ("so many", r"\bso many\b", "this number of"),
    ("as many", r"\bas many (?:on each|a\b|of the next)", "this number of"),
    (" way", r"\b(?:long|short)(?:er|est)? ways?\b", "route"),
    ("way", r"\bways? (?:between|over|round) ", "route"),
    ("whole", r"\bwhole\s+numbers?\b", "integer"),
    ("divided", r"\bdivided\s+by\s+commas\b", "separated by commas"),
    ("mend", r"\bmend(?:s|ed|ing)?\b", "fix"),
    ("tells", r"\btells\b(?! (?:\w+ )?apart)", "reports"),
    (
        " told",
        r"\b(?:is|are|was|were|be|and) told\b(?! (?:\w+ )?apart)",
        "is reported",
    ),
    ("better", r"\bbetter(?:s|ed|ing)\b", "improves"),
    ("hang", r"\bhangs? (?:on|below|from)\b", "is attached to"),
    ("by turns", r"\bby turns\b", "in turn"),
    ("prevail", r"\bprevails?\b", "takes precedence"),
)
PATTERNS = [(part, re.compile(words, re.IGNORECASE)) for part, words, _ in OUTLAWED]

FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n)\n(?: {4}(?! *(?:[-*]|\d+\.) ).*\n|\n)+")
CODE = re.compile(r"`[^`]*`|\]\([^)]*\)|\$[^$]+\$")
GENERATED = re.compile(r"<!-- (\S+): begin -->.*?<!-- \1: end -->", re.DOTALL)
IN_C = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


def outlawed(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number of each line with an outlawed phrase, and the phrase."""
    text = path.read_text()
    lower = text.lower()
    # Nearly all files have none, not even in code: that is quick to see.
    suspect = [
        pattern for part, pattern in PATTERNS if part in lower and pattern.search(text)
    ]
    if not suspect:
        return
    text = prose(text, path.suffix)
    for pattern in suspect:
        for found in pattern.finditer(text):
            yield text.count("\n", 0, found.start()) + 1, " ".join(found[0].split())


def prose(text: str, suffix: str) -> str:
    """Blank all that is not prose; lines keep their numbers."""
    if suffix == ".md":
        for pattern in (FENCED, GENERATED, INDENTED, CODE):
            text = pattern.sub(_blank, text)
        return text
    if suffix == ".py":
        return _strings_and_comments(text)
    return _kept(text, [found.span() for found in IN_C.finditer(text)])


def _strings_and_comments(text: str) -> str:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    kept = {"COMMENT", "STRING", "FSTRING_MIDDLE"}
    spans = [
        (
            starts[token.start[0] - 1] + token.start[1],
            starts[token.end[0] - 1] + token.end[1],
        )
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if tokenize.tok_name[token.type] in kept
    ]
    return _kept(text, spans)


def _kept(text: str, spans: list[tuple[int, int]]) -> str:
    blank = re.sub(r"[^\n]", " ", text)
    parts, end = [], 0
    for start, stop in spans:
        parts += [blank[end:start], text[start:stop]]
        end = stop
    return "".join([*parts, blank[end:]])


def _blank(found: re.Match[str]) -> str:
    # A letter, so that what stands before and after does not join to a phrase.
    return re.sub(r"[^\n]", "~", found[0])
