# SPDX-License-Identifier: BSD-3-Clause
"""The table ``[probe]`` of a machine's file, checked: people edit such files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.support.plain_text import is_number
from topoloom.support.toml_values import check_type, get_entry

Check = Callable[[Any, str], None]
#: Larger integers are not exact as doubles.
_MOST = 2**53


def _text(value: Any, where: str) -> None:
    check_type(value, str, where)


def _flag(value: Any, where: str) -> None:
    check_type(value, bool, where)


def _count(value: Any, where: str) -> None:
    if not 0 <= check_type(value, int, where) <= _MOST:
        raise Error(f"{where} must be 0 or more, and at most 2^53")


def _number(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Error(f"{where} must be a number")
    if not math.isfinite(value):
        raise Error(f"{where} must be finite")


def _positive(value: Any, where: str) -> None:
    _number(value, where)
    if value <= 0:
        raise Error(f"{where} must be above 0")


def _share(value: Any, where: str) -> None:
    _number(value, where)
    if value < 0:
        raise Error(f"{where} must be 0 or more")


def _each(check: Check, least: int = 0, most: int | None = None) -> Check:
    def of_list(value: Any, where: str) -> None:
        count = len(check_type(value, list, where))
        if count < least or (most is not None and count > most):
            raise Error(f"{where} must have {least} or more, not {count}")
        for number, each in enumerate(value):
            check(each, f"{where}[{number}]")

    return of_list


def _table(
    needed: Mapping[str, Check], known: Mapping[str, Check] | None = None
) -> Check:
    """Check the keys of a table, of which others than the needed may be missing."""

    def of_table(value: Any, where: str) -> None:
        check_type(value, dict, where)
        for key, check in needed.items():
            if key not in value:
                raise Error(f"{where}.{key} is missing")
            check(value[key], f"{where}.{key}")
        for key, check in (known or {}).items():
            if key in value:
                check(value[key], f"{where}.{key}")

    return of_table


def _nested(value: Any, where: str) -> None:
    for number, each in enumerate(check_type(value, list, where)):
        inner = f"{where}[{number}]"
        if isinstance(each, list):
            if not each:
                raise Error(f"{inner} has no ranks")
            if not isinstance(value[0], list):
                raise Error(f"{where} must have ranks or groups, not both")
            _nested(each, inner)
        elif isinstance(value[0], list):
            raise Error(f"{where} must have ranks or groups, not both")
        else:
            _count(each, inner)


def _unexpected(value: Any, where: str) -> None:
    for size, times in check_type(value, dict, where).items():
        if not is_number(size) or len(size) > 15:
            raise Error(f"{where}: '{size}' must be the bytes of a message")
        _positive(times, f"{where}.{size}")


_PAIR = _each(_number, 2, 2)
_SAMPLE = _table(
    {"mean_s": _positive, "sigma_s": _share, "n": _count, "outliers": _count}
)
_LINE = _table(
    {"alpha_s": _share, "beta_s_per_byte": _share},
    {
        "alpha_interval_s": _PAIR,
        "beta_interval_s_per_byte": _PAIR,
        "most_bytes": _count,
        "most_interval_bytes": _PAIR,
    },
)
_CURVE_KEYS = _table(
    {
        "largest": _flag,
        "lines": _each(_LINE, 1),
        "sizes": _each(_count, 1),
        "measured_s": _each(_positive, 1),
    }
)


def _curve(value: Any, where: str) -> None:
    _CURVE_KEYS(value, where)
    if len(value["sizes"]) != len(value["measured_s"]):
        raise Error(f"{where} has other numbers of sizes and measured_s")


_LEVEL = _table(
    {"level": _text, "short_s": _positive},
    {
        "alone": _curve,
        "burst": _curve,
        "latency_s": _share,
        "send_cpu_s": _share,
        "receive_cpu_s": _share,
        "both_ways": _positive,
        "posted_receive_s": _share,
        "bytes_per_second": _positive,
        "unexpected": _unexpected,
    },
)
_TOTAL = _table({"pairs": _positive, "samples": _count, "bytes_per_second": _positive})
_TIMES = _table({}, {"near": _positive, "far": _positive})
_SUSPECT = _table(
    {
        "kind": _text,
        "hosts": _each(_text, 1),
        "of": _text,
        "times_as_long": _positive,
        "direction": _text,
    },
    {"measurements": _count, "way": _text},
)

#: What a probe writes, and what others use of it.
_KEYS: dict[str, Check] = {
    "samples": _text,
    "command": _each(_text),
    "ranks": _positive,
    "hosts": _each(_text, 1),
    "host_of": _each(_count, 1),
    "sample_count": _count,
    "long_bytes": _positive,
    "groups": _nested,
    "evidence": _each(
        _table(
            {
                "ranks": _each(_count, 1),
                "inside": _SAMPLE,
                "into": _SAMPLE,
                "t": _number,
                "p": _share,
            }
        )
    ),
    "models": _each(_LEVEL),
    "hops": _each(_table({"hops": _count, "pairs": _count, "short_s": _positive})),
    "channels": _each(
        _table(
            {
                "pattern": _text,
                "channels": _count,
                "node_bandwidth": _positive,
                "totals": _each(_TOTAL, 1),
            },
            {"channels_at_most": _count},
        )
    ),
    "unit_groups": _each(_each(_count)),
    "pair_seconds": _table({}, {"echo": _TIMES, "burst": _TIMES}),
    "shared_links": _each(_table({"text": _text})),
    "pairs_met": _share,
    "suspects": _each(_SUSPECT),
    "noise": _number,
    "doubts": _each(_text),
    "claims": _each(_text),
}
#: Keys that are there only if that was measured.
_MAYBE = ("pairs_met", "noise", "hops")


def probe_table(
    document: Mapping[str, Any], file: str | Path, needed: Iterable[str] | None = None
) -> dict[str, Any]:
    """Return the table of a document, in which all values are as they should be.

    Parameters
    ----------
    needed
        Keys that must be there; None for all that a probe always writes.

    Raises
    ------
    topoloom.Error
        Naming the key that is missing or wrong.
    """
    probed: dict[str, Any] = get_entry(
        dict(document), "probe", dict, f"{file}: [probe]"
    )
    must = set(_KEYS) - {*_MAYBE} if needed is None else set(needed)
    for key, check in _KEYS.items():
        where = f"{file}: probe.{key}"
        if key in probed:
            check(probed[key], where)
        elif key in must:
            raise Error(f"{where} is missing; measure the machine again")
    _agree(probed, file)
    return probed


def _agree(probed: Mapping[str, Any], file: str | Path) -> None:
    """Refuse ranks and hosts that are not there."""
    hosts, host_of = probed.get("hosts"), probed.get("host_of")
    if hosts is not None and len({*hosts}) < len(hosts):
        raise Error(f"{file}: probe.hosts names a host twice")
    if hosts is not None and host_of is not None and {*host_of} != {*range(len(hosts))}:
        raise Error(f"{file}: probe.host_of must name each of {len(hosts)} hosts")
    if host_of is None:
        return
    ranks = len(host_of)
    groups = sorted(_flat(probed.get("groups", [])))
    if groups and groups != [*range(ranks)]:
        raise Error(f"{file}: probe.groups must have each of {ranks} ranks once")
    for number, each in enumerate(probed.get("evidence", [])):
        if max(each["ranks"]) >= ranks:
            raise Error(f"{file}: probe.evidence[{number}].ranks must be below {ranks}")


def _flat(nested: Iterable[Any]) -> Iterable[int]:
    for each in nested:
        if isinstance(each, list):
            yield from _flat(each)
        else:
            yield each
