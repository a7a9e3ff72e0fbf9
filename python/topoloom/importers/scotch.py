# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes Scotch target files (``.tgt``); TreeMatch also uses ``tleaf``.

Terminal i of Scotch is node i. In meshes and tori, the first axis is fastest in Scotch
and the last axis in Topoloom, so the order of axes is reversed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from topoloom._core import Error, Machine, MachineText
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.torus_positions import MAX_ROUTERS

#: A target of a few bytes can name any number of terminals, which all take memory.
_MAX_TERMINALS = 2**18
#: Maximum sum of the costs in Scotch, whose numbers have 32 bits.
_MAX_COST = 2**31 - 1
_MAX_AXES = 32
#: Maximum number of axes in Scotch.
_SCOTCH_AXES = 5
_READABLE = (
    "cmplt, hcub, mesh2D, mesh3D, meshXD, torus2D, torus3D, torusXD, tleaf and ltleaf"
)
_REFUSED = {
    "cmpltw": "weighs its terminals; slots of a machine must be equal",
    "deco": "is a decomposition without its graph; pass the graph "
    "itself, as a METIS file",
    "sub": "is a part of another target; pass the whole target, and the part as "
    "an allocation",
    "varcmplt": "has no size; write cmplt and the number of terminals",
    "varhcub": "has no size; write hcub and the number of dimensions",
}
_NAMES = re.compile(
    r"\s*(?:cmpltw?|deco|l?tleaf|sub|varcmplt|(?:var)?hcub|(?:mesh|torus)[23X]D)\b"
    r"\s*(?:[0-9]|\Z)",
    re.IGNORECASE,
)


def recognizes_scotch_target(text: str) -> bool:
    """Return whether a text begins like a Scotch target file."""
    return _NAMES.match(text) is not None


def read_scotch_target(text: str) -> MachineDescription:
    """Read a target file as a tree, torus or mesh whose node i is terminal i."""
    words = _WordReader(text)
    name = words.read_word("the name of a target").lower()
    if name in _REFUSED:
        words.fail(f"a '{name}' target {_REFUSED[name]}; {_READABLE} can be read")
    if name not in _READERS:
        words.fail(f"'{name}' is not a Scotch target; {_READABLE} can be read")
    described = _READERS[name](words)
    words.require_end()
    return MachineDescription(described)


class _WordReader:
    """The words of a text with their line numbers."""

    def __init__(self, text: str) -> None:
        self._words = (
            (number, word)
            for number, line in enumerate(text.split("\n"), 1)
            for word in line.split()
        )
        self._line = 1

    def fail(self, what: str) -> None:
        raise Error(f"line {self._line}: {what}")

    def read_word(self, what: str) -> str:
        self._line, word = next(self._words, (self._line, ""))
        if not word:
            self.fail(f"the text ends where {what} is expected")
        return word

    def read_number(self, what: str, least: int, most: int = _MAX_TERMINALS) -> int:
        word = self.read_word(what)
        if not re.fullmatch(r"[0-9]{1,18}", word):
            self.fail(f"found '{word[:40]}', but expected {what}")
        if not least <= int(word) <= most:
            self.fail(f"{what} is {word}, expected {least} to {most}")
        return int(word)

    def require_terminals(self, sizes: list[int]) -> None:
        if math.prod(sizes) > _MAX_TERMINALS:
            self.fail("the target has more than 2^18 terminals")

    def require_end(self) -> None:
        for line, word in self._words:
            self._line = line
            self.fail(f"'{word[:40]}' follows a complete target; remove it")


def _read_complete_graph(words: _WordReader) -> str:
    return f"tree:{words.read_number('the number of terminals', 1)},distance=1"


def _read_hypercube(words: _WordReader) -> str:
    return "mesh:" + "x".join(
        "2" * words.read_number("the number of dimensions", 1, 30)
    )


def _make_grid_reader(kind: str, axes: int | None) -> Callable[[_WordReader], str]:
    def read(words: _WordReader) -> str:
        count = axes or words.read_number("the number of axes", 1, _MAX_AXES)
        sizes = [
            words.read_number("the extent of an axis", 1, MAX_ROUTERS)
            for _ in range(count)
        ]
        words.require_terminals(sizes)
        return f"{kind}:" + "x".join(str(size) for size in reversed(sizes))

    return read


def _read_tree(words: _WordReader) -> str:
    count = words.read_number("the number of levels", 0, _MAX_AXES)
    if count == 0:
        return "tree:1,distance=1"
    levels = [
        (
            words.read_number("the arity of a level", 1),
            words.read_number("the cost of a level", 0, _MAX_COST),
        )
        for _ in range(count)
    ]
    words.require_terminals([arity for arity, _ in levels])
    distance, distances = 0, []
    for _, cost in reversed(levels):
        distance += cost
        distances.append(distance)
    if distance > _MAX_COST:
        words.fail("the costs add up to more than 2^31 - 1")
    arities = ":".join(str(arity) for arity, _ in reversed(levels))
    return f"tree:{arities},distance={':'.join(map(str, distances))}"


def _read_labeled_tree(words: _WordReader) -> str:
    text = _read_tree(words)
    count = words.read_number("the length of the permutation", 1)
    for label in range(count):
        if words.read_number("a label of the permutation", 0) != label:
            words.fail(
                "the labels of this ltleaf are not 0, 1, 2, ...; number the "
                "terminals in order and write tleaf"
            )
    return text


_READERS: dict[str, Callable[[_WordReader], str]] = {
    "cmplt": _read_complete_graph,
    "hcub": _read_hypercube,
    **{
        f"{kind}{digit}d": _make_grid_reader(kind, axes)
        for kind in ("mesh", "torus")
        for digit, axes in (("2", 2), ("3", 3), ("x", None))
    },
    "tleaf": _read_tree,
    "ltleaf": _read_labeled_tree,
}


def write_scotch_target(machine: Machine) -> str:
    """Write a machine as a target whose terminal i is slot i.

    Levels inside the nodes of a tree become levels of the target; meshes and tori need
    one slot per node. Raises `topoloom.Error` for networks that Scotch cannot express.
    """
    kind = MachineText(machine.text).topology.name
    if kind in ("torus", "mesh"):
        return _write_grid(machine)
    if kind == "tree":
        return _write_tree(machine)
    raise Error(
        f"Scotch has no target for a {kind}; a tree, torus or mesh can be "
        "written (for others write a METIS graph)"
    )


def _write_grid(machine: Machine) -> str:
    if machine.slot_count != math.prod(machine.shape) or machine.host_hops:
        raise Error(
            "a Scotch mesh or torus has one terminal per router; leave out +node:, "
            "nodes= and cards= and place whole nodes"
        )
    sizes = [size for size in reversed(machine.shape) if size > 1]
    wraps = {
        wrap
        for size, wrap in zip(machine.shape, machine.wraps, strict=True)
        if size > 2
    }
    if len(wraps) > 1:
        raise Error("Scotch has no torus with rings along some axes only")
    if len(sizes) > _SCOTCH_AXES:
        raise Error(f"Scotch supports at most {_SCOTCH_AXES} axes, not {len(sizes)}")
    kind = "torus" if wraps == {True} else "mesh"
    sizes += [1] * (2 - len(sizes))  # Scotch 7.0.3 reads a line, meshXD 1 n, as a ring
    axes = f"{len(sizes)}" if len(sizes) <= 3 else "X"
    name = f"{kind}{axes}D" + (f" {len(sizes)}" if axes == "X" else "")
    return f"{name} {' '.join(map(str, sizes))}\n"


def _write_tree(machine: Machine) -> str:
    text = MachineText(machine.text)
    if text.node and "port" in dict(text.node.options):
        raise Error("Scotch has no distances to a node's NIC; omit port=")
    levels: list[tuple[int, int]] = []  # (arity, distance), bottom-up
    span = 1
    for arity in machine.levels + text.topology.sizes:
        if arity == 1:
            continue
        distance = machine.distance(0, span)
        span *= arity
        if distance < (levels[-1][1] if levels else 0):
            raise Error("Scotch has no tree whose distances decrease towards the root")
        if levels and distance == levels[-1][1]:
            levels[-1] = (levels[-1][0] * arity, distance)
        else:
            levels.append((arity, distance))
    if not levels:
        return "cmplt 1\n"
    if levels[0][1] == 0:
        raise Error(
            "Scotch has no distance 0 between terminals; set distances of the "
            "levels inside nodes, as +node:16:2,distance=1:2"
        )
    below = [0, *(distance for _, distance in levels[:-1])]
    pairs = [
        f"{arity} {distance - lower}"
        for (arity, distance), lower in zip(levels, below, strict=True)
    ]
    return f"tleaf {len(pairs)} {' '.join(reversed(pairs))}\n"
