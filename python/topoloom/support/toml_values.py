# SPDX-License-Identifier: BSD-3-Clause
"""Type-checked access to values of TOML tables; error messages contain the key."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from topoloom._core import Error
from topoloom.support.name_lookup import describe_unknown_name

#: names for bandwidths relative to the default bandwidth
FRACTIONS = ("half", "double", "quarter")
_KINDS = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def check_keys(table: dict[str, Any], known: Iterable[str], where: str) -> None:
    """Raise `topoloom.Error` for an unknown key; `where` is its prefix in messages."""
    names = list(known)
    for key in table:
        if key not in names:
            raise Error(
                describe_unknown_name("key", where + key, [where + k for k in names])
            )


def get_entry(table: dict[str, Any], key: str, kind: type, where: str) -> Any:
    """Get a required entry and check its type."""
    if key not in table:
        raise Error(f"{where} is missing")
    return check_type(table[key], kind, where)


def check_type(value: Any, kind: type, where: str) -> Any:
    """Return the value if it has type `kind`; a string must have one line."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Error(f"{where} must be {_KINDS[kind]}")
    if isinstance(value, float) and not math.isfinite(value):
        raise Error(f"{where} must be finite")
    if isinstance(value, str) and any(letter in value for letter in "\n\r"):
        raise Error(f"{where} must be one line")
    return value


def check_integers(value: Any, minimum: int, where: str) -> list[int]:
    """Return the value if it is a nonempty list of integers of at least `minimum`."""
    listed = check_type(value, list, where)
    if not listed or not all(type(n) is int and minimum <= n < 2**31 for n in listed):
        raise Error(f"{where} must be a list of integers, {minimum} or more")
    return list(listed)


def check_quantity(
    value: Any, where: str, parse: Callable[[str], float], words: tuple[str, ...] = ()
) -> str:
    """Check a quantity; return it without spaces, as ``9.4GB/s``, or one of `words`."""
    if isinstance(value, str) and value in words:
        return value
    if not isinstance(value, str):
        raise Error(
            f'{where} must be a string with a unit, such as "9.4 GB/s", "1.3 us" or '
            '"320 B"'
        )
    try:
        parse(value)
    except Error as error:
        raise Error(f"{where}: {error}") from None
    return value.replace(" ", "")


def is_id_list(value: Any) -> bool:
    """Return whether the value is a list of nonnegative integers."""
    return isinstance(value, list) and all(type(v) is int and v >= 0 for v in value)
