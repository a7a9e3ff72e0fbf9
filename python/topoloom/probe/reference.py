# SPDX-License-Identifier: BSD-3-Clause
"""What the file of an earlier probe says of how long messages take."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.support.toml_document import read_toml
from topoloom.support.toml_values import entry


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
    """

    hosts: list[str]
    groups: list[list[int]]
    long_bytes: int
    seconds: dict[str, dict[str, float]]

    def expected(self, kind: str, a: int, b: int) -> float:
        """Return the seconds of the smallest group with both."""
        is_near = any(a in group and b in group for group in self.groups)
        known = self.seconds[kind]
        first, second = ("near", "far") if is_near else ("far", "near")
        return known[first] if first in known else known[second]


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
    return Reference(hosts, groups, long_bytes, seconds)


def _all_of(kind: type, values: Iterable[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)


def _is_times(times: Any) -> bool:
    """Whether it has positive seconds, near or far."""
    if not isinstance(times, dict) or not times.keys() & {"near", "far"}:
        return False
    return all(isinstance(s, float) and 0 < s < math.inf for s in times.values())
