# SPDX-License-Identifier: BSD-3-Clause
"""Machines by short text, TOML description, METIS graph, or name from the zoo."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error, Machine
from topoloom.formats.machine_toml import metis_links, read_machine_toml
from topoloom.nearest import unknown_name
from topoloom.resources import shipped

#: name -> what it is, and an example of its short text
TOPOLOGIES = {
    "torus": (
        "rings in every dimension (wrap=110 opens some); dimension-ordered routes",
        "torus:17x8x24,nodes=2,bandwidth=9.4GB/s,bandwidth.y=half",
    ),
    "mesh": ("a torus without the wrap-around links", "mesh:4x4x4"),
    "tree": (
        "levels bottom-up: 4 in a group, 8 groups in the next; absolute distances",
        "tree:4:8:2,distance=1:10:100",
    ),
    "graph": (
        "nodes and links one by one, switches after the nodes; shortest paths",
        "graph:4+1:0-4,1-4,2-4,3-4",
    ),
    "+node": (
        "behind any of these: slots in a node, bottom-up, with distances",
        "torus:8x8x8+node:16:2,distance=1:2",
    ),
}


class ZooEntry(NamedTuple):
    """One described machine of the zoo."""

    name: str
    text: str
    summary: str
    source: str


def load_machine(text: str | Path) -> Machine:
    """Make a machine.

    Parameters
    ----------
    text
        A short text such as ``torus:8x8x8``, the path of a TOML description or of a
        METIS ``.graph`` file (every vertex a node; an edge weight multiplies the
        link's bandwidth), or a name from `zoo`.

    Raises
    ------
    topoloom.Error
        If it is none of these, or the description is wrong.
    OSError
        If the file cannot be read.
    """
    path = Path(text)
    if path.suffix == ".toml":
        return _from_toml(path)
    if path.suffix in (".graph", ".metis") and ":" not in str(text):
        count, links = metis_links(path, 1.0)
        return _checked(path, f"graph:{count}:{','.join(links)}")
    name = str(text)
    if ":" in name:
        return Machine(name)
    files = _zoo_files()
    if name not in files:
        raise Error(
            unknown_name("machine", name, files)
            + "; or write one, such as torus:8x8x8, or name a .toml file"
        )
    return _from_toml(files[name])


def zoo() -> list[ZooEntry]:
    """List the described machines that ship with Topoloom."""
    entries = []
    for name, path in _zoo_files().items():
        text, about = read_machine_toml(path)
        entries.append(
            ZooEntry(
                name,
                text if len(text) <= 60 else text[:57] + "...",
                about.get("summary", about.get("name", "")),
                about.get("source", ""),
            )
        )
    return entries


def zoo_names() -> list[str]:
    """Name the machines of the zoo."""
    return list(_zoo_files())


def _zoo_files() -> dict[str, Path]:
    return {path.stem: path for path in sorted(shipped("machines").glob("*.toml"))}


def _from_toml(path: Path) -> Machine:
    text, _ = read_machine_toml(path)
    return _checked(path, text)


def _checked(path: Path, text: str) -> Machine:
    try:
        return Machine(text)
    except Error as error:
        raise Error(f"{path}: {error}") from None
