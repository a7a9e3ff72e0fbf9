# SPDX-License-Identifier: BSD-3-Clause
"""Simulates scatters in several orders, and compares with measurements."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import smpi
from peers.tables import write_between_marks
from readings import scatters
from remap.nodes import Speeds, TwoGroups, platform

MARKS = "<!-- bench-remap: begin -->", "<!-- bench-remap: end -->"
#: Bytes per process (10 MB).
BYTES = 10 << 20
ORDERS = ("standard", "fastest-edge-first", "channel-aware")
#: Bytes of the round-trip messages in table 4.7.
SCANNED = 16384
SETTINGS = smpi.SETTINGS | {
    "smpi/auto-shared-malloc-thresh": "100000",
    "network/crosstraffic": "no",
}


@dataclass(frozen=True)
class Machine:
    """Measurements of a node by Karlsson 2012, and the compared scatters.

    Totals are maximum bandwidths of any number of pairs. Inside a group they are from
    tables 3.9, 3.10 (Jaguar's, for Kraken) and 3.13, between groups from table 4.8.
    """

    node: scatters.Node
    inside_us: float  # microseconds of a round trip, table 4.7
    between_us: float
    inside_total_mbs: float
    between_total_mbs: float
    measured_ms: tuple[float, float, float]  # by ORDERS, tables 4.9 to 4.11

    def channels(self) -> TwoGroups:
        """Return speeds; channels limit concurrent messages, as in the paper."""
        count = self.node.channels
        return self._make_groups(
            count * self.node.inside_mbs, count * self.node.between_mbs
        )

    def totals(self) -> TwoGroups:
        """Return speeds; the total bandwidth is limited as measured for many pairs."""
        return self._make_groups(self.inside_total_mbs, self.between_total_mbs)

    def _make_groups(self, inside_mbs: float, between_mbs: float) -> TwoGroups:
        inside = _make_speeds(self.inside_us, self.node.inside_mbs, inside_mbs)
        between = _make_speeds(self.between_us, self.node.between_mbs, between_mbs)
        return TwoGroups(self.node.processes, self.node.second, inside, between)


def _make_speeds(trip_us: float, one_mbs: float, all_mbs: float) -> Speeds:
    return Speeds(trip_us / 2 - SCANNED / one_mbs, one_mbs, all_mbs)


KRAKEN = (41.56, 45.32, 5887.4, 5280.0, (104.36, 101.22, 80.94))
MACHINES = (
    Machine(scatters.RA, 30.58, 32.80, 1714.3, 1528.0, (308.62, 308.90, 308.25)),
    Machine(scatters.KRAKEN, *KRAKEN),
    Machine(scatters.ALTERNATING, *KRAKEN),
    Machine(scatters.BLUEDROP, 34.70, 58.30, 18437.0, 6588.0, (123.41, 116.10, 111.76)),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("remap", description=__doc__)
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="write the table to this folder"
    )
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        compiler = smpi.find("smpicc", "libsimgrid-dev")
        source = Path(__file__).with_name("scatter.c")
        found = simulate_table(smpi.build(source, compiler, Path(folder)))
    print(found)
    if args.docs:
        write_between_marks(
            args.docs / "reference" / "benchmarks" / "programs.md", found, *MARKS
        )


def simulate_table(program: Path) -> str:
    """Simulate all machines; return Markdown."""
    return "\n".join(
        [
            "| node | bounded by | standard, ms | FEF | CAO | measured: standard, ms "
            "| FEF | CAO |",
            "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
            *(row for machine in MACHINES for row in format_rows(program, machine)),
        ]
    )


def format_rows(program: Path, machine: Machine) -> Iterator[str]:
    """Format the rows of a machine."""
    measured = " | ".join(format_differences(machine.measured_ms))
    for name, node in (
        ("channels", machine.channels()),
        ("totals", machine.totals()),
    ):
        times = " | ".join(format_differences(simulate(program, machine, node)))
        yield f"| {machine.node.name} | {name} | {times} | {measured} |"


def format_differences(times: Sequence[float]) -> list[str]:
    """Format milliseconds in standard order, and differences of other orders."""
    standard = times[0]
    return [
        f"{standard:.2f}",
        *(f"{100 * (time / standard - 1):+.1f} %" for time in times[1:]),
    ]


def simulate(program: Path, machine: Machine, node: TwoGroups) -> list[float]:
    """Return the milliseconds of a scatter in each of ORDERS."""
    file = program.with_name("node.xml")
    file.write_text(platform(node))
    hosts = [f"p{process}" for process in range(node.processes)]
    words = (program, BYTES, machine.node.channels, *ORDERS)
    return [
        1e3 * read["seconds"] for read in smpi.simulate(file, hosts, SETTINGS, *words)
    ]


if __name__ == "__main__":
    main()
