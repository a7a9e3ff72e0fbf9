# SPDX-License-Identifier: BSD-3-Clause
"""Recorded counts are kept if no graph can be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from topoloom import Error
from topoloom.preload.record import notes_folder as folders
from topoloom.preload.record.notes_folder import find_leftovers, keep_notes_on_error

#: Makes a folder for notes, and is killed.
KILLED = """
import os, signal, sys
from topoloom.preload.record.notes_folder import notes_folder
with notes_folder(sys.argv[1], "record"):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def notes_folder(tmp_path: Path) -> Path:
    folder = tmp_path / ".topoloom-record-abc"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("error", [Error("bad"), MemoryError("bad"), OSError("bad")])
def test_notes_are_kept_after_a_failure(notes_folder: Path, error: Exception) -> None:
    (notes_folder / "recording-0.topoloom").write_text("counts")
    kept_in = r"^bad; the recordings of the ranks are in"
    with pytest.raises(Error, match=kept_in), keep_notes_on_error(notes_folder):
        raise error
    kept = notes_folder.with_name("topoloom-record-abc")
    assert (kept / "recording-0.topoloom").read_text() == "counts"
    assert not notes_folder.exists()


def test_an_empty_notes_folder_is_not_kept(notes_folder: Path) -> None:
    with pytest.raises(OSError, match=r"^bad$"), keep_notes_on_error(notes_folder):
        raise OSError("bad")
    assert notes_folder.exists()  # the caller removes the folder


def test_notes_are_not_moved_after_a_success(notes_folder: Path) -> None:
    (notes_folder / "recording-0.topoloom").write_text("counts")
    with keep_notes_on_error(notes_folder):
        pass
    assert notes_folder.exists()


def test_only_folders_of_killed_processes_are_leftovers(tmp_path: Path) -> None:
    with folders.notes_folder(tmp_path, "record") as used:
        subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False)
        left = find_leftovers(tmp_path)
        assert left == [one for one in tmp_path.iterdir() if str(one) != used]
    assert list(tmp_path.iterdir()) == left
