# SPDX-License-Identifier: BSD-3-Clause
"""Loads machines from TOML, from METIS graphs, and by the names of the zoo."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error, Machine, load_machine
from topoloom.cli.completions import machines
from topoloom.machines import machine_toml
from topoloom.machines.machine_file import load_machine_and_hosts
from topoloom.machines.machine_names import zoo
from topoloom.machines.machine_toml import read_machine_toml
from topoloom.machines.machine_toml_writer import write_machine_toml
from topoloom.machines.machine_writers import save_machine
from topoloom.machines.topology_forms import section_forms

HEAD = 'format = "topoloom-machine"\nversion = 1\n'
TORUS = HEAD + '[topology]\nkind = "torus"\nsize = [4, 4]\n'


def read_text(body: str, tmp_path: Path) -> str:
    file = tmp_path / "m.toml"
    file.write_text(body)
    return read_machine_toml(file)[0].text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('kind = "torus"\nsize = [8, 8, 8]', "torus:8x8x8"),
        ('kind = "mesh"\nsize = [4]', "mesh:4"),
        ('kind = "torus"\nsize = [4, 4]\nwrap = [true, false]', "torus:4x4,wrap=10"),
        ('kind = "torus"\nsize = [4, 4]\nwrap = [true, true]', "torus:4x4"),
        ('kind = "torus"\nsize = [4, 4]\nnodes = 2', "torus:4x4,nodes=2"),
        ('kind = "torus"\nsize = [4, 4]\norder = "yx"', "torus:4x4,order=1:0"),
        ('kind = "torus"\nsize = [4, 4]\norder = [1, 0]', "torus:4x4,order=1:0"),
        ('kind = "torus"\nsize = [4, 4]\nties = "split"', "torus:4x4,ties=split"),
        (
            'kind = "torus"\nsize = [4, 4]\n'
            'bandwidth = { y = "half", "x+" = "1 GB/s", default = "9.4 GB/s" }\n'
            'latency = "1.3 us"',
            "torus:4x4,bandwidth=9.4GB/s,bandwidth.y=half,bandwidth.x+=1GB/s,"
            "latency=1.3us",
        ),
        (
            'kind = "tree"\nlevels = [4, 8]\ndistance = [1, 10]\n'
            'bandwidth = ["2 GB/s", "1 GB/s"]',
            "tree:4:8,distance=1:10,bandwidth=2GB/s:1GB/s",
        ),
        (
            'kind = "graph"\nnodes = 2\nswitches = 1\n'
            'links = [[0, 2], [1, 2, "2 GB/s"], "0>1"]\nbandwidth = "1 GB/s"\n'
            "routes = [[1, 2, 0]]",
            "graph:2+1:0-2,1-2@2GB/s,0>1,bandwidth=1GB/s,route=1>2>0",
        ),
    ],
)
def test_toml_descriptions_are_read_as_machine_texts(
    body: str, text: str, tmp_path: Path
) -> None:
    assert read_text(f"{HEAD}[topology]\n{body}\n", tmp_path) == text
    assert load_machine(tmp_path / "m.toml").text == text


def test_nodes_follow_the_network_in_the_text(tmp_path: Path) -> None:
    body = TORUS + "[node]\nlevels = [12, 2]\ndistance = [1, 10]\nhop_weight = 100\n"
    assert read_text(body, tmp_path) == "torus:4x4+node:12:2,distance=1:10:100"
    assert load_machine(tmp_path / "m.toml").slots_per_node == 24


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "m.toml: the file is empty"),
        ("size = [4\n", "m.toml:"),
        ("x = 1\n", "m.toml: format is None"),
        (HEAD.replace("machine", "graph"), "is a communication graph, not a machine"),
        (HEAD.replace("1", "2"), "version 2, but this Topoloom reads version 1"),
        (HEAD, "[topology] is missing"),
        (HEAD + "topology = 3\n", "[topology] must be a table"),
        (HEAD + "[topology]\n", "topology.kind is missing"),
        (HEAD + '[topology]\nkind = "tours"\n', "did you mean 'torus'"),
        (TORUS + "szie = 3\n", "did you mean 'topology.size'"),
        (TORUS.replace("4, 4", ""), "topology.size must be a list"),
        (TORUS.replace("4, 4", "-4"), "topology.size must be a list"),
        (TORUS.replace("4, 4", "4.5"), "topology.size must be a list"),
        (TORUS.replace("4, 4", "nan"), "topology.size must be a list"),
        (TORUS.replace("4, 4", "true"), "topology.size must be a list"),
        (TORUS + "wrap = [true]\n", "topology.wrap must be a list of 2"),
        (TORUS + 'order = "xx"\n', "topology.order must name each axis once"),
        (TORUS + "hosts = 3\n", "topology.hosts must be a host list"),
        (TORUS + "hosts = [3]\n", "topology.hosts must be a host list"),
        (TORUS + 'hosts = "n[3-1]"\n', "topology.hosts: host list"),
        (TORUS + 'hosts = "n[1-15]"\n', "15 host names for 16 nodes"),
        (TORUS + 'hosts = ["n[1-15]", "n1"]\n', "host n1 is named 2 times"),
        (TORUS + 'ties = "left"\n', "expected plus, split or simgrid"),
        (TORUS + 'nodes = "2"\n', "topology.nodes must be an integer"),
        (TORUS + "nodes = 0\n", "at least 1 node per router"),
        (TORUS + "bandwidth = 3\n", "topology.bandwidth must be a string with a unit"),
        (TORUS + 'bandwidth = "3 parsec"\n', "topology.bandwidth: cannot read"),
        (
            TORUS + 'bandwidth = { z = "1 GB/s" }\n',
            "topology.bandwidth.z: the axes are",
        ),
        (TORUS + 'latency = "-1 us"\n', "topology.latency: cannot read"),
        (TORUS + "[node]\n", "node.levels is missing"),
        (
            TORUS + "[node]\nlevels = [2]\ndistance = [1, 2]\n",
            "node.distance must have",
        ),
        (TORUS + "[node]\nlevels = [2]\nsockets = 2\n", "no key 'node.sockets'"),
        (TORUS + 'colour = "red"\n[extra]\n', "no key"),
        (HEAD + 'nmae = "x"\n[topology]\n', "did you mean 'name'"),
        (HEAD + '[topology]\nkind = "graph"\nnodes = 2\n', "topology.links"),
        (
            HEAD + '[topology]\nkind = "graph"\nnodes = 2\nlinks = [[0, 0.5]]\n',
            "topology.links[0] must be",
        ),
        (
            HEAD + '[topology]\nkind = "graph"\nnodes = 3\nlinks = [[0, 1]]\n',
            "m.toml: ",
        ),
    ],
)
def test_wrong_descriptions_name_file_and_key(
    body: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "m.toml"
    file.write_text(body)
    with pytest.raises(Error) as caught:
        load_machine(file)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(file))


def test_binary_machine_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "m.toml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Error, match="not a text file"):
        load_machine(file)


def test_a_metis_graph_is_a_machine_of_nodes(tmp_path: Path) -> None:
    file = tmp_path / "ring.graph"
    file.write_text("% a ring of four\n4 4 001\n2 1 4 3\n1 1 3 1\n2 1 4 1\n1 3 3 1\n")
    machine = load_machine(file)
    assert machine.node_count == 4
    assert machine.hops(0, 2) == 2
    fat = [link for link, _ in machine.route(0, 3)]
    thin = [link for link, _ in machine.route(0, 1)]
    assert machine.bandwidth(fat[0]) == 3 * machine.bandwidth(thin[0])


def test_a_links_file_can_contain_switches(tmp_path: Path) -> None:
    (tmp_path / "star.graph").write_text("3 2\n3\n3\n1 2\n")
    body = 'kind = "graph"\nnodes = 2\nlinks_file = "star.graph"\n'
    assert read_text(f"{HEAD}[topology]\n{body}", tmp_path) == "graph:2+1:0-2,1-2"


@pytest.mark.parametrize(
    "text",
    [
        "torus:8x8x8",
        "mesh:4x4",
        "torus:4x4,wrap=10,nodes=2,order=1:0,ties=split",
        "torus:4x4x4,bandwidth=9.4GB/s,bandwidth.y=half,bandwidth.z-=1GB/s,latency=1us",
        "torus:4x4,bandwidth.1+=double",
        "torus:4x4,bandwidth=1GB/s,bandwidth.1+=2GB/s",
        "torus:4x4,nodes=2",
        "torus:4x4,nodes=2,hosts=free",
        "mesh:4x4,cards=3,bandwidth=1GB/s,bandwidth.host=4GB/s,latency.host=90ns",
        "hyperx:3x3,hosts=free",
        "dragonfly:3x4,nodes=2,cards=4,bandwidth=1GB/s,latency=1us,latency.host=2us",
        "torus:4x4,nodes=2+node:2:2,distance=0:3",
        "torus:4x4,bandwidth.x=2GB/s,bandwidth=1GB/s",
        "tree:4:8:2,distance=1:10:100",
        "tree:4:8,bandwidth=2GB/s:1GB/s,latency=1us",
        "graph:4:0-1,1-2,2-3,3-0",
        "graph:2+1:0-2@2GB/s,1-2,bandwidth=1GB/s",
        "graph:3:0-1,1-2,0-2,route=0>1>2",
        "torus:8x8+node:16:2,distance=1:2",
        "torus:8x8+node:16:2,distance=1:2:10",
        "mesh:3+node:4",
    ],
)
def test_a_written_description_is_read_as_the_same_machine(
    text: str, tmp_path: Path
) -> None:
    machine = Machine(text)
    write_machine_toml(tmp_path / "m.toml", machine, "an example")
    again = load_machine(tmp_path / "m.toml")
    assert again.slot_count == machine.slot_count
    assert again.link_count == machine.link_count
    for a in range(0, machine.slot_count, 7):
        for b in range(machine.slot_count):
            assert again.distance(a, b) == machine.distance(a, b)
    for link in range(machine.link_count):
        assert again.bandwidth(link) == machine.bandwidth(link)


def test_the_number_of_node_names_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_toml, "_MAX_HOSTS", 15)
    with pytest.raises(Error, match=r"topology\.hosts: .*m.* names over 7 hosts"):
        read_text(TORUS + 'hosts = ["n[1-8]", "m[1-8]"]\n', tmp_path)


@pytest.mark.parametrize(
    "hosts", ['"n[001-008,070-077]"', '["login", "n[1-15]"]', '["a1.x", "b[2-16]"]']
)
def test_names_of_nodes_are_read_and_written(hosts: str, tmp_path: Path) -> None:
    file, copy = tmp_path / "m.toml", tmp_path / "copy.toml"
    file.write_text(f"{TORUS}hosts = {hosts}\n")
    machine, names = load_machine_and_hosts(file)
    assert len(names) == 16
    write_machine_toml(copy, machine, "a copy", names)
    assert load_machine_and_hosts(copy)[1] == names


def test_every_described_machine_loads_and_has_a_source() -> None:
    entries = zoo()
    assert {"hopper", "blue-waters", "mira"} <= {entry.name for entry in entries}
    for entry in entries:
        assert entry.summary
        assert entry.source
        assert load_machine(entry.name).node_count > 1


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(Error, match="did you mean 'hopper'"):
        load_machine("hoper")


def test_the_topology_examples_are_valid_machines() -> None:
    for form in section_forms().values():
        assert load_machine(form.example).node_count > 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.toml", 'format = "topoloom-machine"'),
        ("m.tgt", "torus2D 3 4\n"),
        ("m.xml", "<?xml"),
        ("m.graph", "% 12 nodes, 0 switches; weight 1 is 1, relative"),
    ],
)
def test_the_suffix_selects_the_format_of_a_machine(
    name: str, text: str, tmp_path: Path
) -> None:
    save_machine(tmp_path / name, Machine("torus:4x3"), [f"n{i}" for i in range(12)])
    assert (tmp_path / name).read_text().startswith(text)
    assert load_machine(tmp_path / name).node_count == 12


@pytest.mark.parametrize(
    ("name", "machine", "message"),
    [
        (
            "m.txt",
            "torus:4x3",
            r"m.txt: unknown suffix; machines are written as .toml, .tgt",
        ),
        ("m", "torus:4x3", "m: unknown suffix; machines are written as .toml"),
        ("m.tgt", "graph:2:0-1", "m.tgt: Scotch has no target for a graph"),
        ("m.xml", "mesh:20x20", "m.xml: 20x20 mesh is not a SimGrid cluster"),
        ("m.graph", "torus:4+down:1", "m.graph: failures can be written only to .toml"),
        (
            "m.graph",
            "torus:4,nodes=2,hosts=free",
            "m.graph: several nodes on one router",
        ),
    ],
)
def test_a_failed_export_leaves_no_file(
    name: str, machine: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(Error, match=message):
        save_machine(tmp_path / name, Machine(machine))
    assert not any(tmp_path.iterdir())


def test_completion_offers_files_of_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("topology.conf", "topology.png", "m.toml"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert machines("topo") == ["topology.conf"]
