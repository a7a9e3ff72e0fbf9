# SPDX-License-Identifier: BSD-3-Clause
"""Each command imports only needed modules: imports dominate startup time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

#: Runs a command line and prints the imported modules, without numpy for `map`.
RUN_AND_LIST_MODULES = """
import json, os, sys
if sys.argv[1] == "map":
    import numpy
before = set(sys.modules)
from topoloom.cli.app import run
printed, sys.stdout = sys.stdout, open(os.devnull, "w")
assert run(sys.argv[1:]) == 0
json.dump(sorted(set(sys.modules) - before), printed)
"""
#: Modules needed only for terminals, other formats, figures, reports or other commands.
HEAVY = {
    "defusedxml",
    "email",
    "importlib.metadata",
    "jinja2",
    "matplotlib",
    "numpy.ma",
    "rich",
    "scipy",
    "topoloom.graphs.nccl_collectives",
    "topoloom.importers.cloud",
    "topoloom.importers.cray",
    "topoloom.importers.infiniband",
    "topoloom.importers.simgrid",
    "topoloom.importers.slurm",
    "topoloom.importers.system",
    "topoloom.machines.import_formats",
    "topoloom.nccl",
    "yaml",
}


def list_imported_modules(folder: Path, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN_AND_LIST_MODULES, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(("machine", "limit"), [("torus:4x4", 140), ("frontier", 160)])
def test_map_imports_few_modules(tmp_path: Path, machine: str, limit: int) -> None:
    write_pattern = (
        "pattern",
        "generate",
        "stencil2d",
        "--grid",
        "2x2",
        "--bytes",
        "1024",
        "-o",
        "p.npz",
    )
    list_imported_modules(tmp_path, *write_pattern)
    modules = list_imported_modules(
        tmp_path, "map", "p.npz", "-m", machine, "-o", "x.json"
    )
    assert not HEAVY & modules
    assert len(modules) <= limit, modules


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("map", "--help"),
        ("list", "mappers"),
        ("list", "machines"),
        ("list", "patterns"),
    ],
    ids=" ".join,
)
def test_help_and_lists_do_not_import_numpy(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    modules = list_imported_modules(tmp_path, *words)
    assert not (HEAVY | {"numpy"}) & modules


def test_completion_does_not_import_numpy(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from topoloom.cli.completions import machines\n"
        "assert machines('ho') == ['hopper']\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_the_command_line_imports_numpy_without_threads(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from topoloom.cli.numpy_import import import_numpy_single_threaded\n"
        "before = dict(os.environ)\n"
        "import_numpy_single_threaded()\n"
        "import numpy\n"
        "assert dict(os.environ) == before\n"
        "print(len(os.listdir('/proc/self/task')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "1\n"
