# SPDX-License-Identifier: BSD-3-Clause
"""Finds the external symbols that C sources define and use, from their text.

Object files contain the same symbols, but require an MPI and a build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

IGNORED = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
MACRO = re.compile(r"[ \t]*#\s*define\s+(\w+)(.*)", re.DOTALL)
#: A member of a struct is not a use of a function or variable with the same name.
WORD = re.compile(r"(?<!\.)(?<!->)\b[A-Za-z_]\w*")
#: `name(arguments)` before the body of a function, optionally with attributes.
FUNCTION = re.compile(
    r"(\w+)\s*\((?:[^()]|\([^()]*\))*\)\s*(?:__attribute__.*)?$", re.DOTALL
)
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^]]*\]\s*)*$")
TYPE = re.compile(r"\b(?:struct|union|enum)\s+\w+")


class SourceSymbols(NamedTuple):
    """The symbols of one C file.

    Attributes
    ----------
    defined
        Functions and variables with external linkage that the file defines.
    used
        Identifiers outside inline functions and macros.
    expansions
        Names of macros and static functions -> identifiers in their definitions.
    """

    defined: set[str]
    used: set[str]
    expansions: dict[str, set[str]]


def read_symbols(text: str) -> SourceSymbols:
    """Read the symbols of a C source or header."""
    code = IGNORED.sub(lambda found: '""' if found[0][0] in "\"'" else " ", text)
    expansions: dict[str, set[str]] = {}
    for directive in DIRECTIVE.findall(code):
        if macro := MACRO.match(directive):
            expansions.setdefault(macro[1], set()).update(WORD.findall(macro[2]))
    defined, used = set(), set()
    for head, body in _split_declarations(DIRECTIVE.sub("", code)):
        function = FUNCTION.search(head) if body is not None else None
        words = set(WORD.findall(f"{head} {body or ''}"))
        if function and re.search(r"\bstatic\b", head):
            expansions.setdefault(function[1], set()).update(words)
        elif function:
            defined.add(function[1])
            used |= words
        elif "(" not in head.partition("=")[0]:
            used |= words
            if not re.search(r"\b(?:static|extern|typedef)\b", head):
                defined |= _find_variables(head)
    return SourceSymbols(defined, used, expansions)


def _split_declarations(code: str) -> Iterator[tuple[str, str | None]]:
    """Split a file into declarations: pairs of a head and a body in braces, or None."""
    depth, start, body = 0, 0, 0
    for sign in re.finditer(r"[{};]", code):
        if sign[0] == "{":
            body = sign.start() if depth == 0 else body
            depth += 1
        elif sign[0] == "}":
            depth -= 1
            if depth == 0 and FUNCTION.search(code[start:body].strip()):
                yield code[start:body].strip(), code[body : sign.end()]
                start = sign.end()
        elif depth == 0:
            whole = code[start : sign.start()].strip()
            head, brace, rest = whole.partition("{")
            yield (head.strip(), rest) if brace else (whole, None)
            start = sign.end()


def _find_variables(head: str) -> set[str]:
    """Return the name of the variable that a declaration defines, if it defines one."""
    is_variable = "=" in head or len(TYPE.sub("type ", head).split()) > 1
    found = VARIABLE.search(head.partition("=")[0].strip()) if is_variable else None
    return {found[1]} if found else set()


def find_references(sources: Mapping[str, SourceSymbols]) -> dict[str, set[str]]:
    """Map each source to those whose symbols it uses, directly or through macros."""
    headers = [s for name, s in sources.items() if name.endswith(".h")]
    shared = {key: words for s in headers for key, words in s.expansions.items()}
    units = {name: s for name, s in sources.items() if not name.endswith(".h")}
    home = {symbol: name for name, s in units.items() for symbol in s.defined}
    references = {}
    for name, source in units.items():
        expansions = shared | source.expansions
        reached: set[str] = set()
        waiting = [*source.used, *set().union(*source.expansions.values())]
        while waiting:
            word = waiting.pop()
            if word not in reached:
                reached.add(word)
                waiting += expansions.get(word, ())
        references[name] = {home[word] for word in reached & home.keys()} - {name}
    return references
