# SPDX-License-Identifier: BSD-3-Clause
"""Damages one part of a valid machine file, and decides whether readers notice.

A part is an element, attribute, key, word or line end. Readers must refuse the mutant,
add a remark, or read an equal machine. Not used are mutants that are valid files of
other machines: other values, fewer hosts, no attribute that has a default.
"""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from topoloom import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.machines.import_formats import Importer

_XML = ("hwloc", "nccl", "simgrid")
_JSON = ("aws", "google", "oracle", "kubernetes")
_KEYS = ("slurm-conf", "slurm-nodes", "slurm-yaml", "xtdb2proc")
#: Format -> attributes and keys that may be absent: the format has a default for them,
#: or they only name what they describe.
_OPTIONAL: dict[str, tuple[str, ...]] = {
    "simgrid": (
        *("bb_bw", "bb_lat", "bb_sharing_policy", "core", "latency", "limiter_link"),
        *("loopback_bw", "loopback_lat", "sharing_policy", "symmetrical", "topology"),
        *("direction",),
    ),
    "hwloc": ("subtype",),
}
_ATTRIBUTE = re.compile(r"\s([\w-]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_CUTS = 40


class Mutant(NamedTuple):
    """A damaged file, and what was done to it."""

    damage: str
    text: str


def list_mutants(name: str, text: str) -> Iterator[Mutant]:
    """Yield all mutants of a file of the format `name`, in random order."""
    if name in _XML:
        mutants = [*_damage_xml(name, text), *_cut_anywhere(text)]
    elif name in _JSON:
        mutants = [*_damage_json(text), *_cut_anywhere(text)]
    elif name in _KEYS:
        mutants = list(_rename_keys(text))
    else:
        mutants = list(_drop_words(text))
    random.Random(name).shuffle(mutants)
    yield from mutants


def _damage_xml(name: str, text: str) -> Iterator[Mutant]:
    for tag in re.finditer(r"<(\w[\w-]*)", text):
        yield _rename(text, tag)
    for attribute in _ATTRIBUTE.finditer(text):
        yield _rename(text, attribute)
        if attribute[1] not in _OPTIONAL.get(name, ()):
            start, end = attribute.span()
            yield Mutant(f"without{attribute[0]}", text[:start] + text[end:])


def _damage_json(text: str) -> Iterator[Mutant]:
    for key in re.finditer(r"\"([\w./-]+)\"\s*:", text):
        yield _rename(text, key)
    document = json.loads(text)
    for where in _list_paths(document):
        copy = json.loads(text)
        inner = copy
        for step in where[:-1]:
            inner = inner[step]
        del inner[where[-1]]
        yield Mutant(f"without {where}", json.dumps(copy))


def _list_paths(value: Any) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each key of each object."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inside:
        if isinstance(value, dict):
            yield (key,)
        if isinstance(part, dict | list):
            yield from ((key, *path) for path in _list_paths(part))


def _rename_keys(text: str) -> Iterator[Mutant]:
    """Rename keys, and cut the file inside of them."""
    for key in re.finditer(r"\b([A-Za-z_]\w*)(?:[ \t]*=|:\s)", text):
        if "#" in text[text.rfind("\n", 0, key.start()) + 1 : key.start()]:
            continue  # a comment
        yield _rename(text, key)
        yield Mutant(f"cut in {key[1]}", text[: key.end(1)])


def _drop_words(text: str) -> Iterator[Mutant]:
    """Drop one word of a line, or the last words of the file's last line."""
    for line in re.finditer(r"[^\n]+", text):
        words = list(re.finditer(r"[ \t]*\S+", line[0]))
        for number, word in enumerate(words):
            if len(words) == 1:
                continue
            start, end = (line.start() + at for at in word.span())
            yield Mutant(f"without {word[0]} of {line[0]}", text[:start] + text[end:])
            if number:
                yield Mutant(f"cut before {word[0]} of {line[0]}", text[:start])


def _cut_anywhere(text: str) -> Iterator[Mutant]:
    size = len(text.rstrip())
    for at in range(1, size, max(1, size // _CUTS)):
        yield Mutant(f"cut after {text[:at][-20:]!r}", text[:at])


def _rename(text: str, name: re.Match[str]) -> Mutant:
    start = name.start(1)
    line = 1 + text.count("\n", 0, start)
    return Mutant(
        f"renamed {name[1]} of line {line}", f"{text[:start]}zz{text[start:]}"
    )


def is_noticed(importer: Importer, original: str, mutant: str) -> bool:
    """Return whether a damaged file is refused, has a remark, or is equal."""
    if not importer.recognizes(mutant):
        return True
    try:
        found = importer.read(mutant)
    except Error:
        return True
    valid = importer.read(original)
    added = {*found.remarks, *found.missing} - {*valid.remarks, *valid.missing}
    return bool(added) or _without_remarks(found) == _without_remarks(valid)


def _without_remarks(described: MachineDescription) -> MachineDescription:
    return dataclasses.replace(described, remarks=(), missing=())
