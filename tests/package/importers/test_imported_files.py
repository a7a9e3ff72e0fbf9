# SPDX-License-Identifier: BSD-3-Clause
"""Files of other programs are recognized by their content."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from topoloom import Error, load_machine
from topoloom.importers.machine_description import MachineDescription, Selection
from topoloom.machines import describe_machine, import_formats, machine_file
from topoloom.machines.machine_file import load_machine_and_hosts


def read_ring_format(text: str, _: Selection | None = None) -> MachineDescription:
    """Read ``ring N HOST ...``, a format that exists only in this test."""
    words = text.split()
    if not words[1].isdigit():
        raise Error(f"line 1: '{words[1]}' is not a number; write one")
    return MachineDescription(f"torus:{words[1]}", tuple(words[2:]))


@pytest.fixture(autouse=True)
def ring_importer(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = SimpleNamespace(
        name="ring",
        recognizes=lambda head: head.startswith("ring "),
        read=read_ring_format,
    )
    monkeypatch.setattr(import_formats, "IMPORTERS", (ring,))


def write_file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "net.txt"
    file.write_text(text)
    return file


def test_a_file_is_read_by_the_importer_that_recognizes_it(tmp_path: Path) -> None:
    file = write_file(tmp_path, "ring 3 a b c")
    assert describe_machine(file) == MachineDescription("torus:3", ("a", "b", "c"))
    assert load_machine(str(file)).text == "torus:3"
    machine, hosts = load_machine_and_hosts(file)
    assert (machine.node_count, hosts) == (3, ("a", "b", "c"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ring x", "net.txt:1: 'x' is not a number"),
        (
            "star 3",
            r"not a machine in a known format .*, ring\)",
        ),
        ("ring 0", "net.txt: "),
        ("ring 3 a b", "net.txt: 2 host names for 3 nodes"),
        ("ring 3 a b a", "net.txt: host a is named 2 times"),
        ("ring\0", "net.txt: not a text file"),
    ],
)
def test_import_errors_name_the_file(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(Error, match=message):
        load_machine(write_file(tmp_path, text))


def test_a_file_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_file, "MAX_BYTES", 1 << 20)
    with pytest.raises(Error, match="limit of 1 MiB"):
        load_machine(write_file(tmp_path, "ring 3" + " " * (1 << 20)))


def test_a_missing_file_is_reported() -> None:
    with pytest.raises(FileNotFoundError, match=r"net\.xml"):
        load_machine("net.xml")


def test_a_directory_is_refused_as_a_machine(tmp_path: Path) -> None:
    (tmp_path / "rings").mkdir()
    with pytest.raises(IsADirectoryError, match="rings"):
        load_machine(tmp_path / "rings")


@pytest.mark.parametrize("text", ["torus:2x2", "graph:200:" + "0-1," * 9000 + "0-2"])
def test_machine_texts_are_no_files(text: str) -> None:
    assert describe_machine(text) == MachineDescription(text)


def test_unknown_kinds_and_names_are_not_files() -> None:
    with pytest.raises(Error, match="tours"):
        load_machine("tours:3")
    with pytest.raises(Error, match=r"no machine 'titn'.*titan"):
        load_machine("titn")
    with pytest.raises(Error, match=r"no machine 'detec' \(did you mean 'detect'\?\)"):
        load_machine("detec")
    assert describe_machine("titan").text.startswith("torus:25x16x24")
