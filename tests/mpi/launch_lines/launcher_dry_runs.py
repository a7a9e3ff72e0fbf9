# SPDX-License-Identifier: BSD-3-Clause
"""Dry runs of launchers on described nodes, and random launch lines for them."""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mpis import MPICH, OPEN_MPI_4, OPEN_MPI_5, need

from topoloom.launch.orders.node_cores import NodeCores

Cores = frozenset[int]
#: The node of each rank, and the cores that it is bound to (empty: all).
Bound = list[tuple[int, Cores]]


@dataclass(frozen=True)
class DescribedNode:
    """A node as hwloc's synthetic description, and as topoloom knows it."""

    synthetic: str
    cores: NodeCores
    pus: int

    def write_xml(self, folder: Path) -> Path:
        """Write the node as hwloc XML; return the file."""
        path = folder / f"{re.sub('[ :]', '-', self.synthetic)}.xml"
        if not path.exists():
            lstopo = need("lstopo-no-graphics", "apt-get install hwloc")
            words = [lstopo, "-i", self.synthetic, "--of", "xml", path]
            subprocess.run(words, check=True, capture_output=True)
        return path


def describe_node(synthetic: str, count: int, **sizes: int) -> DescribedNode:
    cores = NodeCores(tuple(range(count)), sizes)
    return DescribedNode(synthetic, cores, int(synthetic[-1]))


NODES = [
    describe_node(
        "pack:2 numa:1 l3:2 l2:4 core:1 pu:2", 16, L2=1, L3=4, numa=8, package=8
    ),
    describe_node(
        "pack:1 numa:1 l3:1 l2:6 core:1 pu:2", 6, L2=1, L3=6, numa=6, package=6
    ),
    describe_node(
        "pack:2 numa:2 l3:1 l2:1 core:3 pu:1", 12, L2=3, L3=3, numa=3, package=6
    ),
    describe_node(
        "pack:3 numa:1 l3:2 l2:1 core:2 pu:2", 12, L2=2, L3=2, numa=4, package=4
    ),
]
#: Names of the nodes of Open MPI 4's simulator, each in a group of its own.
_SIMULATED = "ABDG"
_BOUND = re.compile(
    r"PROC \[\[\d+,1\],(\d+)\](?:\[node(\w)0\] TO .*: (?=\[)| ON node(\w)0 IS NOT )(.*)"
)


def run_open_mpi_4(
    nodes: Sequence[DescribedNode],
    ranks: int,
    words: Sequence[str],
    folder: Path,
    tries: int = 40,
) -> Bound | None:
    """Return where Open MPI 4 would start the ranks on different nodes.

    None if it does not, or its simulator fails where a real job would not. Its map is
    read from the log where possible, because the display often crashes.
    """
    room = [_count_slots(node, words) for node in nodes]
    hosts = [f"node{_SIMULATED[i]}0:{most}" for i, most in enumerate(room)]
    files = [str(node.write_xml(folder)) for node in nodes]
    simulator = {"num_nodes": ["1"] * len(nodes), "slots": ["1"] * len(nodes)}
    simulator |= {"max_slots": ["99"] * len(nodes), "topo_files": files}
    options = [
        word
        for name, values in simulator.items()
        for word in ("--mca", f"ras_simulator_{name}", ",".join(values))
    ]
    mpirun = need(OPEN_MPI_4.mpirun, OPEN_MPI_4.install)
    show = ["--host", ",".join(hosts), "--display-devel-map", "--do-not-launch"]
    show += ["--mca", "rmaps_base_verbose", "10"]
    command = [mpirun, *options, *show, "-n", str(ranks), *words, "true"]
    for i in range(tries):
        # The simulator reads uninitialized memory and often crashes: let malloc return
        # zeros, and put the stack elsewhere in each run.
        unused = {"MALLOC_PERTURB_": "255", "UNUSED": "x" * 37 * i}
        if bound := _read_open_mpi_4(_run(command, **unused), ranks):
            return bound
    return None


def _read_open_mpi_4(text: str, ranks: int) -> Bound | None:
    logged = {
        int(rank): (_SIMULATED.index(one or other), _parse_cores(bound))
        for rank, one, other, bound in _BOUND.findall(text)
    }
    if sorted(logged) == [*range(ranks)]:
        return [logged[rank] for rank in range(ranks)]
    return _parse(text, r"\s*Data for node: node(\w)", _SIMULATED.index, ranks)


def run_open_mpi_5(
    nodes: Sequence[DescribedNode], ranks: int, words: Sequence[str], folder: Path
) -> Bound | None:
    """Return where Open MPI 5 would start the ranks on equal nodes."""
    hostfile = folder / "hostfile"
    room = [_count_slots(node, words) for node in nodes]
    lines = [f"h{i} slots={most}\n" for i, most in enumerate(room)]
    hostfile.write_text("".join(lines))
    mpirun = need(OPEN_MPI_5.mpirun, OPEN_MPI_5.install)
    show = ["--display", "map", "--runtime-options", "donotlaunch"]
    text = _run(
        [mpirun, *show, "--hostfile", hostfile, "-n", ranks, *words, "true"],
        PRTE_MCA_hwloc_use_topo_file=str(nodes[0].write_xml(folder)),
    )
    return _parse(text, r"\s*Data for node: h(\d+)", int, ranks)


def run_hydra(
    nodes: Sequence[DescribedNode], ranks: int, words: Sequence[str], folder: Path
) -> Bound | None:
    """Return what Hydra would bind the ranks of one node to."""
    (node,) = nodes
    text = _run(
        [need(MPICH.mpirun, MPICH.install), "-n", ranks, *words, "true"],
        HYDRA_TOPO_DEBUG="1",
        HWLOC_XMLFILE=str(node.write_xml(folder)),
    )
    found = {
        int(rank): frozenset(i // node.pus for i, bit in enumerate(bits) if bit == "1")
        for rank, bits in re.findall(r"process (\d+) binding: ([01]+)", text)
    }
    return [(0, found[rank]) for rank in range(ranks)] if len(found) == ranks else None


def _count_slots(node: DescribedNode, words: Sequence[str]) -> int:
    """Return the ranks that fit on a node, given ``PE=2``."""
    match = re.search(r"PE=(\d+)", " ".join(words))
    return len(node.cores.cores) // (int(match[1]) if match else 1)


def _run(words: Sequence[object], **variables: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **variables},
        timeout=600,
    )
    return done.stdout + done.stderr


def _parse(
    text: str, node_line: str, number: Callable[[str], int], ranks: int
) -> Bound | None:
    """Parse a map; None unless all ranks have a line for their binding."""
    found: dict[int, tuple[int, Cores]] = {}
    node = rank = -1
    for line in text.splitlines():
        if match := re.match(node_line, line):
            node = number(match[1])
        elif match := re.match(r"\s*Data for proc: \[.*,(\d+)\]", line):
            rank = int(match[1])
        elif match := re.match(r"\s*Binding: (.*)", line):
            found[rank] = (node, _parse_cores(match[1]))
    return (
        [found[i] for i in range(ranks)] if sorted(found) == [*range(ranks)] else None
    )


def _parse_cores(text: str) -> Cores:
    """Read ``[BB/..][../BB]`` of Open MPI 4, or ``package[0][core:L0-3]`` of 5."""
    if text.startswith("["):
        cores = re.findall(r"[B.]+", text)
        return frozenset(i for i, threads in enumerate(cores) if "B" in threads)
    cores = re.findall(r"[L,](\d+)(?:-(\d+))?", text)
    return frozenset(i for a, b in cores for i in range(int(a), int(b or a) + 1))


def draw_open_mpi_words(rng: random.Random, version: int) -> list[str]:
    """Draw options of mpirun, some of which are refused."""
    resources = ["slot", "node", "core", "l2cache", "l3cache", "numa", "socket"]
    cores = rng.choice([0, 0, 0, 0, 2, 3])
    modifiers = (f":PE={cores}" if cores else "") + rng.choice(["", "", ":span"])
    words: list[str] = []
    style = rng.random()
    if style > 0.5:
        words += ["--map-by", rng.choice(resources) + modifiers]
    elif style > 0.1:
        each = f"ppr:{rng.randint(1, 3)}:{rng.choice(resources[1:])}"
        words += ["--map-by", each + modifiers]
    spread = ["core:span", "socket:fill", "numa:span", "l3cache:fill"]
    ranking = (
        [*resources, *spread] if version == 4 else ["slot", "node", "fill", "span"]
    )
    if rng.random() < 0.5:
        words += ["--rank-by", rng.choice(ranking)]
    if rng.random() < 0.3:
        words += [
            "--bind-to",
            rng.choice(["none", "core", "l3cache", "numa", "socket"]),
        ]
    return words


def draw_hydra_words(rng: random.Random) -> list[str]:
    """Draw options of mpiexec, some of which are refused."""
    resources = ["core", "l2cache", "l3cache", "numa", "socket", "machine"]
    words = ["-bind-to", rng.choice(resources) + rng.choice(["", "", ":2", ":3"])]
    if rng.random() < 0.6:
        words += ["-map-by", rng.choice(resources) + rng.choice(["", "", ":2"])]
    return words
