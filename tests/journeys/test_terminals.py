# SPDX-License-Identifier: BSD-3-Clause
"""The installed command on terminals of several widths, in pipes and in any locale."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from topoloom._core import stencil
from topoloom.graphs.graph_file import save_graph

TOPOLOOM = str(Path(sys.executable).parent / "topoloom")
#: Variables that change the width, colors and encodings; tests set them themselves.
VARIABLES = ("COLUMNS", "LINES", "NO_COLOR", "TERM", "PYTHONUTF8", "PYTHONIOENCODING")
ESCAPE = "\x1b"
FLAT = ["-m", "torus:4x4"]
MACHINE = ["-m", "torus:4x4,bandwidth=1GB/s"]
COMPARE = ["compare", "p.npz", *MACHINE, "--mappers", "block,hilbert,mahd+swap"]

#: A command line of every command that prints a table or facts and starts no program.
COMMANDS = [
    ["machine", "show", "frontier"],
    ["map", "p.npz", *MACHINE],
    COMPARE,
    ["judge", "p.npz", "x.json"],
    ["bound", "p.npz", *FLAT],
    ["export", "x.json", "--to", "openmpi-rankfile", "-o", "ranks.txt"],
    ["report", "x.json", "-o", "r.html"],
    ["allocate", *FLAT, "-N", "4"],
    ["joint", "p.npz", "p.npz", "-m", "torus:8x8", "--work", "1000"],
    ["list", "mappers"],
]
NAMES = [" ".join(words[:2]) for words in COMMANDS]


def make_environment(**variables: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    return {**kept, "TERM": "xterm-256color", **variables}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a graph and a placement."""
    made = tmp_path_factory.mktemp("terminal")
    save_graph(made / "p.npz", stencil([4, 4], 5, bytes=1024))
    words = [TOPOLOOM, "map", "p.npz", *MACHINE, "-o", "x.json"]
    subprocess.run(words, cwd=made, check=True, capture_output=True)
    return made


def run_on_terminal(
    folder: Path,
    words: list[str],
    columns: int,
    progress: bool = False,
    **variables: str,
) -> str:
    """Run a command whose stdout is a terminal, return what it shows.

    With `progress`, stderr is the terminal, too.
    """
    terminal, end = pty.openpty()
    size = struct.pack("HHHH", 50, columns, 0, 0)
    fcntl.ioctl(end, termios.TIOCSWINSZ, size)
    environment = make_environment(**variables)
    process = subprocess.Popen(
        [TOPOLOOM, *words],
        cwd=folder,
        env=environment,
        stdout=end,
        stderr=end if progress else None,
    )
    os.close(end)
    shown = b""
    try:
        while data := os.read(terminal, 1 << 16):
            shown += data
    except OSError:  # EIO: the command has closed the terminal
        pass
    os.close(terminal)
    assert process.wait() == 0, shown
    return shown.decode().replace("\r\n", "\n")


def run_in_pipe(
    folder: Path, words: list[str], **variables: str
) -> subprocess.CompletedProcess[bytes]:
    environment = make_environment(**variables)
    done = subprocess.run(
        [TOPOLOOM, *words], cwd=folder, env=environment, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return done


def strip_escapes(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text)


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("words", COMMANDS, ids=NAMES)
def test_lines_fit_into_the_terminal(
    folder: Path, words: list[str], columns: int
) -> None:
    """The exceptions are words that are longer, and commands to be pasted."""
    lines = strip_escapes(run_on_terminal(folder, words, columns)).splitlines()
    if words[0] == "machine":
        lines = lines[: lines.index("")]
    long = [line for line in lines if len(line) > columns]
    assert [
        line
        for line in long
        if not line.startswith("use it:") and max(map(len, line.split())) < columns / 2
    ] == []


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_compare_keeps_mapper_objective_and_gap(folder: Path, columns: int) -> None:
    shown = strip_escapes(run_on_terminal(folder, COMPARE, columns))
    heading = shown.partition("───")[0].split()
    assert {"mapper", "time", "gap"} <= set(heading)
    assert "hilbert" in shown
    text = " ".join(shown.split())
    assert "equal in all rows: " in text
    assert "(--json or a wider terminal has them)" in text
    assert ("gain" in heading) == (columns > 40)


def test_tables_are_complete_in_pipes(folder: Path) -> None:
    text = run_in_pipe(folder, COMPARE).stdout.decode()
    assert "not shown" not in text
    assert "equal in all rows" not in text
    for title in ("gain", "hop-bytes", "gap", "congestion", "search"):
        assert title in text
    narrow = run_in_pipe(folder, COMPARE, COLUMNS="60").stdout.decode()
    assert "not shown: " in narrow


@pytest.mark.parametrize("words", COMMANDS, ids=NAMES)
def test_pipes_get_no_escapes_and_no_blanks_at_line_ends(
    folder: Path, words: list[str]
) -> None:
    done = run_in_pipe(folder, words)
    text = (done.stdout + done.stderr).decode()
    assert ESCAPE not in text
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_terminals_without_colors_get_no_escapes(
    folder: Path, variables: dict[str, str]
) -> None:
    words = [*COMPARE, "--time", "0.3s"]
    shown = run_on_terminal(folder, words, 100, progress=True, **variables)
    assert ESCAPE not in shown
    assert "\r" not in shown
    assert "◄ best" in shown
    assert ESCAPE in run_on_terminal(folder, words, 100)
    assert "\r" in run_on_terminal(folder, words, 100, progress=True)


@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=["C", "latin-1"],
)
@pytest.mark.parametrize(
    "words", [*COMMANDS, ["compare", "--help"]], ids=[*NAMES, "help"]
)
def test_no_locale_stops_a_command(
    folder: Path, words: list[str], variables: dict[str, str]
) -> None:
    done = run_in_pipe(folder, words, **variables)
    text = (done.stdout + done.stderr).decode("latin-1")
    assert text.isascii()
    assert "\\u" not in text
    if words[0] == "compare":
        assert "<- best" in text or "^ " in text


def test_files_are_read_as_utf_8_in_every_locale(folder: Path) -> None:
    name = "Schäfer→1"
    (folder / "fichier.toml").write_text(
        f'format = "topoloom-model"\nversion = 1\nname = "{name}"\n'
        'summary = "n"\nregimes = [{ alpha = "1 µs", beta = "1 ns" }]\n',
        encoding="utf-8",
    )
    words = ["model", "predict", "fichier.toml", "--sizes", "8"]
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert b"Schafer->1" in run_in_pipe(folder, words, **locale).stdout
    assert name in run_in_pipe(folder, words).stdout.decode()


def test_names_of_files_are_printed_as_they_are(folder: Path) -> None:
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = ["map", "p.npz", *FLAT, "-o", "größe.json"]
    assert "größe.json" in run_in_pipe(folder, words, **locale).stdout.decode()
    page = ["report", "größe.json", "-o", "größe.html"]
    run_in_pipe(folder, page, **locale)
    assert (folder / "größe.html").exists()


def test_the_help_fits_into_narrow_terminals(folder: Path) -> None:
    shown = run_on_terminal(folder, ["map", "--help"], 40)
    options = shown.partition("Options:")[2]
    long = [line for line in options.splitlines() if len(line) > 40]
    assert [line for line in long if len(line.split()) > 1] == []


def test_names_from_files_do_not_control_the_terminal(tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\x9b31m"
    name = f"{hostile}.npz"
    save_graph(tmp_path / name, stencil([4, 4], 5, bytes=1024))
    words = [TOPOLOOM, "map", name, *MACHINE, "-o", "x.json"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    placement = json.loads((tmp_path / "x.json").read_text())
    assert placement["graph"] == name
    (tmp_path / "hosts").write_text("".join(f"{hostile}{i}\n" for i in range(16)))
    for words in (
        ["judge", "x.json"],
        ["pattern", "show", name],
        ["map", name, *MACHINE, "--hosts", "hosts", "-o", f"{hostile}.json"],
        ["judge", f"missing{hostile}"],
    ):
        done = subprocess.run([TOPOLOOM, *words], cwd=tmp_path, capture_output=True)
        shown = (done.stdout + done.stderr).decode()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown), words
