# SPDX-License-Identifier: BSD-3-Clause
"""Meshes aligned with nodes compared with meshes by rank, in SimGrid's MPI."""

from __future__ import annotations

import random
from pathlib import Path

from smpi import QUICK, simulate
from stream.shapes import build, print_row

#: 1 us of CPU time per message, and 0.1 us per unsuccessful poll.
SETTINGS = QUICK | {
    "smpi/os": "0:1e-6:0",
    "smpi/ois": "0:1e-6:0",
    "smpi/or": "0:0:0",
    "smpi/iprobe": "1e-7",
    "smpi/test": "1e-7",
    "smpi/grow-injected-times": "no",
    "smpi/simulate-computation": "no",
}
#: SimGrid clusters of 16 nodes with links of 10 GB/s.
MACHINES = {
    "fat tree": 'lat="500ns" topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,1"',
    "torus": 'lat="100ns" topology="TORUS" topo_parameters="4,2,2"',
}
NODES, SHARE, BUCKET = 16, 16, 1000
CLUSTER = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="10GBps"
           loopback_bw="100GBps" loopback_lat="100ns" {what}/>
</platform>
"""
HEAD = (
    "| machine | per pair | by rank | along nodes | by rank / along nodes |\n"
    "| --- | ---: | ---: | ---: | ---: |"
)


def simulate_table(folder: Path) -> str:
    """Simulate two-dimensional meshes of scattered ranks; return Markdown."""
    program = build(folder)
    rows = [simulate_row(program, name, k) for name in MACHINES for k in (1, 10)]
    return "\n".join([HEAD, *rows])


def simulate_row(program: Path, name: str, per_pair: int) -> str:
    """Simulate both meshes; return a table row."""
    platform = program.with_name("machine.xml")
    platform.write_text(CLUSTER.format(last=NODES - 1, what=MACHINES[name]))
    hosts = shuffle_hosts(NODES, SHARE)
    words = ("alltoall", per_pair, BUCKET, -2, 2)
    read = simulate(platform, hosts, SETTINGS, program, *words)
    by_rank, laid = (1e6 * one["seconds"] for one in read)
    times = f"{by_rank:.3f}", f"{laid:.3f}"
    return print_row(name, per_pair, *times, f"{by_rank / laid:.2f}")


def shuffle_hosts(nodes: int, share: int) -> list[str]:
    """Return the hosts of ranks in a fixed random order."""
    hosts = [f"n{i % nodes}" for i in range(nodes * share)]
    random.Random(1).shuffle(hosts)
    return hosts
