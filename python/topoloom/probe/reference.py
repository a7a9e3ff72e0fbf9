# SPDX-License-Identifier: BSD-3-Clause
"""What the file of an earlier probe says of how long messages take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.probe.inference.suspects import BANDWIDTH, BOTH, LATENCY, Suspect
from topoloom.probe.stages.rates import WINDOW
from topoloom.probe.stages.scan import SIZE as SCAN_SIZE
from topoloom.support.toml_document import read_toml
from topoloom.support.toml_values import entry, typed


@dataclass(frozen=True)
class Reference:
    """What a check compares with.

    Attributes
    ----------
    hosts
        Their names.
    groups
        Numbers of hosts that are near to each other, the smallest groups first; of
        ranks, where there is a single host.
    long_bytes
        Of a long message.
    seconds
        By the kind of message what it takes inside groups, ``near``, and else, ``far``.
    suspects
        Hosts, and links between two, that were slow then.
    """

    hosts: list[str]
    groups: list[list[int]]
    long_bytes: int
    seconds: dict[str, dict[str, float]]
    suspects: list[Suspect] = field(default_factory=list)

    def expected(self, kind: str, a: int, b: int) -> float:
        """Return the seconds of a message from one to another.

        Those of the smallest group with both, and what they took longer then. Bytes of
        short messages are late over what has less bandwidth, too; and so are bursts,
        and their answers, over what has a longer latency.
        """
        short, long = self._usual("echo", a, b), self._usual("burst", a, b)
        later = self._longer(LATENCY, a, b) * short
        per_byte = long / (WINDOW * self.long_bytes)
        there, back = (self._longer(BANDWIDTH, *ends) for ends in ((a, b), (b, a)))
        if kind == "echo":
            return short + max(later, (there + back) / 2 * per_byte * SCAN_SIZE)
        return long + max(there * long, 2 * later)

    def _usual(self, kind: str, a: int, b: int) -> float:
        is_near = any(a in group and b in group for group in self.groups)
        known = self.seconds[kind]
        first, second = ("near", "far") if is_near else ("far", "near")
        return known[first] if first in known else known[second]

    def _longer(self, of: str, a: int, b: int) -> float:
        """Return what was slow took longer then, as a part of what its like took."""
        slow = (s.factor - 1 for s in self.suspects if s.of == of and s.slows(a, b))
        return max(slow, default=0.0)


def read_reference(file: Path) -> Reference:
    """Read what a check needs.

    Raises
    ------
    topoloom.Error
        If the file is not that of a probe of several ranks, or was changed.
    """
    probed: dict[str, Any] = entry(read_toml(file), "probe", dict, f"{file}: [probe]")
    if not probed.get("pair_seconds"):
        raise Error(f"{file}: the probe has not measured what a check compares with")

    def of(key: str, kind: type) -> Any:
        return entry(probed, key, kind, f"{file}: {key} of [probe]")

    hosts, groups = of("hosts", list), of("unit_groups", list)
    long_bytes, times = of("long_bytes", int), of("pair_seconds", dict)
    seconds = {kind: times.get(kind) for kind in ("echo", "burst")}
    sound = (
        _all_of(str, hosts)
        and all(isinstance(g, list) and _all_of(int, g) for g in groups)
        and 0 < long_bytes <= 1 << 30
        and all(map(_is_times, seconds.values()))
    )
    if not sound:
        raise Error(f"{file}: [probe] is not what a probe writes; measure anew")
    suspects = probed.get("suspects", [])
    where = f"{file}: suspects of [probe]"
    made = [_suspect(each, hosts, where) for each in typed(suspects, list, where)]
    # Of a single host ranks are compared.
    several = len(hosts) > 1
    known = [s for s in made if several and s.kind in ("host", "link")]
    return Reference(hosts, groups, long_bytes, seconds, known)


def _suspect(table: Any, hosts: Sequence[str], where: str) -> Suspect:
    def of(key: str, kind: type) -> Any:
        return entry(typed(table, dict, where), key, kind, f"{where}: {key}")

    names, factor = of("hosts", list), of("times_as_long", float)
    if not names or any(name not in hosts for name in names) or factor <= 0:
        raise Error(f"{where} are not what a probe writes; measure anew")
    numbers = tuple(map(hosts.index, names))
    return Suspect(
        of("kind", str), numbers, of("of", str), factor, 0, table.get("way", BOTH)
    )


def _all_of(kind: type, values: Iterable[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)


def _is_times(times: Any) -> bool:
    """Whether it has positive seconds, near or far."""
    if not isinstance(times, dict) or not times.keys() & {"near", "far"}:
        return False
    return all(isinstance(s, float) and 0 < s < math.inf for s in times.values())
