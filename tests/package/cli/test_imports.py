# SPDX-License-Identifier: BSD-3-Clause
"""A verb imports what it needs, and no more: that is most of what a start costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

#: Runs a command line, and prints the modules that it imported besides numpy's.
RUN = """
import json, os, sys
if sys.argv[1] == "map":
    import numpy
before = set(sys.modules)
from topoloom.cli.app import run
printed, sys.stdout = sys.stdout, open(os.devnull, "w")
assert run(sys.argv[1:]) == 0
json.dump(sorted(set(sys.modules) - before), printed)
"""
#: They are for a terminal, other formats, figures, reports and other verbs.
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


def imported(folder: Path, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(("machine", "most"), [("torus:4x4", 140), ("frontier", 160)])
def test_map_imports_little(tmp_path: Path, machine: str, most: int) -> None:
    made = ("pattern", "stencil2d", "--grid", "2x2", "--bytes", "1024", "-o", "p.npz")
    imported(tmp_path, *made)
    modules = imported(tmp_path, "map", "p.npz", "-m", machine, "-o", "x.json")
    assert not HEAVY & modules
    assert len(modules) <= most, modules


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
def test_help_and_lists_go_without_numpy(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    modules = imported(tmp_path, *words)
    assert not (HEAVY | {"numpy"}) & modules


def test_a_name_is_completed_without_numpy(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from topoloom.cli.complete import machines\n"
        "assert machines('ho') == ['hopper']\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
