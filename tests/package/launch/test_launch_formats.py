# SPDX-License-Identifier: BSD-3-Clause
"""Exact output of launcher formats, and their limits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import (
    Allocation,
    Error,
    Machine,
    Placement,
    PlacementFile,
    save_placement,
)
from topoloom.launch.exports.launch_formats import (
    FORMATS,
    find_format,
    require_binding_support,
    require_hosts,
)
from topoloom.launch.host_placement import HostPlacement, host_placement
from topoloom.nodes.node_parts import Levels, NodeParts, NodeType

HOSTS = ["gamma", "alpha"]  # names of nodes 2 and 0, in launcher order


def make_placement(
    slots: list[int],
    machine: str = "mesh:3+node:2",
    nodes: tuple[int, ...] = (2, 0),
    hosts: list[str] | None = HOSTS,
    cores: int = 1,
) -> HostPlacement:
    return host_placement(Machine(machine), nodes, slots, hosts, cores)


def write_format(name: str, placement: HostPlacement) -> str:
    return find_format(name).write(placement)


def test_a_rankfile_has_one_line_a_rank_in_ascending_order() -> None:
    assert write_format("openmpi-rankfile", make_placement([1, 5, 0])) == (
        "rank 0=alpha slot=1\nrank 1=gamma slot=1\nrank 2=alpha slot=0\n"
    )


def test_gpus_are_no_hosts_of_launchers() -> None:
    gpus = make_placement([0, 1], "graph:2:0-1", (0, 1), ["gpu0", "gpu1"])
    hosts = make_placement([0, 1], "graph:2:0-1", (0, 1), ["gpu01", "gpu02"])
    for target in FORMATS:
        require_hosts(target, hosts)
        if target.name in ("jax", "json", "list", "bindings"):
            require_hosts(target, gpus)
        else:
            with pytest.raises(Error, match="GPU; export to one of jax, json, list, b"):
                require_hosts(target, gpus)


def test_a_rankfile_names_package_and_core_if_nodes_have_packages() -> None:
    machine = Machine("mesh:1+node:12:2")
    for names, slots in (
        (("package", "node"), ("1:1", "0:0")),
        (("socket", "node"), ("1:1", "0:0")),
        (("L3", "package"), ("13", "0")),
        ((), ("13", "0")),
    ):
        node = NodeParts(names)
        two = host_placement(machine, (0,), [13, 0], ["alpha"], node=node)
        assert write_format("openmpi-rankfile", two) == (
            f"rank 0=alpha slot={slots[0]}\nrank 1=alpha slot={slots[1]}\n"
        )


def test_a_rankfile_names_all_cores_of_a_slot() -> None:
    four_cores = make_placement([5, 4], cores=4)
    assert write_format("openmpi-rankfile", four_cores) == (
        "rank 0=gamma slot=4-7\nrank 1=gamma slot=0-3\n"
    )


def test_a_hostfile_counts_the_ranks_of_each_host() -> None:
    assert (
        write_format("hostfile", make_placement([0, 5, 4]))
        == "alpha slots=1\ngamma slots=2\n"
    )


def test_a_hostfile_cannot_return_to_a_host() -> None:
    with pytest.raises(
        Error, match=r"ranks 0 and 2 are both on host 'alpha'.*rankfile"
    ):
        write_format("hostfile", make_placement([0, 5, 1]))


def test_an_mpich_hostfile_can_return_to_a_host() -> None:
    assert (
        write_format("mpich-hostfile", make_placement([0, 5, 1]))
        == "alpha:1\ngamma:1\nalpha:1\n"
    )


def test_a_rank_map_counts_hosts_from_0_in_the_order_of_the_allocation() -> None:
    assert write_format("mpich-rankmap", make_placement([0, 5, 1])) == "1,0,1\n"


def test_a_rank_map_joins_hosts_with_equally_many_ranks_into_blocks() -> None:
    ranks = list(range(40))
    blocks = make_placement(ranks, "mesh:10+node:4", tuple(range(10)), None)
    assert write_format("mpich-rankmap", blocks) == "(vector,(0,10,4))\n"


def test_a_rank_order_is_the_inverse_of_a_placement() -> None:
    # The launcher's slot order is 4, 5 (gamma), 0, 1 (alpha).
    text = write_format("mpich-rank-order", make_placement([0, 5, 4, 1]))
    comment, order = text.splitlines()
    assert comment.startswith("# 4 ranks on 2 nodes, 2 on a node")
    assert order == "2,1,0,3"


def test_a_rank_order_allows_fewer_ranks_on_the_last_node() -> None:
    assert (
        write_format("mpich-rank-order", make_placement([0, 5, 4])).splitlines()[1]
        == "2,1,0"
    )


@pytest.mark.parametrize("slots", [[4, 0, 1], [0, 1]])
def test_a_rank_order_cannot_leave_slots_empty_in_between(slots: list[int]) -> None:
    with pytest.raises(Error, match=r"cannot express .* export to slurm-hostfile"):
        write_format("mpich-rank-order", make_placement(slots))


def test_a_slurm_host_file_has_the_host_of_each_rank() -> None:
    assert (
        write_format("slurm-hostfile", make_placement([0, 5, 1]))
        == "alpha\ngamma\nalpha\n"
    )


def test_a_list_has_the_slot_of_each_rank() -> None:
    assert write_format("list", make_placement([0, 5, 1])) == "0\n5\n1\n"


def test_nodes_without_names_are_named_by_id() -> None:
    assert (
        write_format("slurm-hostfile", make_placement([0, 5], hosts=None)) == "n0\nn2\n"
    )


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        (["alpha"], "1 host name for an allocation of 2 nodes"),
        (["alpha", "alpha"], "host 'alpha' is named 2 times"),
        (["alpha", "be ta"], "'be ta' is not a host name"),
    ],
)
def test_wrong_host_names_are_refused(hosts: list[str], message: str) -> None:
    with pytest.raises(Error, match=message):
        make_placement([0], hosts=hosts)


def test_omissions_of_a_format_are_reported() -> None:
    swapped, in_order = make_placement([5, 4]), make_placement([4, 5])
    lost = {entry.name for entry in FORMATS if entry.find_loss(swapped)}
    assert lost == {
        "hostfile",
        "mpich-rankmap",
        "mpich-hostfile",
        "intel-machinefile",
        "slurm-hostfile",
        "flux-taskmap",
        "pjm-vcoordfile",
    }
    assert not any(entry.find_loss(in_order) for entry in FORMATS)
    # Cray MPICH's ranks always occupy the first cores of a host; only their order can
    # be chosen.
    second_core = make_placement([5])
    assert find_format("mpich-rank-order").find_loss(second_core)


def place_on_two_packages(vacant: tuple[int, ...], slots: list[int]) -> HostPlacement:
    """Place ranks on a node of two packages of four places."""
    places = [place for place in range(8) if place not in vacant]
    kind = NodeType(
        (0,),
        Levels((4, 2), (1, 2), vacant=vacant),
        tuple(range(len(places))),
        NodeParts(("package", "node")),
    )
    node = NodeParts(types=(kind,))
    return host_placement(Machine("tree:1+node:8"), [0], slots, ["a"], node=node)


def test_slurm_deals_ranks_to_packages_of_equally_many_cores() -> None:
    # Without places 3 and 7, packages have the slots 0 to 2 and 3 to 5.
    dealt = place_on_two_packages((3, 7), [0, 3, 1, 4, 2, 5])
    assert find_format("slurm-hostfile").find_loss(dealt) is None
    assert write_format("openmpi-rankfile", dealt).splitlines()[1] == (
        "rank 1=a slot=1:0"
    )
    in_order = place_on_two_packages((3, 7), [0, 1, 2, 3, 4, 5])
    assert find_format("slurm-hostfile").find_loss(in_order)


def test_no_order_of_ranks_keeps_slots_in_packages_of_unequal_size() -> None:
    for slots in ([0, 1, 2, 3, 4, 5, 6], [0, 3, 1, 4, 2, 5, 6]):
        uneven = place_on_two_packages((3,), slots)
        assert "sockets" in (find_format("slurm-hostfile").find_loss(uneven) or "")
        assert write_format("openmpi-rankfile", uneven).splitlines()[1] == (
            f"rank 1=a slot={slots[1]}"
        )


@given(st.permutations(range(12)), st.integers(1, 12))
def test_formats_with_host_names_agree(slots: list[int], ranks: int) -> None:
    machine, nodes = "mesh:4+node:3", (3, 0, 2, 1)
    one = make_placement(slots[:ranks], machine, nodes, ["d", "a", "c", "b"])
    hosts = write_format("slurm-hostfile", one).split()
    assert hosts == ["abcd"[slot // 3] for slot in slots[:ranks]]
    lines = [line.split(":") for line in write_format("mpich-hostfile", one).split()]
    assert hosts == [host for host, count in lines for _ in range(int(count))]
    rankfile = write_format("openmpi-rankfile", one).splitlines()
    assert hosts == [line.partition("=")[2].partition(" ")[0] for line in rankfile]
    assert hosts == [
        one.hosts[i] for i in read_rank_map(write_format("mpich-rankmap", one))
    ]


def read_rank_map(text: str) -> list[int]:
    """Expand a rank map by the definition of Hydra's format."""
    text = text.strip()
    if not text.startswith("(vector,"):
        return [int(host) for host in text.split(",")]
    blocks = text.removeprefix("(vector,(").removesuffix("))").split("),(")
    ranks = []
    for block in blocks:
        first, hosts, each = map(int, block.split(","))
        ranks += [first + i for i in range(hosts) for _ in range(each)]
    return ranks


@pytest.fixture
def placement_file(tmp_path: Path) -> Path:
    machine = Machine("mesh:3+node:2")
    allocation = Allocation(machine, np.array([2, 0], dtype=np.uint32))
    slots = Placement(allocation, np.array([1, 5, 0], dtype=np.uint32))
    path = tmp_path / "x.json"
    save_placement(path, PlacementFile(machine, allocation, slots, tuple(HOSTS)))
    return path


def test_export_prints_or_writes_the_file_and_its_command(
    topoloom: Any, placement_file: Path
) -> None:
    printed = topoloom("export", placement_file, "--to", "openmpi-rankfile")
    written = topoloom(
        "export", placement_file, "--to", "openmpi-rankfile", "-o", "r.txt"
    )
    assert printed.out == Path("r.txt").read_text()
    assert "mpirun --rankfile r.txt -n 3 ./app" in written.out
    document = topoloom(
        "export", placement_file, "--to", "openmpi-rankfile", "--json"
    ).json
    assert document["text"] == printed.out


def test_export_uses_host_names_of_the_command_line(
    topoloom: Any, placement_file: Path
) -> None:
    named = ["--to", "slurm-hostfile", "--hosts", "c[08-09]"]
    assert topoloom("export", placement_file, *named).out == "c09\nc08\nc09\n"


def test_export_reports_omissions_of_a_format(
    topoloom: Any, placement_file: Path
) -> None:
    outcome = topoloom("export", placement_file, "--to", "mpich-rankmap")
    assert outcome.status == 0
    assert outcome.err.startswith("note: mpich-rankmap names hosts, not cores")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "rankfile"], "did you mean 'openmpi-rankfile'?"),
        (["--to", "hostfile"], "cannot express this placement"),
        (["--to", "list", "--hosts", "a,b,c"], "3 host names for an allocation of 2"),
        (["--to", "list", "--cores-per-slot", "0"], "--cores-per-slot must be 1"),
    ],
)
def test_export_refuses_in_one_line_and_writes_nothing(
    topoloom: Any, placement_file: Path, words: list[str], message: str
) -> None:
    outcome = topoloom("export", placement_file, *words, "-o", "out.txt")
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert not Path("out.txt").exists()


@pytest.mark.parametrize("through", ["file", "pipe"])
def test_repeated_input_can_be_read_by_several_commands(
    tmp_path: Path, through: str
) -> None:
    code = (
        "import subprocess; "
        "from topoloom.launch.apply.repeated_input import RepeatedInput\n"
        "again = RepeatedInput()\n"
        "for command in (['head', '-c', '9'], ['cat'], ['wc', '-c']):\n"
        "    with again.rewind(): subprocess.run(command, check=True)\n"
    )
    text = b"123456789\n" + b"x" * 300_000
    (tmp_path / "in").write_bytes(text)
    with (tmp_path / "in").open("rb") as file:
        source = {"stdin": file} if through == "file" else {"input": text}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, timeout=600, **source
        )
    assert done.stdout == b"123456789" + text + b"300010\n", done.stderr


CPUS = NodeParts((), ((0, 4), (1, 5), (2, 6), (3, 7)))
OTHER = NodeParts((), ((8, 9), (10, 11), (12, 13), (14, 15)))


@pytest.mark.parametrize("bind", ["core", "pu"])
@pytest.mark.parametrize("name", [entry.name for entry in FORMATS])
def test_a_format_states_the_binding_of_ranks_or_refuses_it(
    name: str, bind: str
) -> None:
    entry, machine = find_format(name), Machine("mesh:2x1x1+node:4")
    results = set()
    for parts in (CPUS, OTHER):
        for slots in ([0, 1, 4, 5], [0, 1, 6, 4]):
            bound = host_placement(machine, [0, 1], slots, node=parts, bind=bind)
            try:
                require_binding_support(entry, bound)
            except Error as error:
                results.add((str(error), str(parts.cpus), str(slots)))
            else:
                results.add((entry.write(bound), entry.format_usage_command(bound)))
    # Rankfiles name cores by position, independent of CPU numbers.
    assert len(results) == (2 if name == "openmpi-rankfile" else 4)


@pytest.mark.parametrize("cores", [3, 64])
def test_more_cores_than_a_node_has_are_refused_with_both_numbers(cores: int) -> None:
    machine = Machine("mesh:1+node:4")
    host_placement(machine, [0], [0], None, 2, CPUS)
    with pytest.raises(Error, match=f"have {4 * cores} cores, but a node has 8 CPUs"):
        host_placement(machine, [0], [0], None, cores, CPUS)
