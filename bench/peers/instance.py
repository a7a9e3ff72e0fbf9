# SPDX-License-Identifier: BSD-3-Clause
"""An instance (graph, machine, allocation, imbalance), saved as a folder.

Every tool gets the folder::

    graph.graph       METIS graph
    allocation.txt    node ids, one per line; only if not the whole machine
    instance.json     machine, allocation, imbalance, sizes, hash
    graph.npz         the graph as arrays
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from peers.files import format_metis_graph
from peers.graphs import Graph, Ints


@dataclass(frozen=True)
class Instance:
    """A graph to place, and its target.

    Attributes
    ----------
    group, name
        Set of the instance, and a name that is unique in all sets.
    graph
        Communication graph of the ranks.
    machine
        Topoloom's machine text. Every node has one slot.
    nodes
        The allocated nodes; None if all of them.
    imbalance
        0 for one rank per slot, else the allowed excess of a slot's load over the mean.
    hierarchy, distances
        The tree's arities and distances, bottom-up; empty for other machines.
    extents
        The torus's extents; empty for other machines.
    """

    group: str
    name: str
    graph: Graph
    machine: str
    slots: int
    nodes: tuple[int, ...] | None = None
    imbalance: float = 0.0
    hierarchy: tuple[int, ...] = ()
    distances: tuple[int, ...] = ()
    extents: tuple[int, ...] = ()
    folder: Path = field(default_factory=Path)

    @cached_property
    def hash(self) -> str:
        """Hash of graph, machine, allocation and imbalance in twelve digits."""
        digest = hashlib.blake2b(digest_size=6)
        for part in (
            self.graph.first,
            self.graph.peer,
            self.graph.weight,
            self.graph.load,
        ):
            digest.update(np.ascontiguousarray(part, "<i8").tobytes())
        rest = [self.machine, self.nodes, self.imbalance]
        digest.update(json.dumps(rest).encode())
        return digest.hexdigest()

    @property
    def n_to_1(self) -> bool:
        """Whether ranks share slots."""
        return self.graph.size > self.slots

    @property
    def capacity(self) -> int:
        """The maximum load of a slot: one rank, or (1 + imbalance) times the mean."""
        if not self.n_to_1:
            return 1
        total = int(self.graph.load.sum())
        mean = -(-total // self.slots)
        # Compute in thousandths, so that 0.03 is exact.
        return mean * (1000 + round(1000 * self.imbalance)) // 1000

    def slot_ids(self) -> Ints:
        """Return the machine's slots in the order of the allocation."""
        if self.nodes is None:
            return np.arange(self.slots)
        return np.array(self.nodes, np.int64)

    def write(self) -> None:
        """Write the folder, unless it has the same content."""
        about = self.folder / "instance.json"
        if about.exists() and json.loads(about.read_text())["hash"] == self.hash:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "graph.graph").write_text(format_metis_graph(self.graph))
        arrays = {
            name: getattr(self.graph, name)
            for name in ("first", "peer", "weight", "load")
        }
        np.savez(self.folder / "graph.npz", **arrays)
        if self.nodes is not None:
            lines = "".join(f"{node}\n" for node in self.nodes)
            (self.folder / "allocation.txt").write_text(lines)
        about.write_text(json.dumps(self.document(), indent=1) + "\n")

    def document(self) -> dict[str, object]:
        """Return the content of instance.json."""
        return {
            "group": self.group,
            "name": self.name,
            "hash": self.hash,
            "machine": self.machine,
            "ranks": self.graph.size,
            "edges": len(self.graph.peer) // 2,
            "slots": self.slots,
            "capacity": self.capacity,
            "imbalance": self.imbalance,
            "hierarchy": list(self.hierarchy),
            "distances": list(self.distances),
            "extents": list(self.extents),
            "nodes": None if self.nodes is None else list(self.nodes),
        }


def load_instance(folder: Path) -> Instance:
    """Read a folder written by `Instance.write`."""
    about = json.loads((folder / "instance.json").read_text())
    with np.load(folder / "graph.npz") as arrays:
        graph = Graph(**{name: arrays[name] for name in arrays.files})
    return Instance(
        about["group"],
        about["name"],
        graph,
        about["machine"],
        about["slots"],
        None if about["nodes"] is None else tuple(about["nodes"]),
        about["imbalance"],
        tuple(about["hierarchy"]),
        tuple(about["distances"]),
        tuple(about["extents"]),
        folder,
    )
