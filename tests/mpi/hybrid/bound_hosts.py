# SPDX-License-Identifier: BSD-3-Clause
"""Simulated hosts with described cores, on which ranks report where they are bound.

A host is a UTS namespace in which hwloc reads the host's topology from a file. A
preloaded library writes the CPUs to which a process is bound to a file, because this
machine does not have them.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from built_programs import compile_program

PROGRAMS = Path(__file__).parents[1] / "programs"

_AGENT = """\
#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1; shift
TMPDIR=$(mktemp -d) && export TMPDIR
export HWLOC_XMLFILE={folder}/$host.xml HWLOC_THISSYSTEM=1
export LD_PRELOAD={library} AFFINITY_NOTES={notes}
exec unshare {user} --uts sh -c 'hostname "$0" && exec sh -c "$*"' "$host" "$@"
"""
_RANK = """\
#!/bin/sh
rank=${{OMPI_COMM_WORLD_RANK:-${{PMI_RANK:-$SLURM_PROCID}}}}
if [ "$MPICH_RANK_REORDER_FILE" ]; then # as Cray MPICH numbers the ranks
    order=$(grep -v '#' "$MPICH_RANK_REORDER_FILE" | tr ',' ' ')
    rank=$(echo $order | cut -d' ' -f$((rank + 1)))
fi
host=${{SLURMD_NODENAME:-$(uname -n)}} cpus=$(cat {notes}/$$ 2>/dev/null)
echo "at $rank $host ${{OMP_NUM_THREADS:--}} ${{OMP_PLACES:--}}$cpus"
"""


@dataclass(frozen=True)
class Node:
    """The cores of a host: packages, cores of each, and CPUs of each core."""

    packages: int
    cores: int
    cpus: tuple[tuple[int, ...], ...]

    @property
    def synthetic(self) -> str:
        """Describe the host to hwloc."""
        order = ",".join(map(str, itertools.chain(*self.cpus)))
        threads = len(self.cpus[0])
        return (
            f"package:{self.packages} core:{self.cores} pu:{threads}(indexes={order})"
        )


def make_node(packages: int, cores: int, threads: int, numbering: str) -> Node:
    """Make a node whose threads are numbered ``core`` by core, or in ``rounds``.

    Cores of ``dealt`` nodes are numbered in rounds over the packages.
    """
    count = packages * cores
    if numbering == "core":
        first = [threads * core for core in range(count)]
        step = 1
    else:
        first, step = list(range(count)), count
    if numbering == "dealt":
        first = [core % cores * packages + core // cores for core in range(count)]
    cpus = tuple(tuple(at + step * i for i in range(threads)) for at in first)
    return Node(packages, cores, cpus)


@dataclass(frozen=True)
class ReportedRank:
    """The host and CPUs of a rank (empty if it is not bound), and its variables."""

    host: str
    cpus: tuple[int, ...]
    threads: str
    places: str


class BoundHosts:
    """Hosts by name; `variables` lets launchers reach them and describes them."""

    def __init__(self, hosts: Mapping[str, Node], folder: Path) -> None:
        self.hosts = dict(hosts)
        self.notes = folder / "notes"
        self.notes.mkdir()
        words = ["cc", "-shared", "-fPIC", PROGRAMS / "affinity/note_affinity.c"]
        self.library = compile_program("note_affinity.so", words)
        self.folder = folder
        for host, node in hosts.items():
            convert = ["lstopo-no-graphics", "-i", node.synthetic, "--of", "xml"]
            done = subprocess.run(
                [*convert, "-f", folder / f"{host}.xml"],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
        user = "" if os.geteuid() == 0 else "--user --map-root-user"
        agent = _AGENT.format(
            folder=folder, library=self.library, notes=self.notes, user=user
        )
        self.agent = self._write_script("agent", agent)
        self.rank = self._write_script("rank", _RANK.format(notes=self.notes))

    def list_variables(self) -> dict[str, str]:
        """List variables that make launchers start their daemons with the agent."""
        agent = str(self.agent)
        return {
            "OMPI_MCA_plm_rsh_agent": agent,
            "PRTE_MCA_plm_ssh_agent": agent,
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": agent,
        }

    def list_daemon_variables(self, host: str) -> dict[str, str]:
        """List the variables of a daemon on a host."""
        return {
            "HWLOC_XMLFILE": str(self.folder / f"{host}.xml"),
            "HWLOC_THISSYSTEM": "1",
            **self.list_note_variables(),
        }

    def list_note_variables(self) -> dict[str, str]:
        """List the variables of processes that bind themselves, such as taskset."""
        return {"LD_PRELOAD": str(self.library), "AFFINITY_NOTES": str(self.notes)}

    def _write_script(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path


def read_ranks(text: str, ranks: int) -> list[ReportedRank]:
    """Parse the reports of ranks."""
    found = {}
    for line in text.splitlines():
        if line.startswith("at "):
            _, rank, host, threads, places, *cpus = line.split()
            found[int(rank)] = ReportedRank(
                host, tuple(map(int, cpus)), threads, places
            )
    assert sorted(found) == list(range(ranks)), text
    return [found[rank] for rank in range(ranks)]
