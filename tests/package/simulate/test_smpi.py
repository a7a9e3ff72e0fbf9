# SPDX-License-Identifier: BSD-3-Clause
"""Programs reach smpirun, a shell script, as they were typed."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from topoloom import Error
from topoloom.simulate.smpi import (
    SmpiLaunch,
    SmpiRun,
    check_smpi_words,
    parse_smpi_command,
    run_in_smpi,
)

#: Prints its words and its TMPDIR, and a time as the program and as SimGrid do.
SMPIRUN = """\
#!{python}
import json, os, sys
home = os.environ["TMPDIR"]
print(json.dumps([sys.argv[1:], home, os.stat(home).st_mode]))
print("Simulated time: x seconds\\nSimulated time: 9 seconds", file=sys.stderr)
print("[1.2] [smpi_utils/INFO] Simulated time: 4.5e-06 seconds.", file=sys.stderr)
"""


@pytest.fixture
def smpirun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "smpirun"
    file.write_text(SMPIRUN.format(python=sys.executable))
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


def run(*words: str, preload: str = "") -> tuple[SmpiRun, Any]:
    command = parse_smpi_command(["smpirun", "-np", "2", *words])
    done = run_in_smpi(SmpiLaunch(command, "", (0, 1), 0.0, {}, preload))
    return done, json.loads(done.output)


@pytest.mark.usefixtures("smpirun")
def test_the_time_is_that_of_simgrid_whatever_the_program_prints() -> None:
    assert run("./app")[0].seconds == 4.5e-06


@pytest.mark.usefixtures("smpirun")
def test_libraries_are_looked_up_in_no_directory_of_others() -> None:
    # smpirun adds TMPDIR to LD_LIBRARY_PATH.
    _, (_, home, mode) = run("./app")
    assert stat.S_IMODE(mode) == 0o700
    assert not Path(home).exists()


@pytest.mark.usefixtures("smpirun")
def test_the_wrapper_of_the_user_is_kept() -> None:
    _, (words, _, _) = run("-wrapper", "valgrind -q", "./app", preload="/a/b.so")
    at = len(words) - 1 - words[::-1].index("-wrapper")
    assert words[at + 1] == "env LD_PRELOAD=/a/b.so valgrind -q"
    assert words[at + 2 :] == ["./app"]


@pytest.mark.usefixtures("smpirun")
@pytest.mark.parametrize("name", ["a b", "a*", "[a]"])
def test_directories_that_smpirun_would_split_are_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Error, match="set XDG_CACHE_HOME to another directory"):
        run("./app", preload=f"/{name}/x.so")
    home = tmp_path / name
    home.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(home))
    with pytest.raises(Error, match="set TMPDIR to another directory"):
        run("./app")


def test_words_that_smpirun_would_change_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_smpi_words(["./app", "$(id)", ";", "'", "*.none"])
    Path("file.txt").touch()
    for word in ("a b", "", "a\nb", "*.txt", "fil[e].txt"):
        with pytest.raises(Error, match="smpirun cannot pass the word"):
            check_smpi_words(["./app", word])


def test_values_of_options_are_not_the_program() -> None:
    words = ["-replay", "x", "-trace-file", "y", "-wrapper", "gdb", "-map"]
    command = parse_smpi_command(["smpirun", "-n", "4", *words, "./app", "-np"])
    assert command.program == ("./app", "-np")
    assert command.options == tuple(words)
