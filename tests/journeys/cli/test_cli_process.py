# SPDX-License-Identifier: BSD-3-Clause
"""The installed command in a separate process: help, completion, signals, pipes."""

from __future__ import annotations

import contextlib
import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from json_documents import check_document
from own_process import wait_for_cpu_time

from topoloom.cli.app import COMMANDS, command_names

if TYPE_CHECKING:
    from tests.conftest import Command

TOPOLOOM = str(Path(sys.executable).parent / "topoloom")


def run_command(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TOPOLOOM, *words],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        **more,
    )  # type: ignore[call-overload]


def test_help_lists_every_command_without_importing_it() -> None:
    shown = run_command("--help")
    assert shown.returncode == 0
    for name, entry in COMMANDS.items():
        assert name in shown.stdout
        assert entry.summary in shown.stdout
    code = (
        "import sys; from topoloom.cli.app import run; run(['--help'])\n"
        "heavy = {'numpy', 'rich', 'matplotlib', 'topoloom._core'} & set(sys.modules)\n"
        "others = [m for m in sys.modules if m == 'topoloom.cli.commands.map']\n"
        "sys.exit(f'loaded {heavy} {others}' if heavy or others else 0)"
    )
    checked = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


def test_a_command_without_arguments_prints_the_help() -> None:
    assert run_command().stdout == run_command("--help").stdout
    assert run_command("machine").stdout == run_command("machine", "--help").stdout


@pytest.mark.parametrize("name", command_names())
def test_the_help_of_every_command_has_examples(topoloom: Command, name: str) -> None:
    shown = topoloom(*name.split(), "--help")
    assert shown.status == 0, shown.err
    assert "--json" in shown.out
    assert f"topoloom {name}" in shown.out.partition("Options")[0].partition("\n")[2]


def test_the_version_is_printed() -> None:
    assert run_command("--version").stdout.startswith("topoloom ")


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    command = f"{TOPOLOOM} list --json | head -c 1"
    piped = subprocess.run(
        command, shell=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert piped.stderr == ""


def test_an_error_is_one_line_without_a_traceback(tmp_path: Path) -> None:
    refused = run_command("map", "none.npz", "--machine", "torus:4x4", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr == "topoloom: none.npz: No such file or directory\n"


def test_a_full_disk_is_a_failure(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("/dev/full does not exist on this system")
    failed = run_command(
        "machine", "export", "torus:4x4", "-o", "/dev/full", cwd=tmp_path
    )
    assert failed.returncode == 1
    assert failed.stderr == "topoloom: /dev/full: No space left on device\n"


@pytest.mark.parametrize("words", ["list --json", "list", "help --json", "--version"])
def test_a_closed_stdout_is_no_error(words: str) -> None:
    command = f"{TOPOLOOM} {words} >&-"
    closed = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (closed.returncode, closed.stderr) == (0, "")


@pytest.mark.parametrize("words", ["--version", "--help"])
def test_a_full_stdout_is_a_failure(words: str) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        failed = subprocess.run(
            [TOPOLOOM, words], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert failed.returncode == 1
    assert failed.stderr == "topoloom: No space left on device\n"


def is_searching(pid: int) -> bool:
    """Return whether a process searches: then it has opened a socket for Ctrl-C."""
    # Files can appear and vanish during the scan, and the process can end.
    with contextlib.suppress(FileNotFoundError):
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                # Standard streams can also be sockets.
                if int(file.name) > 2 and "socket" in str(file.readlink()):
                    return True
    return False


def interrupt_search(*words: str, cwd: Path, output: str = "x.json") -> None:
    """Interrupt a running search, which must write its result and report it."""
    process = subprocess.Popen(
        [TOPOLOOM, *words, "-o", output, "--threads", "2"],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not is_searching(process.pid):
        time.sleep(0.1)
    wait_for_cpu_time(process, 1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130, errors
    best = "placements" if words[0] == "joint" else "placement"
    assert errors.splitlines() == [
        f"topoloom: interrupted; {output} holds the best {best} so far"
    ]


def test_ctrl_c_while_the_command_is_loading_gives_one_line() -> None:
    code = (
        "import sys, topoloom.cli\n"
        "class Loading:\n"
        "    def find_spec(self, *_):\n"
        "        raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Loading())\n"
        "topoloom.cli.main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 130
    assert ended.stderr == "topoloom: interrupted\n"


def start_endless_mapper(folder: Path) -> subprocess.Popen[str]:
    """Start a search that never ends, and wait until it searches."""
    (folder / "mine.py").write_text(
        "import pathlib, time\n"
        "def place(problem):\n"
        "    pathlib.Path('begun').touch()\n"
        "    while True: time.sleep(0.01)\n"
    )
    made = run_command(
        "pattern", "generate", "ring", "--ranks", "4", "-o", "p.npz", cwd=folder
    )
    assert made.returncode == 0, made.stderr
    words = ["compare", "p.npz", "-m", "torus:2x2", "--mappers", "mine.py:place"]
    process = subprocess.Popen(
        [TOPOLOOM, *words], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and not (folder / "begun").exists():
        time.sleep(0.05)
    return process


def test_a_second_ctrl_c_ends_a_mapper_that_ignores_the_first(tmp_path: Path) -> None:
    process = start_endless_mapper(tmp_path)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    assert process.returncode == 130
    assert process.stderr is not None
    assert process.stderr.read() == "topoloom: interrupted\n"


def test_sigterm_ends_a_search(tmp_path: Path) -> None:
    process = start_endless_mapper(tmp_path)
    process.terminate()
    process.communicate(timeout=600)
    assert process.returncode == -signal.SIGTERM  # 143 in a shell


def test_ctrl_c_ends_a_search_with_the_best_so_far(tmp_path: Path) -> None:
    made = run_command(
        "pattern",
        "generate",
        "random-geometric",
        "--ranks",
        "40000",
        "-o",
        "p.npz",
        cwd=tmp_path,
    )
    assert made.returncode == 0, made.stderr
    mapper = "random+swap(reach=100,candidates=100000)"
    interrupt_search(
        "map", "p.npz", "-m", "torus:200x200", "--mapper", mapper, cwd=tmp_path
    )
    document = json.loads((tmp_path / "x.json").read_text())
    assert sorted(document["placement"]) == list(range(40000))


@pytest.mark.parametrize("imbalance", [[], ["--imbalance", "0.03"]])
def test_ctrl_c_ends_the_best_effort_with_the_best_so_far(
    tmp_path: Path, imbalance: list[str]
) -> None:
    # Large enough that the search is still running when the signal arrives.
    ranks = 200_000 if imbalance else 40_000
    words = ["random-geometric", "--ranks", str(ranks), "-o", "p.npz"]
    made = run_command("pattern", "generate", *words, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    machine = "torus:16x16" if imbalance else "torus:200x200"
    interrupt_search(
        "map", "p.npz", "-m", machine, "--effort", "best", *imbalance, cwd=tmp_path
    )
    judged = run_command("judge", "p.npz", "x.json", "--json", cwd=tmp_path)
    assert judged.returncode == 0, judged.stderr
    values = check_document(judged.stdout)
    fullest = math.floor(1.03 * math.ceil(ranks / 256))
    assert not imbalance or values["load_max"] <= fullest
    assert ("load_max" in values) is bool(imbalance)


def test_ctrl_c_ends_the_ordering_of_a_collective_with_the_best_so_far(
    tmp_path: Path,
) -> None:
    network = "torus:32x32x16,bandwidth=1GB/s"
    words = [
        "allgather",
        "-n",
        "16000",
        "--model",
        "hdr",
        "-m",
        network,
    ]
    interrupt_search("collective", "place", *words, cwd=tmp_path)
    document = json.loads((tmp_path / "x.json").read_text())
    assert len(set(document["placement"])) == 16000


def test_ctrl_c_ends_all_searches_of_joint_with_the_best_so_far(
    tmp_path: Path,
) -> None:
    words = ["random-geometric", "--ranks", "8000", "-o", "p.npz"]
    made = run_command("pattern", "generate", *words, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    jobs = ["p.npz", "p.npz", "-m", "torus:160x100"]
    interrupt_search(
        "joint", *jobs, "--mapper", "auto(effort=best)", output="d", cwd=tmp_path
    )
    slots = [
        json.loads((tmp_path / f"d/p-{n}.json").read_text())["placement"]
        for n in (1, 2)
    ]
    assert sorted(slots[0] + slots[1]) == list(range(16000))


def test_judge_and_compare_write_figures(tmp_path: Path) -> None:
    run_command(
        "pattern", "generate", "stencil2d", "--grid", "4x4", "-o", "p.npz", cwd=tmp_path
    )
    run_command("map", "p.npz", "-m", "torus:5x5", "-o", "x.json", cwd=tmp_path)
    judged = run_command("judge", "p.npz", "x.json", "--figure", "j.svg", cwd=tmp_path)
    assert judged.returncode == 0, judged.stderr
    assert (tmp_path / "j.svg").read_text().startswith("<?xml")
    compared = run_command(
        "compare", "p.npz", "-m", "torus:5x5", "--figure", "c.png", cwd=tmp_path
    )
    assert compared.returncode == 0, compared.stderr
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_ctrl_c_ends_the_ordering_of_axes_with_the_best_so_far(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [
            *(TOPOLOOM, "ai", "axes", "--machine", "rails:8:128:4", "--to", "name"),
            *("--framework", "megatron", "--ranks", "1024", "--tp", "4", "--cp", "4"),
            *("--pp", "4", "--ep", "8"),
            *("--traffic", "tp=1GB,cp=1GB,ep=4GB,etp=1GB,pp=1GB,cp+dp=500MB,edp=1GB"),
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not is_searching(process.pid):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    order, errors = process.communicate(timeout=600)
    assert process.returncode == 130, errors
    assert errors == "topoloom: interrupted; the printed order is the best so far\n"
    assert sorted(order.strip().split("-")) == ["cp", "dp", "ep", "pp", "tp"]


def test_ctrl_c_works_while_schedules_are_costed() -> None:
    network = "torus:64x64x64,bandwidth=1GB/s"
    words = ["alltoall", "-n", "250000", "--model", "hdr", "-m", network]
    process = subprocess.Popen(
        [TOPOLOOM, "collective", "rank", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_cpu_time(process, 3)  # until the program is loaded and computing
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130, errors
    assert errors == "topoloom: interrupted\n"
