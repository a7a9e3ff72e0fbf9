# SPDX-License-Identifier: BSD-3-Clause
"""Reads hypergraphs in the formats of Zoltan's driver and PaToH.

Zoltan's header is ``vertices hyperedges pins NM``, with N weights per vertex and M per
hyperedge. PaToH's is ``base vertices hyperedges pins [weights]``, with weights 0
(none), 1 (vertices), 2 (hyperedges) or 3 (both). One line per hyperedge follows, with
the weight first. The weights of vertices follow on one or several lines.
"""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from topoloom._core import CommGraph, Error
from topoloom.support.files import read_text
from topoloom.tasks.balancing.hypergraph import Hypergraph
from topoloom.tasks.balancing.task_list import MAX_BYTES, parse_integer

#: Exclusive upper limit on numbers of vertices, hyperedges and pins.
MAX_VERTICES = 2**32 - 1
#: Hyperedges with more pins are approximated by a star of pairs instead of all pairs.
MAX_PAIRED = 32
#: Weights of pairs are exact if their sum is at most this limit, else rounded.
MAX_SHARES = 2**50


def read_hypergraph(path: str | Path, count: int) -> Hypergraph:
    """Read a hypergraph of `count` vertices, with loads.

    A hyperedge of weight w with k pins is replaced by all pairs of its pins, each of
    weight w / (k - 1). If one task is separated from the others, the cut weight is w,
    as in the hypergraph.

    Raises
    ------
    Error
        If the file is invalid, as ``file:line: reason``.
    """
    lines = _LineReader(path)
    head = _read_header(lines)
    if head.vertices != count:
        lines.fail(f"there are {head.vertices} vertices, but ranks of {count}")
    hyperedges: list[tuple[int, list[int]]] = []
    seen = 0
    for number in range(head.edges):
        words = lines.read_words(f"hyperedge {number + 1} of {head.edges}")
        weight = 1
        if head.edge_weights:
            weight = lines.parse_number(
                words, 0, "the weight of a hyperedge", MAX_BYTES
            )
            words = words[1:]
        pins = [
            lines.parse_number(words, i, "a pin", MAX_VERTICES) - head.base
            for i in range(len(words))
        ]
        if any(not 0 <= pin < count for pin in pins):
            lines.fail(f"pins are {head.base} to {head.base + count - 1}")
        seen += len(pins)
        hyperedges.append((weight, list(dict.fromkeys(pins))))
    if seen != head.pins:
        raise Error(
            f"{path}: the header announces {head.pins} pins, but there are {seen}"
        )
    loads = np.ones(count)
    if head.vertex_weights:
        loads[:] = lines.read_weights(count, head.base)
    lines.check_end()
    if sum(weight * len(pins) for weight, pins in hyperedges) >= MAX_BYTES:
        raise Error(f"{path}: the weights of all pins add up to 2^62 or more")
    scale = _choose_scale(hyperedges)
    rows = [
        row for weight, pins in hyperedges for row in _make_pairs(pins, weight, scale)
    ]
    source, target, shares = np.array(rows, np.int64).reshape(-1, 3).T
    return Hypergraph(
        np.array([weight for weight, _ in hyperedges], np.int64),
        np.repeat(np.arange(len(hyperedges)), [len(pins) for _, pins in hyperedges]),
        np.array([pin for _, pins in hyperedges for pin in pins], np.int64),
        CommGraph.from_edges(count, source, target, shares, load=loads),
        scale,
    )


def _choose_scale(hyperedges: list[tuple[int, list[int]]]) -> int:
    """Choose a factor that makes the weights of pairs integers, or nearly integers."""
    total = sum(weight * len(pins) for weight, pins in hyperedges)
    most = max(1, MAX_SHARES // max(1, total))
    scale = 1
    for weight, pins in hyperedges:
        if 2 < len(pins) <= MAX_PAIRED:
            others = len(pins) - 1
            scale = math.lcm(scale, others // math.gcd(weight, others))
        if scale > most:
            return most
    return scale


def _make_pairs(pins: list[int], weight: int, scale: int) -> list[tuple[int, int, int]]:
    if len(pins) > MAX_PAIRED:
        return [(pins[0], pin, weight * scale) for pin in pins[1:]]
    others = max(1, len(pins) - 1)
    share = (2 * weight * scale + others) // (2 * others)  # rounded to the nearest
    return [(u, v, share) for u, v in combinations(pins, 2)]


class _Header(NamedTuple):
    base: int
    vertices: int
    edges: int
    pins: int
    vertex_weights: bool
    edge_weights: bool


class _LineReader:
    """Reads lines one after another, and skips comments."""

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._lines = enumerate(read_text(path).splitlines(), start=1)
        self._at = 0

    def fail(self, what: str) -> NoReturn:
        raise Error(f"{self._path}:{self._at}: {what}")

    def read_words(self, what: str) -> list[str]:
        for number, line in self._lines:
            self._at = number
            if not line.startswith("%"):
                return line.split()
        raise Error(f"{self._path}: the file ends where {what} is expected")

    def parse_number(self, words: list[str], place: int, what: str, limit: int) -> int:
        if place >= len(words):
            self.fail(f"{what} is missing")
        return parse_integer(words[place], f"{self._path}:{self._at}: {what}", limit)

    def read_weights(self, count: int, base: int) -> list[int]:
        """Read one number per vertex; a line may contain any number of them."""
        found: list[int] = []
        while len(found) < count:
            words = self.read_words(f"the weight of vertex {len(found) + base}")
            if len(found) + len(words) > count:
                self.fail(f"more weights than the {count} vertices have")
            for i in range(len(words)):
                found.append(
                    self.parse_number(words, i, "the weight of a vertex", MAX_BYTES)
                )
        return found

    def check_end(self) -> None:
        for number, line in self._lines:
            if line.strip() and not line.startswith("%"):
                self._at = number
                self.fail("nothing more is expected")


def _read_header(lines: _LineReader) -> _Header:
    words = lines.read_words("the header")
    a, b, c, d = (
        lines.parse_number(words, i, "a number of the header", MAX_VERTICES)
        for i in range(4)
    )
    if a > 1:
        code = words[3].zfill(2)
        if len(words) != 4 or code not in ("00", "01", "10", "11"):
            lines.fail(
                "the header is 'vertices hyperedges pins NM', with N weights per "
                f"vertex and M per hyperedge, each 0 or 1, not '{' '.join(words)[:40]}'"
            )
        return _Header(1, a, b, c, code[0] == "1", code[1] == "1")
    weights = words[4] if len(words) > 4 else "0"
    if weights not in ("0", "1", "2", "3") or words[5:] not in ([], ["1"]):
        lines.fail("PaToH's weights are 0, 1, 2 or 3, one of each kind")
    return _Header(a, b, c, d, weights in ("1", "3"), weights in ("2", "3"))
