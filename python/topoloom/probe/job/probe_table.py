# SPDX-License-Identifier: BSD-3-Clause
"""Checks the table ``[probe]`` of a machine's file, which users may edit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.support.plain_text import is_number
from topoloom.support.toml_values import check_type, get_entry

Check = Callable[[Any, str], None]
#: Up to this integer, all integers are exact as doubles.
_MOST = 2**53


def _check_text(value: Any, where: str) -> None:
    check_type(value, str, where)


def _check_flag(value: Any, where: str) -> None:
    check_type(value, bool, where)


def _check_count(value: Any, where: str) -> None:
    if not 0 <= check_type(value, int, where) <= _MOST:
        raise Error(f"{where} must be 0 or more, and at most 2^53")


def _check_number(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Error(f"{where} must be a number")
    if not math.isfinite(value):
        raise Error(f"{where} must be finite")


def _check_positive(value: Any, where: str) -> None:
    _check_number(value, where)
    if value <= 0:
        raise Error(f"{where} must be above 0")


def _check_share(value: Any, where: str) -> None:
    _check_number(value, where)
    if value < 0:
        raise Error(f"{where} must be 0 or more")


def _check_each(check: Check, least: int = 0, most: int | None = None) -> Check:
    def check_list(value: Any, where: str) -> None:
        count = len(check_type(value, list, where))
        if count < least or (most is not None and count > most):
            raise Error(f"{where} must have {least} or more, not {count}")
        for number, each in enumerate(value):
            check(each, f"{where}[{number}]")

    return check_list


def _check_table(
    needed: Mapping[str, Check], known: Mapping[str, Check] | None = None
) -> Check:
    """Build a check of a table with required and optional keys."""

    def check_table(value: Any, where: str) -> None:
        check_type(value, dict, where)
        for key, check in needed.items():
            if key not in value:
                raise Error(f"{where}.{key} is missing")
            check(value[key], f"{where}.{key}")
        for key, check in (known or {}).items():
            if key in value:
                check(value[key], f"{where}.{key}")

    return check_table


def _check_nested(value: Any, where: str) -> None:
    for number, each in enumerate(check_type(value, list, where)):
        inner = f"{where}[{number}]"
        if isinstance(each, list):
            if not each:
                raise Error(f"{inner} has no ranks")
            if not isinstance(value[0], list):
                raise Error(f"{where} must have ranks or groups, not both")
            _check_nested(each, inner)
        elif isinstance(value[0], list):
            raise Error(f"{where} must have ranks or groups, not both")
        else:
            _check_count(each, inner)


def _check_unexpected(value: Any, where: str) -> None:
    for size, times in check_type(value, dict, where).items():
        if not is_number(size) or len(size) > 15:
            raise Error(f"{where}: '{size}' must be a message size in bytes")
        _check_positive(times, f"{where}.{size}")


_PAIR = _check_each(_check_number, 2, 2)
_SAMPLE = _check_table(
    {
        "mean_seconds": _check_positive,
        "sigma_seconds": _check_share,
        "n": _check_count,
        "outliers": _check_count,
    }
)
_LINE = _check_table(
    {"alpha_seconds": _check_share, "beta_seconds_per_byte": _check_share},
    {
        "alpha_interval_seconds": _PAIR,
        "beta_interval_seconds_per_byte": _PAIR,
        "most_bytes": _check_count,
        "most_interval_bytes": _PAIR,
    },
)
_CURVE_KEYS = _check_table(
    {
        "largest": _check_flag,
        "lines": _check_each(_LINE, 1),
        "sizes": _check_each(_check_count, 1),
        "measured_seconds": _check_each(_check_positive, 1),
    }
)


def _check_curve(value: Any, where: str) -> None:
    _CURVE_KEYS(value, where)
    if len(value["sizes"]) != len(value["measured_seconds"]):
        raise Error(f"{where} must have equally many sizes and measured_seconds")


_LEVEL = _check_table(
    {"level": _check_text, "short_seconds": _check_positive},
    {
        "alone": _check_curve,
        "burst": _check_curve,
        "latency_seconds": _check_share,
        "send_cpu_seconds": _check_share,
        "receive_cpu_seconds": _check_share,
        "both_ways": _check_positive,
        "posted_receive_seconds": _check_share,
        "bytes_per_second": _check_positive,
        "unexpected": _check_unexpected,
    },
)
_TOTAL = _check_table(
    {
        "pairs": _check_positive,
        "samples": _check_count,
        "bytes_per_second": _check_positive,
    }
)
_TIMES = _check_table({}, {"near": _check_positive, "far": _check_positive})
_SUSPECT = _check_table(
    {
        "kind": _check_text,
        "hosts": _check_each(_check_text, 1),
        "of": _check_text,
        "times_as_long": _check_positive,
        "direction": _check_text,
    },
    {"measurements": _check_count, "way": _check_text},
)

#: Keys that every probe writes, and that readers of the file use.
_KEYS: dict[str, Check] = {
    "samples": _check_text,
    "command": _check_each(_check_text),
    "ranks": _check_positive,
    "hosts": _check_each(_check_text, 1),
    "host_of": _check_each(_check_count, 1),
    "sample_count": _check_count,
    "long_bytes": _check_positive,
    "groups": _check_nested,
    "evidence": _check_each(
        _check_table(
            {
                "ranks": _check_each(_check_count, 1),
                "inside": _SAMPLE,
                "into": _SAMPLE,
                "t": _check_number,
                "p": _check_share,
            }
        )
    ),
    "models": _check_each(_LEVEL),
    "hops": _check_each(
        _check_table(
            {
                "hops": _check_count,
                "pairs": _check_count,
                "short_seconds": _check_positive,
            }
        )
    ),
    "channels": _check_each(
        _check_table(
            {
                "pattern": _check_text,
                "channels": _check_count,
                "node_bandwidth": _check_positive,
                "totals": _check_each(_TOTAL, 1),
            },
            {"channels_at_most": _check_count},
        )
    ),
    "unit_groups": _check_each(_check_each(_check_count)),
    "pair_seconds": _check_table({}, {"echo": _TIMES, "burst": _TIMES}),
    "shared_links": _check_each(_check_table({"text": _check_text})),
    "pairs_met": _check_share,
    "suspects": _check_each(_SUSPECT),
    "noise": _check_number,
    "doubts": _check_each(_check_text),
    "claims": _check_each(_check_text),
}
#: Keys that the table contains only if their values were measured.
_OPTIONAL = ("pairs_met", "noise", "hops")


def read_probe_table(
    document: Mapping[str, Any], file: str | Path, needed: Iterable[str] | None = None
) -> dict[str, Any]:
    """Check and return the table ``[probe]`` of a document.

    `needed`: required keys; None for all keys that every probe writes. Raises
    `topoloom.Error` with the missing or invalid key.
    """
    probed: dict[str, Any] = get_entry(
        dict(document), "probe", dict, f"{file}: [probe]"
    )
    must = set(_KEYS) - {*_OPTIONAL} if needed is None else set(needed)
    for key, check in _KEYS.items():
        where = f"{file}: probe.{key}"
        if key in probed:
            check(probed[key], where)
        elif key in must:
            raise Error(f"{where} is missing; measure the machine again")
    _check_consistency(probed, file)
    return probed


def _check_consistency(probed: Mapping[str, Any], file: str | Path) -> None:
    """Raise `topoloom.Error` for unknown ranks and hosts."""
    hosts, host_of = probed.get("hosts"), probed.get("host_of")
    if hosts is not None and len({*hosts}) < len(hosts):
        raise Error(f"{file}: probe.hosts names a host twice")
    if hosts is not None and host_of is not None and {*host_of} != {*range(len(hosts))}:
        raise Error(f"{file}: probe.host_of must name each of {len(hosts)} hosts")
    if host_of is None:
        return
    ranks = len(host_of)
    groups = sorted(flatten_groups(probed.get("groups", [])))
    if groups and groups != [*range(ranks)]:
        raise Error(f"{file}: probe.groups must have each of {ranks} ranks once")
    for number, each in enumerate(probed.get("evidence", [])):
        if max(each["ranks"]) >= ranks:
            raise Error(f"{file}: probe.evidence[{number}].ranks must be below {ranks}")


def flatten_groups(nested: Iterable[Any]) -> Iterator[int]:
    """Yield the ranks that nested lists contain."""
    for each in nested:
        if isinstance(each, list):
            yield from flatten_groups(each)
        else:
            yield each
