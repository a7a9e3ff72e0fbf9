# SPDX-License-Identifier: BSD-3-Clause
"""What a check compares with: message times in the file of an earlier probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.probe.inference.suspects import (
    BANDWIDTH,
    BOTH,
    LATENCY,
    Suspect,
    subtract_latency,
)
from topoloom.probe.job.probe_table import read_probe_table
from topoloom.probe.stages.rates import WINDOW
from topoloom.probe.stages.scan import SIZE as SCAN_SIZE
from topoloom.support.toml_document import read_toml


@dataclass(frozen=True)
class CheckReference:
    """Message times and slow parts that a check compares with."""

    hosts: list[str]  # host names
    #: Host numbers of each group, smallest group first; on a single host, ranks.
    groups: list[list[int]]
    long_bytes: int  # bytes of a long message
    #: Seconds inside groups (``near``) and across groups (``far``), by kind of message.
    seconds: dict[str, dict[str, float]]
    #: Hosts and links that were slow in the earlier probe.
    suspects: list[Suspect] = field(default_factory=list)

    def get_expected_seconds(self, kind: str, a: int, b: int) -> float:
        """Return the expected seconds of a message between two hosts.

        This is the time in the smallest common group, multiplied by the slowdown that
        the earlier probe found. Low bandwidth also slows short messages; high latency
        also slows bursts and their replies.
        """
        short, long = (
            self._get_typical_seconds("echo", a, b),
            self._get_typical_seconds("burst", a, b),
        )
        later = self._get_slowdown(LATENCY, a, b) * short
        of_bytes = subtract_latency(long, short)
        per_byte = of_bytes / (WINDOW * self.long_bytes)
        there, back = (
            self._get_slowdown(BANDWIDTH, *ends) for ends in ((a, b), (b, a))
        )
        if kind == "echo":
            return short + max(later, (there + back) / 2 * per_byte * SCAN_SIZE)
        return long + max(there * of_bytes, 2 * later)

    def _get_typical_seconds(self, kind: str, a: int, b: int) -> float:
        is_near = any(a in group and b in group for group in self.groups)
        known = self.seconds[kind]
        first, second = ("near", "far") if is_near else ("far", "near")
        return known[first] if first in known else known[second]

    def _get_slowdown(self, of: str, a: int, b: int) -> float:
        """Return the relative excess of two hosts' times in the earlier probe."""
        slow = (s.factor - 1 for s in self.suspects if s.of == of and s.slows(a, b))
        return max(slow, default=0.0)


def read_reference(file: Path) -> CheckReference:
    """Read the reference of a check.

    Raises `topoloom.Error` if the file is inconsistent, or is not from a probe of
    several ranks.
    """
    needed = ("hosts", "unit_groups", "long_bytes", "pair_seconds")
    probed = read_probe_table(read_toml(file), file, needed)
    hosts, seconds = probed["hosts"], probed["pair_seconds"]
    for kind in ("echo", "burst"):
        if not seconds.get(kind):
            raise Error(f"{file}: the probe lacks the measurements that a check needs")
    if probed["long_bytes"] > 1 << 30:
        raise Error(f"{file}: probe.long_bytes must be at most 1 GiB")
    made = [_read_suspect(each, hosts, file) for each in probed.get("suspects", [])]
    # On a single host, ranks are compared instead of hosts.
    several = len(hosts) > 1
    known = [s for s in made if several and s.kind in ("host", "link")]
    return CheckReference(
        hosts, probed["unit_groups"], probed["long_bytes"], seconds, known
    )


def _read_suspect(table: dict[str, Any], hosts: Sequence[str], file: Path) -> Suspect:
    odd = [name for name in table["hosts"] if name not in hosts]
    if odd or len(table["hosts"]) != {"host": 1, "link": 2}.get(
        table["kind"], len(table["hosts"])
    ):
        raise Error(f"{file}: probe.suspects: no {table['kind']} of {table['hosts']}")
    numbers = tuple(map(hosts.index, table["hosts"]))
    factor, way = float(table["times_as_long"]), table.get("way", BOTH)
    return Suspect(table["kind"], numbers, table["of"], factor, 0, way)
