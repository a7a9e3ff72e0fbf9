# SPDX-License-Identifier: BSD-3-Clause
"""Replaced collectives use the machine and placement of their job."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Allocation, Machine, Placement
from topoloom.placements.placement_file import PlacementFile, load_placement
from topoloom.preload.collectives import parse_settings
from topoloom.tasks.replaced_collectives import provide_collectives_setting

ROUTED = "torus:4,bandwidth=1GB/s"
#: The setting of jobs that do not set any.
REPORT = {"report": "1"}


@pytest.fixture(autouse=True)
def _working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make_placement_file(
    machine: str, hosts: tuple[str, ...] | None = ("a", "b")
) -> PlacementFile:
    allocation = Allocation(Machine(machine), [2, 0])
    return PlacementFile(
        allocation.machine, allocation, Placement(allocation, [0, 2]), hosts
    )


def read_files(file: PlacementFile, renumbered: bool, **options: str) -> dict[str, str]:
    """Read the files with a job's settings; map "placement" to the slots of ranks."""
    with provide_collectives_setting(options, file, renumbered) as setting:
        read = parse_settings(str(setting))
        for name in {"machine", "placement"} & read.keys():
            text = Path(read[name])
            read[name] = (
                str(load_placement(text).placement.slots.tolist())
                if name == "placement"
                else text.read_text()
            )
    return read


def test_a_job_receives_the_slots_and_hosts_of_its_ranks() -> None:
    lines = "machine torus:4,bandwidth=1GB/s\nnode 2 a\nnode 0 b\n"
    assert read_files(make_placement_file(ROUTED), False, report="0") == {
        "report": "0",
        "machine": lines,
        "placement": "[0, 2]",
    }
    assert read_files(make_placement_file(ROUTED), True) == REPORT | {"machine": lines}
    assert not list(Path().iterdir())


def test_message_costs_are_added_to_the_machine_file() -> None:
    Path("costs").write_text("message - 1e-6 1e-10\n")
    read = read_files(make_placement_file(ROUTED, None), False, machine="costs")
    assert read["machine"] == f"machine {ROUTED}\nmessage - 1e-6 1e-10\n"


@pytest.mark.parametrize("line", ["machine torus:9", "node 0 a"])
def test_a_machine_named_by_the_user_is_not_replaced(line: str) -> None:
    Path("own").write_text(f"# mine\n{line}\n")
    read = read_files(make_placement_file(ROUTED), False, machine="own")
    assert read == REPORT | {"machine": f"# mine\n{line}\n"}


def test_a_machine_without_bandwidths_is_not_passed_to_the_library() -> None:
    # In the first case, the bandwidth of links is unknown; in the second, the hosts.
    assert read_files(make_placement_file("torus:4"), False) == REPORT
    assert read_files(make_placement_file(ROUTED, None), True) == REPORT
