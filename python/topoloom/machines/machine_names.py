# SPDX-License-Identifier: BSD-3-Clause
"""Names of machines: the zoo, and ``detect`` for the machine of this process."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from topoloom.support.resources import find_shipped

#: Stands for the machine of this process.
DETECT = "detect"


class ZooEntry(NamedTuple):
    """One described machine of the zoo."""

    name: str
    text: str
    summary: str
    source: str
    date: str


def zoo() -> list[ZooEntry]:
    """List the described machines that ship with Topoloom."""
    from topoloom.machines.machine_toml import read_machine_toml

    entries = []
    for name, path in zoo_files().items():
        described, about = read_machine_toml(path)
        text = described.text
        entries.append(
            ZooEntry(
                name,
                text if len(text) <= 60 else text[:57] + "...",
                about.get("summary", about.get("name", "")),
                about.get("source", ""),
                about.get("date", ""),
            )
        )
    return entries


def zoo_names() -> list[str]:
    """Name the machines of the zoo."""
    return list(zoo_files())


def zoo_files() -> dict[str, Path]:
    """Map the names of the zoo's machines to their files."""
    files = {path.stem: path for path in find_shipped("machines").glob("*/*.toml")}
    return dict(sorted(files.items()))
