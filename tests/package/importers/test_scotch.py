# SPDX-License-Identifier: BSD-3-Clause
"""Scotch targets are read and written, and checked with libscotch."""

from __future__ import annotations

import ctypes
import itertools
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.importers.scotch import (
    read_scotch_target,
    recognizes_scotch_target,
    write_scotch_target,
)

READ = [
    ("cmplt 5\n", "tree:5,distance=1"),
    ("hcub 3", "mesh:2x2x2"),
    ("mesh2D 3 4", "mesh:4x3"),
    ("mesh3D\n2\n3 4", "mesh:4x3x2"),
    ("meshXD 4 2 3 4 5", "mesh:5x4x3x2"),
    ("torus2D 3 4", "torus:4x3"),
    ("torus3D 3 4 5", "torus:5x4x3"),
    ("torusXD 5 2 3 2 3 4", "torus:4x3x2x3x2"),
    ("TORUS2D 3 4", "torus:4x3"),
    ("tleaf 2 4 10 8 1", "tree:8:4,distance=1:11"),
    ("tleaf 3 2 90 8 9 4 1", "tree:4:8:2,distance=1:10:100"),
    ("tleaf 4 16 500 2 100 2 50 2 10", "tree:2:2:2:16,distance=10:60:160:660"),
    ("tleaf 0", "tree:1,distance=1"),
    ("ltleaf 2 2 5 2 3 4 0 1 2 3", "tree:2:2,distance=3:8"),
    ("ltleaf 2 2 5 2 3 1 0", "tree:2:2,distance=3:8"),
]


@pytest.mark.parametrize(("target", "text"), READ)
def test_scotch_targets_are_read_as_machine_texts(target: str, text: str) -> None:
    assert recognizes_scotch_target(target)
    described = read_scotch_target(target)
    assert described.text == text
    assert described.hosts == ()
    Machine(text)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("tree:7,distance=1", "tleaf 1 7 1\n"),
        ("tree:1", "cmplt 1\n"),
        ("tree:4:8:2,distance=1:10:100", "tleaf 3 2 90 8 9 4 1\n"),
        ("tree:4:8:2,distance=1:1:100", "tleaf 2 2 99 32 1\n"),
        ("tree:4:1:2", "tleaf 2 2 4 4 2\n"),
        # By default, the next node is twice as far as any slot of the same node.
        ("tree:4+node:2,distance=9", "tleaf 2 4 9 2 9\n"),
        ("tree:4:8+node:16:2,distance=1:2:10", "tleaf 4 8 20 4 18 2 1 16 1\n"),
        ("torus:4x3", "torus2D 3 4\n"),
        ("torus:5x4x3,bandwidth=9.4GB/s", "torus3D 3 4 5\n"),
        ("torus:7", "torus2D 7 1\n"),
        ("torus:5x4x3x2", "torusXD 4 2 3 4 5\n"),
        ("mesh:4x1x3", "mesh2D 3 4\n"),
        ("mesh:9", "mesh2D 9 1\n"),
        ("torus:3x2,wrap=10", "torus2D 2 3\n"),
    ],
)
def test_machines_are_exported_as_scotch_targets(text: str, target: str) -> None:
    assert write_scotch_target(Machine(text)) == target


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph:2:0-1", "no target for a graph"),
        ("torus:4x4,wrap=10", "rings along some axes"),
        ("torus:4x4,nodes=2", "one terminal per router"),
        ("torus:4x4,nodes=2,hosts=free", "one terminal per router"),
        ("torus:4x4,cards=2", "one terminal per router"),
        ("torus:4x4+node:2", "one terminal per router"),
        ("torus:3x3x3x3x3x3", "at most 5 axes"),
        ("tree:4+node:2", "no distance 0"),
        ("tree:4+node:2,distance=9:1", "decrease towards the root"),
        (
            "tree:4+node:2,distance=1:2,port=0:1",
            "no distances to a node's NIC",
        ),
    ],
)
def test_machines_that_scotch_cannot_express_are_refused(
    text: str, message: str
) -> None:
    with pytest.raises(Error, match=message):
        write_scotch_target(Machine(text))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("", "line 1: the text ends where the name"),
        ("mseh2D 3 4", "line 1: 'mseh2d' is not a Scotch target; cmplt, hcub"),
        ("deco 0\n3 5\n", "line 1: a 'deco' target is a decomposition .* can be read"),
        ("sub 2 0 1 cmplt 4", "a 'sub' target is a part of another"),
        ("cmpltw 2 1 3", "a 'cmpltw' target weighs its terminals"),
        ("varcmplt", "has no size; write cmplt"),
        ("varhcub", "has no size; write hcub"),
        ("mesh2D\n3\n", "line 2: the text ends where the extent"),
        ("mesh2D\n3 x", "line 2: found 'x', but expected the extent of an axis"),
        ("mesh2D 3 0", "the extent of an axis is 0, expected 1 to"),
        ("mesh2D 3 -1", "found '-1', but expected"),
        ("mesh2D 3 4\n5", "line 2: '5' follows a complete target"),
        ("meshXD 33 1", "the number of axes is 33, expected 1 to 32"),
        ("torus3D 2000 2000 2000", r"more than 2\^18 terminals"),
        ("hcub 31", "dimensions is 31, expected 1 to 30"),
        ("tleaf 2 4 10 8", "ends where the cost of a level"),
        ("tleaf 2 4 2147483647 8 1", "costs add up"),
        ("ltleaf 2 2 5 2 3 4 1 0 2 3", "the labels of this ltleaf"),
        ("cmplt 99999999999999999999", "but expected the number of terminals"),
    ],
)
def test_malformed_targets_name_the_line(target: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        read_scotch_target(target)


def test_only_scotch_targets_are_recognized() -> None:
    for text in ("", "# mesh2D 3 4", "torus:4x4", "mesh2D", "4 4\n2\n", "<cluster/>"):
        assert recognizes_scotch_target(text) == (text == "mesh2D")


arities = st.lists(st.integers(2, 4), min_size=1, max_size=3)


@st.composite
def draw_machine_text(draw: st.DrawFn) -> str:
    sizes = draw(arities)
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["torus", "mesh"]))
        return f"{kind}:" + "x".join(map(str, sizes))
    steps = draw(st.lists(st.integers(1, 9), min_size=3, max_size=3))
    distances = list(itertools.accumulate(steps))[: len(sizes)]
    levels, text = ":".join(map(str, sizes)), ":".join(map(str, distances))
    return f"tree:{levels},distance={text}"


def compute_distances(machine: Machine) -> list[list[int]]:
    slots = range(machine.slot_count)
    return [[machine.distance(a, b) for b in slots] for a in slots]


@given(draw_machine_text())
def test_exported_targets_are_read_back_with_their_distances(text: str) -> None:
    machine = Machine(text)
    target = write_scotch_target(machine)
    again = Machine(read_scotch_target(target).text)
    assert compute_distances(again) == compute_distances(machine)


class ScotchDistanceProgram:
    """A program that computes the distances of a target with libscotch."""

    def __init__(self) -> None:
        errors, library = (
            next(Path("/usr/lib").glob(f"*/lib{name}-7*.so"))
            for name in ("scotcherr", "scotch")
        )
        ctypes.CDLL(errors, mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(library)
        self.c = ctypes.CDLL(None)
        self.c.fopen.restype = ctypes.c_void_p

    def compute_distances(self, target: str, file: Path) -> list[list[int]]:
        """Return the distances between all pairs of terminals."""
        file.write_text(target)
        arch = ctypes.create_string_buffer(4096)
        self.library.SCOTCH_archInit(arch)
        stream = ctypes.c_void_p(self.c.fopen(str(file).encode(), b"r"))
        assert self.library.SCOTCH_archLoad(arch, stream) == 0
        self.c.fclose(stream)
        terminals = []
        for i in range(self.library.SCOTCH_archSize(arch)):
            terminals.append(ctypes.create_string_buffer(4096))
            assert self.library.SCOTCH_archDomTerm(arch, terminals[-1], i) == 0
        between = self.library.SCOTCH_archDomDist
        return [[between(arch, a, b) for b in terminals] for a in terminals]


@pytest.mark.parametrize(
    "target", [target for target, _ in READ if not target.startswith("meshXD")]
)
def test_distances_equal_libscotch(target: str, tmp_path: Path) -> None:
    # meshXD is left out because libscotch 7.0.3 treats its axes as rings.
    machine = Machine(read_scotch_target(target).text)
    expected = ScotchDistanceProgram().compute_distances(target, tmp_path / "t.tgt")
    assert compute_distances(machine) == expected


@pytest.mark.parametrize(
    "text",
    [
        "tree:4:8:2,distance=1:10:100",
        "tree:3:2+node:2,distance=1:10",
        "torus:4x3",
        "torus:3x4x5",
        "mesh:9",
        "mesh:2x3x2",
        "torus:3x2x3x2",
    ],
)
def test_libscotch_reads_exports(text: str, tmp_path: Path) -> None:
    machine = Machine(text)
    target = write_scotch_target(machine)
    assert ScotchDistanceProgram().compute_distances(
        target, tmp_path / "t.tgt"
    ) == compute_distances(machine)
