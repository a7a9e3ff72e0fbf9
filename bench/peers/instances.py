# SPDX-License-Identifier: BSD-3-Clause
"""The sets of instances. Instances are made on first use and cached in build/."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import prod
from pathlib import Path

from peers import graphs
from peers.graphs import Graph
from peers.instance import Instance, load_instance

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "graphs"
FOLDER = ROOT / "build" / "bench-peers" / "instances"

MESHES = ("delaunay_n15", "rgg_n_2_15_s0")
FRAGMENTS = "25x32x16"


@dataclass(frozen=True)
class Recipe:
    """A function that makes an instance, and its required file.

    Attributes
    ----------
    needs
        A required file, or None.
    make
        Makes the instance, without a folder.
    """

    group: str
    name: str
    make: Callable[[], Instance]
    needs: Path | None = None

    def missing(self) -> str:
        """Describe the missing file, or return an empty text."""
        there = self.needs is None or self.needs.exists()
        return "" if there else f"{self.name}: no {self.needs}"

    def get(self, folder: Path = FOLDER) -> Instance:
        """Load the instance from the cache, or make and save it."""
        home = folder / self.group / self.name
        made_by = home / "made-by"
        if made_by.exists() and made_by.read_text() == recipes():
            return load_instance(home)
        instance = replace(self.make(), folder=home)
        instance.write()
        made_by.write_text(recipes())
        return instance


@cache
def recipes() -> str:
    """Return a digest of the generators' sources; a change invalidates the cache."""
    files = (Path(__file__), Path(graphs.__file__))
    return hashlib.sha256(b"".join(map(Path.read_bytes, files))).hexdigest()


def tree(
    group: str, name: str, graph: Graph, levels: str, imbalance: float = 0.0
) -> Instance:
    """Make an instance on a tree such as 4:8:16 with distances 1:10:100."""
    arities = tuple(map(int, levels.split(":")))
    distances = tuple(10**level for level in range(len(arities)))
    costs = ":".join(map(str, distances))
    return Instance(
        group,
        name,
        graph,
        f"tree:{levels},distance={costs}",
        prod(arities),
        imbalance=imbalance,
        hierarchy=arities,
        distances=distances,
    )


def torus(
    group: str, name: str, graph: Graph, extents: str, fragments: int = 0, seed: int = 1
) -> Instance:
    """Make an instance on a torus; with `fragments`, on a ragged part of it."""
    sizes = tuple(map(int, extents.split("x")))
    machine = f"torus:{extents}"
    nodes = None
    if fragments:
        from topoloom import Machine
        from topoloom.allocations import fragmented_allocation

        part = fragmented_allocation(Machine(machine), graph.size, fragments, seed)
        nodes = tuple(int(node) for node in part.nodes)
    slots = prod(sizes) if nodes is None else len(nodes)
    return Instance(group, name, graph, machine, slots, nodes, extents=sizes)


def n_to_1() -> Iterator[Recipe]:
    """Yield meshes of 32,768 vertices on 32 to 192 slots, with 3 % imbalance."""
    for mesh in MESHES:
        file = DATA / f"{mesh}.graph"
        for groups in (1, 2, 4, 6):
            levels = f"4:8:{groups}"
            name = f"{mesh}-on-{levels.replace(':', '_')}"
            yield Recipe(
                "n-to-1", name, partial(_make_mesh_recipe, name, file, levels), file
            )


def _make_mesh_recipe(name: str, file: Path, levels: str) -> Instance:
    graph = graphs.read_metis(file.read_text())
    return tree("n-to-1", name, graph, levels, imbalance=0.03)


STENCILS = (
    ((8, 8, 8), "4:8:16"),
    ((24, 24), "4:6:24"),
    ((12, 10, 8), "6:8:20"),
)


def stencils() -> Iterator[Recipe]:
    """Yield non-periodic star stencils, one rank per slot; in order and shuffled."""
    for grid, levels in STENCILS:
        for order in ("natural", "shuffled"):
            shape = "x".join(map(str, grid))
            name = f"{shape}-{order}-on-{levels.replace(':', '_')}"
            make = partial(_make_stencil_recipe, name, grid, levels, order)
            yield Recipe("stencils", name, make)


def _make_stencil_recipe(
    name: str, grid: Sequence[int], levels: str, order: str
) -> Instance:
    graph = graphs.stencil(grid, "star")
    if order == "shuffled":
        graph = graphs.shuffled(graph, 1)
    return tree("stencils", name, graph, levels)


def matching_tori() -> Iterator[Recipe]:
    """Yield shuffled periodic stencils on tori of their shape; the optimum is 1 hop."""
    for side in (16, 32):
        name = f"7-point-on-{side}x{side}x{side}"
        yield Recipe("tori", name, partial(_make_matching_recipe, name, side))


def _make_matching_recipe(name: str, side: int) -> Instance:
    graph = graphs.shuffled(graphs.stencil([side] * 3, "star", periodic=True), 1)
    return torus("tori", name, graph, f"{side}x{side}x{side}")


def _make_collective_recipe(which: str, ranks: int) -> Graph:
    import topoloom.graphs

    return graphs.from_topoloom(getattr(topoloom.graphs, which)(ranks))


_PLANE = {512: (16, 32), 1000: (25, 40), 4096: (64, 64)}
_CUBE = {512: (8, 8, 8), 1000: (10, 10, 10), 4096: (16, 16, 16)}

#: Patterns of the ragged set, as functions of the number of ranks.
PATTERNS: dict[str, Callable[[int], Graph]] = {
    "delaunay2d": lambda n: graphs.delaunay(n, 2, 1),
    "delaunay3d": lambda n: graphs.delaunay(n, 3, 1),
    "mesh2d": lambda n: graphs.partitioned_mesh(n, 2, 1),
    "mesh3d": lambda n: graphs.partitioned_mesh(n, 3, 1),
    "5-point": lambda n: graphs.stencil(_PLANE[n], "star"),
    "27-point": lambda n: graphs.stencil(_CUBE[n], "box"),
    "doubling": lambda n: _make_collective_recipe("recursive_doubling", n),
    "bruck": lambda n: _make_collective_recipe("bruck", n),
    "binomial": lambda n: _make_collective_recipe("binomial_tree", n),
}


def ragged() -> Iterator[Recipe]:
    """Yield 9 patterns of 512, 1000, 4096 ranks on tori and on ragged parts of tori."""
    for ranks, cube in _CUBE.items():
        shape = "x".join(map(str, cube))
        for pattern in PATTERNS:
            for place in (shape, "fragments"):
                name = f"{pattern}-{ranks}-on-{place}"
                make = partial(_make_torus_recipe, name, pattern, ranks, place)
                yield Recipe("ragged", name, make)


def _make_torus_recipe(name: str, pattern: str, ranks: int, place: str) -> Instance:
    graph = PATTERNS[pattern](ranks)
    if place == "fragments":
        return torus("ragged", name, graph, FRAGMENTS, fragments=8, seed=1)
    return torus("ragged", name, graph, place)


_LARGE = {
    10_000: ((20, 20, 25), "4:8:16:20"),
    100_000: ((40, 50, 50), "4:8:16:200"),
    1_000_000: ((100, 100, 100), "4:8:16:2000"),
}


def scale() -> Iterator[Recipe]:
    """Yield 10^4 to 10^6 ranks on tori and on trees with as many slots."""
    for ranks, (grid, levels) in _LARGE.items():
        for pattern in ("27-point", "delaunay3d"):
            shape = "x".join(map(str, grid))
            for place in (shape, levels.replace(":", "_")):
                name = f"{pattern}-{ranks}-on-{place}"
                make = partial(_make_large_recipe, name, pattern, ranks, place == shape)
                yield Recipe("scale", name, make)


def _make_large_recipe(name: str, pattern: str, ranks: int, on_torus: bool) -> Instance:
    grid, levels = _LARGE[ranks]
    if pattern == "27-point":
        graph = graphs.stencil(grid, "box")
    else:
        graph = graphs.delaunay(ranks, 3, 1)
    if on_torus:
        return torus("scale", name, graph, "x".join(map(str, grid)))
    return tree("scale", name, graph, levels)


#: The sets in the order of their tables.
SETS: dict[str, Callable[[], Iterator[Recipe]]] = {
    "n-to-1": n_to_1,
    "stencils": stencils,
    "tori": matching_tori,
    "ragged": ragged,
    "scale": scale,
}
