# SPDX-License-Identifier: BSD-3-Clause
"""Allocations that a machine description contains: files, slots, errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.importers.machine_description import AllocatedNode
from topoloom.machines import load_machine_and_allocation
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.machines.machine_writers import save_machine

HEAD = """format = "topoloom-machine"
version = 1
[topology]
kind = "torus"
size = [2, 3]
hosts = "n[0-5]"
[node]
levels = [4]
"""


def write_file(folder: Path, tables: str) -> Path:
    file = folder / "m.toml"
    file.write_text(HEAD + tables)
    return file


def test_a_file_names_nodes_and_slots_in_the_launchers_order(tmp_path: Path) -> None:
    tables = '[[allocation]]\nhosts = "n[4,1]"\nslots = "0-1,3"\n'
    job = load_machine_and_allocation(
        write_file(tmp_path, tables + '[[allocation]]\nhosts = "n0"\n')
    )
    assert job.hosts == ("n4", "n1", "n0")
    assert job.allocation.nodes.tolist() == [4, 1, 0]
    assert job.allocation.slots.tolist() == [16, 17, 19, 4, 5, 7, 0, 1, 2, 3]


def test_without_tables_the_allocation_is_the_whole_machine(tmp_path: Path) -> None:
    job = load_machine_and_allocation(write_file(tmp_path, ""))
    assert job.hosts == tuple(f"n{i}" for i in range(6))
    assert job.allocation.slot_count == 24
    assert load_machine_and_allocation("torus:2x3").hosts is None


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sets(st.integers(0, 3))),
        min_size=1,
        unique_by=lambda pair: pair[0],
    )
)
def test_a_written_allocation_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[int, set[int]]]
) -> None:
    folder = tmp_path_factory.mktemp("written")
    allocated = tuple(AllocatedNode(f"n{i}", tuple(sorted(s))) for i, s in parts)
    machine, plain = load_machine_and_description(write_file(folder, ""))
    save_machine(folder / "again.toml", machine, plain.hosts, allocated)
    assert load_machine_and_description(folder / "again.toml")[1].allocated == allocated


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ("[allocation]", "allocation must be tables, each headed"),
        ("[[allocation]]", r"allocation\[0\].hosts must be a host list"),
        ('[[allocation]]\nhosts = "n[1-"', r"allocation\[0\].hosts: host list"),
        (
            '[[allocation]]\nhosts = "n[0-99999999]"',
            r"\.hosts: host list .* names over",
        ),
        ('[[allocation]]\nhosts = "n6"', "allocation: the machine has no host n6"),
        ('[[allocation]]\nhosts = "n[1,1]"', "names node 1 twice"),
        ('[[allocation]]\nnodes = "n1"', r"no key 'allocation\[0\].nodes'; there are"),
        (
            '[[allocation]]\nhosts = "n1"\nslots = "0-4"',
            "host n1 has no slot 4; its slots",
        ),
        (
            '[[allocation]]\nhosts = "n1"\nslots = "1,0"',
            "slots: '1,0' is not a list of increasing",
        ),
        (
            '[[allocation]]\nhosts = "n1"\nslots = "0-9999999"',
            "slots: .* is not a list",
        ),
        ('[[allocation]]\nhosts = "n1"\nslots = ""', "slots: '' is not a list of"),
        ('[[allocation]]\nhosts = "n1"\nslots = 2', "slots must be a string, such as"),
    ],
)
def test_missing_allocation_files_are_named(
    tmp_path: Path, tables: str, message: str
) -> None:
    with pytest.raises(Error, match=f"m.toml: .*{message}"):
        load_machine_and_allocation(write_file(tmp_path, tables))
