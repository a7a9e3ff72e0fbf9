# SPDX-License-Identifier: BSD-3-Clause
"""Machines from Slurm files: topology.conf, topology.yaml, switch addresses."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.importers.machine_description import MachineDescription, Selection
from topoloom.importers.slurm.topology_address import read_slurm_address
from topoloom.importers.slurm.topology_conf import read_slurm_conf
from topoloom.importers.slurm.topology_yaml import read_slurm_yaml
from topoloom.machines.import_formats import IMPORTERS

TREE = """\
# Two islands, wired in 2024
switchname=core Switches=leaf[0-1] LinkSpeed=400  # here, the root is the first line
SwitchName=leaf0  Nodes=n[00-02]
SWITCHNAME=leaf1  Nodes=n03,\\
n[04-05]
"""
PRINTED = """\
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-7]
SwitchName=s2 Level=0 LinkSpeed=1 Nodes=tux[8-11]
SwitchName=s3 Level=0 LinkSpeed=1 Nodes=tux[12-15]
SwitchName=s4 Level=1 LinkSpeed=1 Nodes=tux[0-7] Switches=s[0-1]
SwitchName=s5 Level=1 LinkSpeed=1 Nodes=tux[8-15] Switches=s[2-3]
SwitchName=s6 Level=2 LinkSpeed=1 Nodes=tux[0-15] Switches=s[4-5]
"""
BLOCKS = """\
BlockName=b1 Nodes=node[01-04]
BlockName=b2 Nodes=node[05-08]
BlockName=b3 Nodes=node[09-12]
BlockSizes=2,4
"""
PRINTED_BLOCKS = """\
BlockName=b0 BlockIndex=0 Nodes=10.1.7.10,10.1.8.11 BlockSize=2
BlockName=b1 BlockIndex=1 Nodes=10.1.7.15,10.1.9.12 BlockSize=2
AggregatedBlock=b[0-1] BlockIndex=2 Nodes=10.1.7.10,10.1.7.15,10.1.8.11 BlockSize=4
"""
YAML = """\
- topology: flat
  flat: true
- topology: islands
  cluster_default: true
  tree:
    switches:
      - switch: core
        children: leaf[0-1]
      - switch: leaf0
        nodes: n[00-02]
      - switch: leaf1
        nodes: n[03-05]
"""
TORUS = """\
- topology: cube
  torus3d:
    toruses:
      - name: t0
        dims: {x: 2, y: 3, z: 2}
        nodes: n[0-11]
        placements:
          - dims: {x: 2, y: 1, z: 1}
"""
REGIONS = """\
- topology: cube
  torus3d:
    toruses:
      - name: t0
        dims: {x: 2, y: 2, z: 1}
        regions:
          - anchor: {x: 1, y: 0, z: 0}
            dims: {x: 1, y: 2, z: 1}
            nodes: b[0-1]
          - {anchor: {x: 0, y: 0, z: 0}, dims: {x: 1, y: 2, z: 1}, nodes: "a[0-1]"}
"""
ADDRESSES = """\
2: n3 core.leaf1.n3
0: n1 core.leaf0.n1
1: n1 core.leaf0.n1
3: n4.cluster core.leaf1.n4
4: n2 core.leaf0.n2
"""
SIX = tuple(f"n{i:02}" for i in range(6))


@pytest.mark.parametrize(
    ("text", "machine", "hosts"),
    [
        (TREE, "tree:3:2", SIX),
        (PRINTED, "tree:4:2:2", tuple(f"tux{i}" for i in range(16))),
        (BLOCKS, "tree:4:3", tuple(f"node{i:02}" for i in range(1, 13))),
        (
            PRINTED_BLOCKS,
            "tree:2:2",
            ("10.1.7.10", "10.1.8.11", "10.1.7.15", "10.1.9.12"),
        ),
        ("BlockName=b Nodes=a,b", "tree:2", ("a", "b")),
        ("RingName=r0 Nodes=n[08-10,01]", "torus:4", ("n08", "n09", "n10", "n01")),
        ('SwitchName="s 0" Nodes="a, b"', "tree:2", ("a", "b")),
        (
            "SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=c\n"
            "SwitchName=r Switches=s1,s0",
            "graph:3+3:1-3,2-3,0-4,5-4,5-3",
            ("c", "a", "b"),
        ),
        (YAML, "tree:3:2", SIX),
        (
            "- topology: b\n  block: {block_sizes: [2], blocks: "
            "[{block: x, nodes: 'n[1-2]'}, {block: y, nodes: 'n[3-4]'}]}",
            "tree:2:2",
            ("n1", "n2", "n3", "n4"),
        ),
        (
            "- topology: r\n  ring:\n    rings:\n    - ring: r1\n      nodes: n[3,1,2]",
            "torus:3",
            ("n3", "n1", "n2"),
        ),
        (
            TORUS,
            "torus:2x3x2",
            tuple(
                f"n{x + 2 * (y + 3 * z)}"
                for x in range(2)
                for y in range(3)
                for z in range(2)
            ),
        ),
        (REGIONS, "torus:2x2x1", ("a0", "a1", "b0", "b1")),
        (ADDRESSES, "tree:2:2", ("n3", "n4.cluster", "n1", "n2")),
        ("10.0.0.7 top.leaf.10.0.0.7", "tree:1:1", ("10.0.0.7",)),
    ],
)
def test_slurm_topologies_give_a_machine_and_its_hosts(
    text: str, machine: str, hosts: tuple[str, ...]
) -> None:
    (importer,) = (entry for entry in IMPORTERS if entry.recognizes(text))
    described = importer.read(text)
    remarks = {
        YAML: ("topology islands: others are not read: flat",),
        TORUS: ("placements of jobs ignored: 1",),
    }
    assert replace(described, switches=()) == MachineDescription(
        machine, hosts, network="", remarks=remarks.get(text, ())
    )
    assert Machine(described.text).node_count == len(hosts)


LEAVES = ("SwitchName=s0 Nodes=a[0-1]", "SwitchName=s1 Nodes=a[2-3]")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["SwitchName=s0 Nodes=b"], "line 3: switch s0 is listed twice, first on .* 1"),
        (["SwitchName=s2 Nodes=a1"], r"line 3: node a1 .* under s0 \(line 1\)"),
        ([], r"line 2: no switch joins s1 to s0 \(line 1\): both are roots"),
        (["SwitchName=r Switches=s[0-2]"], "line 3: .* has the child s2, which no"),
        (["SwitchName=r Switches=s[0-1],r"], "line 3: switch r is above itself"),
        (["SwitchName=r"], "line 3: switch r has neither nodes nor"),
        (["SwitchName=r Nodes=b Switches=s0"], "line 3: switch r has both Nodes and"),
        (["SwitchName=r Switches=s[0-1]", "Include other.conf"], "line 4: cannot read"),
        (
            ["SwitchName=r SwitchNode=s[0-1]"],
            "line 3: no key 'SwitchNode'; there are: Sw",
        ),
        (["SwitchName=r Switches=s0 Switches=s1"], "line 3: Switches is given twice"),
        (["SwitchName=r Switches=s[0-"], "line 3: host list .* brackets"),
        (["BlockName=r Nodes=b"], "line 3: BlockName appears beside SwitchName"),
        (["Nodes=b"], "line 3: a line must have exactly one of SwitchName"),
        (
            ["SwitchName=r Switches=s[0-1]", "SwitchName=q Switches=s0"],
            r"line 4: switch s0 is a child of q and of r \(line 3\)",
        ),
        (
            [
                "SwitchName=r Switches=s[0-1]",
                "",
                "SwitchName=x Switches=y",
                "SwitchName=y Switches=z",
                "SwitchName=z Switches=x",
            ],
            "line [567]: switch [xyz] is above itself",
        ),
        (["SwitchName=r Nodes=x[1-9999999]"], "line 3: .* over 500000"),
        (["SwitchName=r Level=1 Nodes=a[0-2] Switches=s[0-1]"], "line 3: node a3 is"),
    ],
)
def test_a_wrong_tree_is_refused_by_line(lines: list[str], message: str) -> None:
    with pytest.raises(Error, match=f"^{message}"):
        read_slurm_conf("\n".join([*LEAVES, *lines]))


def test_a_cycle_of_switches_is_refused() -> None:
    chain = [f"SwitchName=s{i} Switches=s{i + 1}" for i in range(100)]
    with pytest.raises(Error, match=r"^line 65: .* over 64 levels below the root"):
        read_slurm_conf("\n".join([*chain, "SwitchName=s100 Nodes=a"]))


def test_two_rings_are_refused_unless_one_is_chosen() -> None:
    rings = "RingName=r0 Nodes=a\nRingName=r1 Nodes=b"
    with pytest.raises(Error, match=r"^line 2: ring r1 is not joined to ring r0"):
        read_slurm_conf(rings)
    assert read_slurm_conf(rings, part="r1").hosts == ("b",)


def read_case(name: str, **selection: str) -> MachineDescription:
    """Read a small input that was refused in the past."""
    text = (Path(__file__).parent / "data" / name).read_text()
    (importer,) = (entry for entry in IMPORTERS if entry.recognizes(text))
    return importer.read(text, Selection(**selection))


def test_each_of_several_networks_can_be_read() -> None:
    """A tree, and a switch without a link to it."""
    with pytest.raises(Error, match=r"both are roots; .* --part NAME.*: spine, no-t"):
        read_case("tworoots.conf")
    tree = read_case("tworoots.conf", part="spine")
    assert (tree.text, len(tree.hosts)) == ("tree:4:2", 8)
    assert tree.remarks == ("part spine: 2 nodes outside it left out",)
    alone = read_case("tworoots.conf", part="no-topology")
    assert (alone.text, alone.hosts) == ("tree:2", ("c1", "c2"))
    assert alone.remarks == ("part no-topology: 8 nodes outside it left out",)
    with pytest.raises(Error, match=r"part 'spin'.*spine"):
        read_case("tworoots.conf", part="spin")
    with pytest.raises(Error, match="topology"):
        read_case("tworoots.conf", topology="tree")


def test_any_topology_of_a_file_can_be_read() -> None:
    """The default topology is flat."""
    with pytest.raises(Error, match=r"line 3: a flat .* --topology NAME': tree_topo"):
        read_case("flatdefault.yaml")
    tree = read_case("flatdefault.yaml", topology="tree_topo")
    assert (tree.text, tree.hosts[::7]) == ("tree:4:2", ("node1", "node8"))
    assert tree.remarks == ("topology tree_topo: others are not read: flat_topo",)
    part = read_case("flatdefault.yaml", topology="tree_topo", part="s2")
    assert part.hosts == ("node5", "node6", "node7", "node8")
    with pytest.raises(Error, match="topology 'tree'"):
        read_case("flatdefault.yaml", topology="tree")


def test_places_of_a_torus_without_a_node_are_vacant() -> None:
    described = read_slurm_yaml(REGIONS.replace("{x: 2, y: 2", "{x: 2, y: 3"))
    assert described.text == "torus:2x3x1"
    assert described.hosts == ("a0", "a1", "vacant_2", "b0", "b1", "vacant_5")
    assert described.remarks == ("2 of 6 places have no node: vacant",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected one YAML document, found 0"),
        ("- topology: a\n---\n- topology: b", "line 1: expected one YAML document"),
        ("topology: a", "line 1: expected a list of topologies"),
        ("[]", "line 1: there is no topology"),
        ("- topology: a", "line 1: a topology has exactly one of tree, block"),
        ("- topology: a\n  flat: true", "line 2: a flat topology contains no nodes"),
        ("- topology: a\n  flat: true\n  flat: true", "line 3: the key 'flat'"),
        ("- topology: a\n- topology: b", "line 2: none of 2 topologies"),
        ("- topology: a\n  cluster_default: 7", "line 2: '7' is not true or false"),
        ("- topology: a\n  tree: x", "line 2: expected keys, such as 'switches: ...'"),
        ("- topology: a\n  tree: {x: y}", "line 2: the key 'switches' is missing"),
        ("- topology: a\n  tree: {switches: []}", "line 1: there is no switch"),
        ("- &a topology: *a", "line 1: YAML aliases are not supported"),
        ("- topology: [\n  a", "line 3: not YAML: "),
        ("- topology: a\n\tb: c", "line 2: not YAML: "),
        ("- topology: \x00", "line 1: not YAML: "),
        ("- topology: \ud800", "line 1: not YAML: "),
        ("[" * 200, "line 1: nested over 32 deep"),
        (YAML.replace("n[03-05]", "n[02-05]"), "line 11: node n02 is under"),
        (YAML.replace("n[03-05]", "[]"), "line 12: expected a string|line 12: host"),
        (YAML + "        children: x\n", "line 11: switch leaf1 has both nodes"),
        (TORUS.replace("x: 2", "x: two"), "line 5: 'two' is not an integer"),
        (TORUS.replace("x: 2", "x: 0"), "line 5: 0 is not from 1"),
        (TORUS.replace("x: 2, y: 3", "x: 9999, y: 9999"), "line 4: a torus of"),
        (TORUS.replace("0-11", "0-10"), "line 4: 2x3x2 has 12 places, but 11"),
        (TORUS.replace("[0-11]", "[0-10,0]"), r"line 4: node n0 at \(1,2,1\)"),
        (REGIONS.replace("x: 1, y: 0", "x: 0, y: 0"), r"line 10: node a0 at \(0,0,0\)"),
        (REGIONS.replace("x: 1, y: 0", "x: 1, y: 1"), "line 7: the region .* leaves"),
    ],
)
def test_wrong_yaml_is_refused_by_line(text: str, message: str) -> None:
    with pytest.raises(Error, match=f"^({message})"):
        read_slurm_yaml(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: there is no line"),
        ("n1 s0.n1\nn2", "line 2: expected a host and its SLURM_TOPOLOGY_ADDR"),
        ("n1 s0.n2", "line 1: expected a host"),
        ("n1 n1", "line 1: expected a host"),
        ("n1 s0.n1\n\nn1 s1.n1", "line 3: node n1 is under s1, but line 1 says s0"),
        ("n1 r.s0.n1\nn2 q.s0.n2", "line 2: switch s0 is at q, but line 1 has it at r"),
        ("n1 r.n1\nn2 q.n2", r"line 2: no switch joins q to r \(line 1\)"),
        (f"n1 {'.'.join(map(str, range(70)))}.n1", "line 1: over 64 switches"),
    ],
)
def test_wrong_addresses_are_refused_by_line(text: str, message: str) -> None:
    with pytest.raises(Error, match=f"^{message}"):
        read_slurm_address(text)


SHAPES: st.SearchStrategy[Any] = st.recursive(
    st.integers(1, 4),
    lambda below: st.lists(below, min_size=1, max_size=4),
    max_leaves=8,
)


class SlurmTree:
    """Writes a tree in every format; a shape is a node count or a list of subtrees."""

    def __init__(self, shape: Any) -> None:
        self.conf: list[str] = []
        self.yaml: list[str] = []
        self.above: dict[str, list[str]] = {}  # switches from the root to a node
        self._add_subtree(shape, [])

    def _add_subtree(self, shape: Any, above: list[str]) -> str:
        path = [*above, f"s{'_'.join(above)}x{len(self.conf)}"]
        if isinstance(shape, int):
            nodes = [f"n{len(self.above) + i}" for i in range(shape)]
            self.above.update(dict.fromkeys(nodes, path))
            self._add_switch(path[-1], "Nodes", "nodes", nodes)
        else:
            below = [self._add_subtree(child, path) for child in shape]
            self._add_switch(path[-1], "Switches", "children", below)
        return path[-1]

    def _add_switch(self, name: str, conf: str, yaml: str, below: list[str]) -> None:
        self.conf.append(f"SwitchName={name} {conf}={','.join(below)}")
        self.yaml.append(f"{{switch: {name}, {yaml}: '{','.join(below)}'}}")

    def count_hops(self, a: str, b: str) -> int:
        """Count the links up to the lowest common switch and down."""
        up, down = self.above[a], self.above[b]
        common = sum(s == t for s, t in zip(up, down, strict=False))
        return 0 if a == b else 2 + len(up) + len(down) - 2 * common


@given(SHAPES, st.randoms(use_true_random=False))
def test_any_tree_is_read_identically_from_every_format(
    shape: Any, rng: random.Random
) -> None:
    tree = SlurmTree(shape)
    rng.shuffle(tree.conf)
    rng.shuffle(tree.yaml)
    addresses = [f"{n} {'.'.join(path)}.{n}" for n, path in tree.above.items()]
    for described in (
        read_slurm_conf("\n".join(tree.conf)),
        read_slurm_yaml(
            f"[{{topology: t, tree: {{switches: [{','.join(tree.yaml)}]}}}}]"
        ),
        read_slurm_address("\n".join(addresses)),
    ):
        assert described.hosts == tuple(tree.above)
        machine = Machine(described.text)
        for i, a in enumerate(described.hosts):
            for j, b in enumerate(described.hosts):
                assert machine.hops(i, j) == tree.count_hops(a, b)


def is_regular(shape: Any) -> bool:
    if isinstance(shape, int):
        return True
    return all(part == shape[0] for part in shape) and is_regular(shape[0])


@given(SHAPES)
def test_only_regular_trees_have_a_tree_text(shape: Any) -> None:
    text = read_slurm_conf("\n".join(SlurmTree(shape).conf)).text
    assert text.startswith("tree:" if is_regular(shape) else "graph:")


def test_without_pyyaml_the_error_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(Error, match=r"PyYAML: pip install 'topoloom\[cli\]'"):
        read_slurm_yaml(YAML)


def test_yaml_is_read_identically_without_libyaml(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_library = read_slurm_yaml(YAML)
    monkeypatch.delattr("yaml.CSafeLoader", raising=False)
    assert read_slurm_yaml(YAML) == with_library
    with pytest.raises(Error, match=r"^line 1: nested over 32 deep"):
        read_slurm_yaml("[" * 5000)
    with pytest.raises(Error, match=r"^line 1: not YAML"):
        read_slurm_yaml("- topology: \x00")
