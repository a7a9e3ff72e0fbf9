# SPDX-License-Identifier: BSD-3-Clause
"""All parts have one version; a compiled core of another is refused in one line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from topoloom import __version__

ROOT = Path(__file__).resolve().parents[3]
SPACK = "packaging/spack/spack_repo/topoloom/packages"
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
        ("packaging/apptainer/container.def", r"^ +Version (\S+)$"),
        ("packaging/conda/recipe.yaml", r"^  version: ([\d.]+)$"),
        (f"{SPACK}/topoloom/package.py", r'^    version\("(\d\S+)", tag='),
        (f"{SPACK}/topoloom/package.py", r'tag="v(\S+)"'),
        (f"{SPACK}/py_topoloom/package.py", r'^    version\("(\d\S+)", tag='),
        (f"{SPACK}/py_topoloom/package.py", r'tag="v(\S+)"'),
        (f"packaging/modules/topoloom/{__version__}.lua", r"Version: (\S+)\""),
        (f"packaging/modules/topoloom/{__version__}.lua", r'"/opt/topoloom/(\S+)"'),
        ("docs/install.md", r"topoloom/([\d.]+)\.lua"),
        ("docs/install.md", r"^prefix=/opt/topoloom/(\S+)$"),
        ("docs/develop/packaging.md", r"dist/topoloom-([\d.]+)-"),
        ("docs/develop/packaging.md", r"topoloom/([\d.]+)\.lua"),
    ],
)
def test_files_name_the_version_of_the_package(file: str, pattern: str) -> None:
    found = re.search(pattern, (ROOT / file).read_text(), re.MULTILINE)
    assert found is not None
    assert found[1] == __version__
