# SPDX-License-Identifier: BSD-3-Clause
"""Counts of recorded ranks survive if no graph can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error
from topoloom.preload.record.notes_folder import keep_notes_on_error


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / ".topoloom-record-abc"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("error", [Error("bad"), MemoryError("bad"), OSError("bad")])
def test_counts_are_kept_after_a_failure(notes: Path, error: Exception) -> None:
    (notes / "recording-0.topoloom").write_text("counts")
    kept_in = r"^bad; what the ranks counted is kept in"
    with pytest.raises(Error, match=kept_in), keep_notes_on_error(notes):
        raise error
    kept = notes.with_name("topoloom-record-abc")
    assert (kept / "recording-0.topoloom").read_text() == "counts"
    assert not notes.exists()


def test_without_counts_nothing_is_kept(notes: Path) -> None:
    with pytest.raises(OSError, match=r"^bad$"), keep_notes_on_error(notes):
        raise OSError("bad")
    assert notes.exists()  # the caller removes it


def test_after_a_success_nothing_is_moved(notes: Path) -> None:
    (notes / "recording-0.topoloom").write_text("counts")
    with keep_notes_on_error(notes):
        pass
    assert notes.exists()
