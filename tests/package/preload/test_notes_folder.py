# SPDX-License-Identifier: BSD-3-Clause
"""Recorded counts are kept if no graph can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error
from topoloom.preload.record.notes_folder import keep_notes_on_error


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
