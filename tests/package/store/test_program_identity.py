# SPDX-License-Identifier: BSD-3-Clause
"""Programs are recognized by contents, arguments and size, or by a name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from topoloom import Error
from topoloom.store.program_identity import (
    ProgramIdentity,
    Segment,
    identify_program,
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a directory with an executable."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return Path(shutil.copy(shutil.which("true") or "", "app"))


def identify(
    *words: str, ranks: int | None = 4, slots: int = 8, name: str | None = None
) -> ProgramIdentity:
    return identify_program([Segment(str(ranks), words)], ranks, slots, 2, name)


def test_a_moved_program_is_the_same_and_a_changed_one_is_not(program: Path) -> None:
    before = identify("./app", "-x", "1")
    shutil.copy("app", "moved")
    assert identify("./moved", "-x", "1").key == before.key
    with program.open("ab") as file:
        file.write(b"rebuilt")
    rebuilt = identify("./app", "-x", "1")
    assert rebuilt.key != before.key
    assert rebuilt.like_key != before.like_key


def test_arguments_matter_unless_any_are_accepted(program: Path) -> None:
    first, second = identify("./app", "-x", "1"), identify("./app", "-x", "2")
    assert first.key != second.key
    assert first.like_key == second.like_key
    assert identify("./app", "-x 1").key != first.key


def test_the_size_of_the_job_matters(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {
        identify("./app").key,
        identify("./app", ranks=8).key,
        identify("./app", ranks=None).key,
        identify("./app", ranks=None, slots=16).key,
    }
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    keys.add(identify("./app").key)
    assert len(keys) == 5
    # The slots do not matter if the command says how many ranks it starts.
    assert identify("./app", slots=16).key == identify("./app").key


def test_scripts_count_with_their_interpreters(program: Path) -> None:
    script = Path("job.py")
    script.write_text("print(1)")
    first = identify("python3", "-u", "job.py", "in.txt")
    assert [Path(file.path).name for file in first.files] == ["python3", "job.py"]
    assert first.title == "job.py"
    script.write_text("print(2)")
    assert identify("python3", "-u", "job.py", "in.txt").key != first.key
    script.write_text("#!/usr/bin/env python3\nprint(2)\n")
    script.chmod(0o755)
    direct = identify("./job.py")
    assert [Path(file.path).name for file in direct.files] == ["python3", "job.py"]


def test_programs_of_wrappers_count(program: Path) -> None:
    wrapped = identify("env", "A=1", "./app", "-x")
    assert wrapped.title == "app"
    with program.open("ab") as file:
        file.write(b"rebuilt")
    assert identify("env", "A=1", "./app", "-x").key != wrapped.key


def test_a_named_program_may_change(program: Path) -> None:
    named = identify("./app", "1", name="cfd")
    program.unlink()
    again = identify("./app", "2", name="cfd")
    assert (again.key, again.title) == (named.key, "cfd")
    assert identify("./app", name="cfd", ranks=8).key != named.key
    with pytest.raises(Error, match=r"'./app' cannot be recognized .*--name"):
        identify("./app")
