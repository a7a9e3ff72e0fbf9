# SPDX-License-Identifier: BSD-3-Clause
"""Names of machines: the zoo, and ``detect`` for this node or batch job."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from topoloom.support.plain_text import shorten
from topoloom.support.resources import find_shipped_folder

#: Name of the machine on which this process runs: its node or batch job.
DETECT = "detect"


class ZooEntry(NamedTuple):
    """A machine of the zoo, as ``topoloom list machines`` prints it."""

    name: str
    text: str
    summary: str
    source: str
    date: str


def zoo() -> list[ZooEntry]:
    """List the machine descriptions that ship with Topoloom."""
    from topoloom.machines.machine_toml import read_machine_toml

    entries = []
    for name, path in map_zoo_files().items():
        described, about = read_machine_toml(path)
        entries.append(
            ZooEntry(
                name,
                shorten(described.text),
                about.get("summary", about.get("name", "")),
                about.get("source", ""),
                about.get("date", ""),
            )
        )
    return entries


def zoo_names() -> list[str]:
    """List the names of the zoo's machines."""
    return list(map_zoo_files())


def map_zoo_files() -> dict[str, Path]:
    """Map the names of the zoo's machines to their files."""
    files = {
        path.stem: path for path in find_shipped_folder("machines").glob("*/*.toml")
    }
    return dict(sorted(files.items()))
