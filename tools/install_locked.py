#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs packages of requirements.lock into the Python that runs this script.

Usage: install_locked.py [--PIP-OPTION...] NAME|.[EXTRA,...]...
`.[dev]` is what an extra of pyproject.toml requires, without Topoloom. Versions are
those of the lock file, and files must have its hashes, also of all dependencies.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "tools/requirements.lock"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def main() -> int:
    """Install the packages of the command line."""
    options = [word for word in sys.argv[1:] if word.startswith("-")]
    names = set()
    for word in sys.argv[1:]:
        if word.startswith("."):
            names |= list_dependencies(word.strip(".[]").split(","))
        elif not word.startswith("-"):
            names.add(normalize(word))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(select_requirements(LOCK.read_text(encoding="utf-8"), names))
        file.flush()
        pip = [sys.executable, "-m", "pip", "install", "-q", "--require-hashes"]
        return subprocess.run([*pip, *options, "-r", file.name], check=False).returncode


def list_dependencies(extras: list[str]) -> set[str]:
    """List the packages that Topoloom requires, alone and with extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names, left = set(), [*project["dependencies"]]
    for extra in filter(None, extras):
        left += project["optional-dependencies"][extra]
    for requirement in left:
        name = NAME.match(requirement)[0]
        if name == project["name"]:
            names |= list_dependencies(
                re.search(r"\[(.*)\]", requirement)[1].split(",")
            )
        else:
            names.add(normalize(name))
    return names


def select_requirements(lock: str, names: set[str]) -> str:
    """Select the lines of packages and their dependencies.

    The lock file names the dependents of each package after `# via`.
    """
    blocks, dependencies = defaultdict(str), defaultdict(set)
    for block in re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]:
        name = NAME.match(block)[0]
        blocks[name] += block
        _, _, dependents = block.partition("# via")
        for dependent in NAME.findall(dependents):
            dependencies[dependent].add(name)
    if unknown := names - blocks.keys():
        raise SystemExit(f"{LOCK.name} lacks {', '.join(sorted(unknown))}; make lock")
    found, left = set(), set(names)
    while left:
        found |= left
        left = {child for name in left for child in dependencies[name]} - found
    return "".join(blocks[name] for name in sorted(found))


def normalize(name: str) -> str:
    """Return a name as the lock file spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main())
