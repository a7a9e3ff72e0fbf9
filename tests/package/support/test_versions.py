# SPDX-License-Identifier: BSD-3-Clause
"""All parts have one version; a compiled core of another is refused in one line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from topoloom import __version__

OTHER = "import topoloom.support.version as v; v.__version__ = '99.1'\n"
LINE = (
    f"topoloom's compiled core is of version {__version__}, but its Python package is "
    "of 99.1; install both again: pip install --force-reinstall topoloom"
)


@pytest.mark.parametrize(
    ("code", "message_prefix"),
    [
        ("from topoloom import place", "ImportError: "),
        (
            "from topoloom.cli.app import run\n"
            "raise SystemExit(run(['map', 'p.npz', '-m', 'torus:4']))",
            "topoloom: ",
        ),
    ],
    ids=["python", "command line"],
)
def test_different_versions_of_core_and_package_are_refused(
    code: str, message_prefix: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OTHER + code], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == message_prefix + LINE
    assert "Traceback" not in done.stderr or message_prefix.startswith("ImportError")


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CMakeLists.txt", r"project\(topoloom VERSION (\S+) "),
        ("mpi/CMakeLists.txt", r"project\(topoloom-mpi VERSION (\S+) "),
        ("CITATION.cff", r"^version: (\S+)$"),
        ("CHANGELOG.md", r"^## (\S+)"),
    ],
)
def test_files_name_the_version_of_the_package(file: str, pattern: str) -> None:
    text = (Path(__file__).resolve().parents[3] / file).read_text()
    found = re.search(pattern, text, re.MULTILINE)
    assert found is not None
    assert found[1] == __version__
