# SPDX-License-Identifier: BSD-3-Clause
"""Files are written completely or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from topoloom import Error
from topoloom.support.files import (
    open_atomically,
    prefix_errors,
    read_text,
    write_text,
)
from topoloom.support.name_lookup import describe_unknown_name


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "x.json"
    with open_atomically(target) as stream:
        stream.write(b"half")
        assert not target.exists()
    assert target.read_bytes() == b"half"
    assert os.listdir(tmp_path) == ["x.json"]  # noqa: PTH208


def test_a_failed_write_keeps_the_old_file_and_leaves_no_temporary_file(
    tmp_path: Path,
) -> None:
    target = tmp_path / "x.json"
    write_text(target, "old")

    def write_interrupted() -> None:
        with open_atomically(target) as stream:
            stream.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_interrupted()
    assert read_text(target) == "old"
    assert os.listdir(tmp_path) == ["x.json"]  # noqa: PTH208


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "x.json", "")
    expected = (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "x.json").stat().st_mode == expected


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(Error, match="there is no directory"):
        write_text(tmp_path / "none" / "x.json", "")


def test_errors_in_files_name_the_file_and_the_line(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"^a\.txt:7: no number$"), prefix_errors("a.txt"):
        raise Error("line 7: no number")
    with pytest.raises(Error, match=r"^a\.txt: no number$"), prefix_errors("a.txt"):
        raise Error("no number")


def test_unknown_names_suggest_the_nearest_and_list_all() -> None:
    text = describe_unknown_name("mapper", "mahdd", ["gge", "mahd"])
    assert text == "no mapper 'mahdd' (did you mean 'mahd'?); there are: gge, mahd"
    assert "did you mean" not in describe_unknown_name("mapper", "zzz", ["gge", "mahd"])


def test_writing_to_a_symbolic_link_replaces_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_standard_output_can_be_a_file(tmp_path: Path) -> None:
    code = "from topoloom.support import files; files.write_text('/dev/stdout', 'text')"
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "text"


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "topology.conf"
    file.write_bytes(b"\xef\xbb\xbfSwitchName=s0 Nodes=n[0-3]\n")
    assert read_text(file) == "SwitchName=s0 Nodes=n[0-3]\n"
