# SPDX-License-Identifier: BSD-3-Clause
"""Allocations from host lists, node ids and coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from topoloom import Error, Machine, load_allocation
from topoloom.allocations import fragmented_allocation
from topoloom.allocations.allocation_file import save_allocation

TORUS = "torus:3x4x5"


def load_allocated_nodes(text: str, tmp_path: Path, machine: str = TORUS) -> list[int]:
    file = tmp_path / "a.txt"
    file.write_text(text)
    return load_allocation(Machine(machine), file).allocation.nodes.tolist()


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("n[001-003,007]\n", [1, 2, 3, 7]),
        ("n3\nn1\nn2\n", [3, 1, 2]),
        ("n3,n1 n[4-5]\n", [3, 1, 4, 5]),
        ("17\n3\n", [17, 3]),
        ("0 0 1\n2 3 4\n", [1, 59]),
        ("0,1,0\n0, 0, 2\n", [5, 2]),
        ("# the job\n\n4  # the first\n5", [4, 5]),
        ("nid00012.cluster.org\n", [12]),
        ("login 7\nviz 0 0 1\n", [7, 1]),
        ("4\r\n5\r\n", [4, 5]),
        ("(0,0,1)\n(0,0,1)\n( 2, 3, 4 )\n(0,0,1)\n", [1, 59]),
        ("(0,0,4) core=3\n(0,1,0) core=0\n", [4, 5]),
    ],
)
def test_lines_name_nodes_in_the_launchers_order(
    text: str, nodes: list[int], tmp_path: Path
) -> None:
    assert load_allocated_nodes(text, tmp_path) == nodes


def test_loaded_allocations_have_host_names(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("login 7\nn[02-03]\n")
    given = load_allocation(Machine(TORUS), file)
    assert given.hosts == ("login", "n02", "n03")
    assert given.allocation.nodes.tolist() == [7, 2, 3]


def test_node_ids_have_no_host_names(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("7\n8\n")
    assert load_allocation(Machine(TORUS), file).hosts is None


def test_a_host_list_can_replace_a_file() -> None:
    given = load_allocation(Machine(TORUS), "n[10-12]")
    assert given.allocation.nodes.tolist() == [10, 11, 12]


def test_a_host_list_can_be_longer_than_any_file_name() -> None:
    hosts = ",".join(str(number) for number in range(0, 1000, 2))
    given = load_allocation(Machine("torus:1000"), f"n[{hosts}]")
    assert given.allocation.nodes.tolist() == list(range(0, 1000, 2))


NAMES = ("login", "n7", "n8.a.org", "n9.b.org", "10.0.0.1", "10.0.0.2")


def load_by_host_name(source: str | Path) -> tuple[list[int], tuple[str, ...] | None]:
    given = load_allocation(Machine("torus:6"), source, NAMES)
    return given.allocation.nodes.tolist(), given.hosts


@pytest.mark.parametrize(
    ("text", "nodes", "hosts"),
    [
        ("n7 login", [1, 0], ("n7", "login")),
        ("n[7-9]", [1, 2, 3], ("n7", "n8", "n9")),
        ("n7.a.org n8.a.org", [1, 2], ("n7.a.org", "n8.a.org")),
        ("10.0.0.2\n10.0.0.1", [5, 4], ("10.0.0.2", "10.0.0.1")),
        ("3\nlogin\n4", [3, 0, 4], ("n9.b.org", "login", "10.0.0.1")),
        ("other 2\nn7", [2, 1], ("other", "n7")),
    ],
)
def test_hosts_are_found_by_the_names_of_the_nodes(
    text: str, nodes: list[int], hosts: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_text(text)
    assert load_by_host_name(file) == (nodes, hosts)


def test_a_single_named_host_needs_no_brackets() -> None:
    assert load_by_host_name("login") == ([0], ("login",))
    assert load_by_host_name("n8") == ([2], ("n8",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n6", r"a.txt:1: the machine has no host n6.*; there are: login,n7,n8"),
        ("\nlogni", r"a.txt:2: .* no host logni \(did you mean login\?\)"),
        ("n007", r"no host n007 \(did you mean n7\?\)"),
        ("n8.b.org", "no host n8.b.org"),
        ("10.0.0.3", "no host 10.0.0.3"),
        ("n8\nn8.a.org", "hosts n8 and n8.a.org are both node 2"),
    ],
)
def test_hosts_without_a_node_are_named(
    text: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_text(text)
    with pytest.raises(Error, match=message):
        load_by_host_name(file)


def test_an_ambiguous_short_name_is_refused() -> None:
    machine = Machine("torus:2")
    with pytest.raises(Error, match="no host n1"):
        load_allocation(machine, "n[1]", ("n1.a", "n1.b"))
    with pytest.raises(Error, match="1 host name for 2 nodes"):
        load_allocation(machine, "n[1]", ("n1",))


def test_slots_are_listed_node_by_node(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("5\n2\n")
    given = load_allocation(Machine(f"{TORUS}+node:3"), file)
    assert given.allocation.slots.tolist() == [15, 16, 17, 6, 7, 8]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.txt: contains no node"),
        ("# nothing\n", "a.txt: contains no node"),
        ("1\n60\n", "a.txt:2: there is no node 60"),
        ("-1\n", "a.txt:1: there is no node -1"),
        ("1\n2\n1\n", "a.txt:3: node 1 is named twice, first on line 1"),
        ("n1\nn1\n", "a.txt:2: host n1 is named twice"),
        ("n1\nm1\n", "a.txt:2: hosts n1 and m1 are both node 1"),
        ("n[1-3],n2\n", "a.txt:1: host n2 is named twice"),
        ("0 0 5\n", "a.txt:1: '0 0 5' lies outside"),
        ("0 0\n", "a.txt:1: '0 0' is 2 numbers"),
        ("(0,0)\n", "a.txt:1: '0,0' is 2 numbers"),
        ("(0,0,1)\n(0,0,5)\n", "a.txt:2: '0,0,5' lies outside"),
        ("(0,0,1)\n0 0 1\n", "a.txt:2: node 1 is named twice, first on line 1"),
        (
            "(0,0,1\n",
            "a.txt:1: '(0,0,1' is not the position of a rank, such as (3,4,5)",
        ),
        ("login\n", "a.txt:1: host login has no number"),
        ("n60\n", "n60 would be node 60, but the machine has nodes 0 to 59; name its"),
        ("n[1-2\n", "a.txt:1: host list"),
        ("n1\n2\n", "a.txt:2: has no host name"),
        ("1.5\n", "a.txt:1: '1.5' is neither"),
        ("nan\n", "a.txt:1: host nan has no number"),
        ("n1 -2\n", "a.txt:1: host list: '-2' is not a host name"),
        ("n1 99999999999999999999\n", "a.txt:1: there is no node"),
    ],
)
def test_invalid_lines_are_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(Error) as caught:
        load_allocated_nodes(text, tmp_path)
    assert message in str(caught.value)


def test_coordinates_require_a_machine_with_coordinates(tmp_path: Path) -> None:
    with pytest.raises(Error, match="2 numbers"):
        load_allocated_nodes("1 2\n", tmp_path, "tree:4:8")


def test_binary_allocation_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\x80\x01\x02\x00")
    with pytest.raises(Error, match="not a text file"):
        load_allocation(Machine(TORUS), file)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_allocation(Machine(TORUS), tmp_path / "none.txt")


@pytest.mark.parametrize(
    "machine", ["torus:6x7x8", "torus:4x4,nodes=3", "tree:4:4:4", "torus:40"]
)
def test_a_saved_allocation_is_read_back(machine: str, tmp_path: Path) -> None:
    whole = Machine(machine)
    allocation = fragmented_allocation(whole, 17, 4, 3)
    save_allocation(tmp_path / "a.txt", allocation, "an example")
    again = load_allocation(whole, tmp_path / "a.txt").allocation
    assert again.nodes.tolist() == allocation.nodes.tolist()


@pytest.mark.parametrize(
    ("names", "known"),
    [(tuple("abcdef"), ()), (NAMES, NAMES)],
    ids=["names", "addresses"],
)
def test_a_saved_allocation_names_its_hosts(
    names: Sequence[str], known: Sequence[str], tmp_path: Path
) -> None:
    machine = Machine("torus:2x3")
    allocation = fragmented_allocation(machine, 4, 2, 3)
    nodes = allocation.nodes.tolist()
    allocated = tuple(names[node] for node in nodes)
    save_allocation(tmp_path / "a.txt", allocation, "an example", allocated)
    again = load_allocation(machine, tmp_path / "a.txt", known)
    assert again.allocation.nodes.tolist() == nodes
    assert again.hosts == allocated


@pytest.mark.parametrize(
    ("text", "names", "remark"),
    [
        ("cn[1-2]", (), "cn1 is node 1: the machine's description names no hosts"),
        ("a5 1\nb2 0", (), ""),
        ("a,b", ("b", "a"), ""),
        ("0\n1", (), ""),
    ],
)
def test_only_hosts_found_by_their_number_are_remarked(
    text: str, names: Sequence[str], remark: str, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(text)
    machine = Machine("torus:2") if names else Machine("torus:3")
    listed = load_allocation(machine, tmp_path / "a.txt", names)
    assert listed.remark == remark
    assert listed.part(listed.allocation) == listed
