# SPDX-License-Identifier: BSD-3-Clause
"""Converts keys of ``[topology]`` to options of machine text, and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.machines.topology_forms import OptionForm
from topoloom.support.number_ranges import join_numbers, split_numbers
from topoloom.support.toml_values import (
    FRACTIONS,
    check_integers,
    check_quantity,
    check_type,
    is_id_list,
)
from topoloom.support.units import parse_bandwidth, parse_latency

AXES = "xyzabcdefghijklmnopqrstuvw"


class OptionConversion(NamedTuple):
    """Conversions of a TOML key to options of machine text, and back."""

    #: (key, value, number of axes or levels) -> ``["key=text", ...]``
    read: Callable[[str, Any, int], list[str]]
    #: (previous value or None, text after ``key.``, text) -> value
    write: Callable[[Any, str, str], Any]


def _make_plain_option(
    format_value: Callable[[str, Any, int], str], write: Callable[[str], Any]
) -> OptionConversion:
    """Build the conversion of an option that occurs once, under its key."""
    return OptionConversion(
        lambda key, value, count: [f"{key}={format_value(key, value, count)}"],
        lambda _, __, text: write(text),
    )


def make_number_option(least: int = 0) -> OptionConversion:
    """``key = 2`` <-> ``key=2``."""

    def format_value(key: str, value: Any, _: int) -> str:
        number: int = check_type(value, int, f"topology.{key}")
        if number < least:
            raise Error(f"topology.{key} must be {least} or more")
        return str(number)

    return _make_plain_option(format_value, int)


def make_numbers_option(least: int) -> OptionConversion:
    """``key = [1, 2]`` <-> ``key=1:2``."""

    def format_value(key: str, value: Any, _: int) -> str:
        return join_numbers(check_integers(value, least, f"topology.{key}"))

    return _make_plain_option(format_value, split_numbers)


def _format_word(key: str, value: Any, _: int) -> str:
    text: str = check_type(value, str, f"topology.{key}")
    if not re.fullmatch(r"[A-Za-z0-9-]+", text):
        raise Error(f"topology.{key} must be one word")
    return text


#: ``ties = "split"`` <-> ``ties=split``
WORD = _make_plain_option(_format_word, str)


def _format_nodes(key: str, value: Any, _: int) -> list[str]:
    number = check_type(value, int, f"topology.{key}")
    return [] if number == 1 else [f"{key}={number}"]


#: ``nodes = 2`` <-> ``nodes=2``: nodes per router; 1 by default
NODES = OptionConversion(_format_nodes, lambda _, __, text: int(text))


def _format_wrap(key: str, value: Any, axes: int) -> list[str]:
    wrap = check_type(value, list, f"topology.{key}")
    if len(wrap) != axes or not all(isinstance(w, bool) for w in wrap):
        raise Error(f"topology.{key} must be a list of {axes} booleans")
    return [] if all(wrap) else [f"{key}=" + "".join("01"[w] for w in wrap)]


#: ``wrap = [true, false]`` <-> ``wrap=10``
WRAP = OptionConversion(
    _format_wrap, lambda _, __, text: [digit == "1" for digit in text]
)


def _format_forward(key: str, value: Any, _: int) -> list[str]:
    return [] if check_type(value, bool, f"topology.{key}") else [f"{key}=no"]


#: ``forward = false`` <-> ``forward=no``
FORWARD = OptionConversion(_format_forward, lambda _, __, text: text != "no")


def _format_order(key: str, value: Any, axes: int) -> str:
    order = list(value) if isinstance(value, str) else value
    names = AXES[:axes]
    if not isinstance(order, list) or sorted(map(str, order)) not in (
        sorted(names),
        sorted(map(str, range(axes))),
    ):
        raise Error(f'topology.{key} must name each axis once, such as "{names}"')
    return ":".join(
        str(names.index(axis) if isinstance(axis, str) else axis) for axis in order
    )


def _parse_order(text: str) -> list[str] | list[int]:
    axes = split_numbers(text)
    return [AXES[axis] for axis in axes] if len(axes) <= len(AXES) else axes


#: ``order = "yx"`` <-> ``order=1:0``
ORDER = _make_plain_option(_format_order, _parse_order)


def _format_twist(key: str, value: Any, axes: int) -> list[str]:
    parts = []
    for axis, shift in check_type(value, dict, f"topology.{key}").items():
        where = f"topology.{key}.{axis}"
        if axis not in list(AXES[:axes]):
            raise Error(f"{where}: the axes are {', '.join(AXES[:axes])}")
        shifts = check_integers(shift, 0, where)
        if len(shifts) != axes:
            raise Error(f"{where} must have a shift for each of {axes} axes")
        parts.append(f"{key}.{axis}={join_numbers(shifts)}")
    return parts


#: ``twist = { x = [0, 0, 4] }`` <-> ``twist.x=0:0:4``
TWIST = OptionConversion(
    _format_twist,
    lambda previous, axis, text: {
        **(previous or {}),
        format_axis(axis): split_numbers(text),
    },
)


def _format_routes(_: str, value: Any, __: int) -> list[str]:
    parts = []
    for index, route in enumerate(check_type(value, list, "topology.routes")):
        if not is_id_list(route):
            raise Error(f"topology.routes[{index}] must be a list of vertices")
        parts.append("route=" + ">".join(map(str, route)))
    return parts


#: ``routes = [[1, 2, 0]]`` <-> ``route=1>2>0``, repeated
ROUTES = OptionConversion(
    _format_routes,
    lambda previous, _, text: [*(previous or []), split_numbers(text, ">")],
)


def _format_tables(_: str, value: Any, __: int) -> list[str]:
    parts = []
    for index, table in enumerate(check_type(value, list, "topology.tables")):
        if not isinstance(table, str) or not re.fullmatch(r"[0-9]+:[\w()-]+", table):
            raise Error(
                f"topology.tables[{index}] must be a vertex and its forwarding table, "
                'such as "8:2ab-"'
            )
        parts.append(f"table={table}")
    return parts


#: ``tables = ["8:2ab-"]`` <-> ``table=8:2ab-``, repeated
TABLES = OptionConversion(
    _format_tables, lambda previous, _, text: [*(previous or []), text]
)


def make_quantity_option(parse: Callable[[str], float]) -> OptionConversion:
    """``latency = "1.3 us"`` <-> ``latency=1.3us``."""
    return _make_plain_option(
        lambda key, value, _: check_quantity(value, f"topology.{key}", parse),
        insert_unit_space,
    )


def make_level_option(parse: Callable[[str], float]) -> OptionConversion:
    """Convert a quantity, or a list of quantities, one per level."""

    def format_value(key: str, value: Any, levels: int) -> str:
        if isinstance(value, list) and len(value) != levels:
            raise Error(f"topology.{key} must have an entry for each level")
        values = value if isinstance(value, list) else [value]
        return ":".join(check_quantity(v, f"topology.{key}", parse) for v in values)

    def write(text: str) -> Any:
        parts = [insert_unit_space(part) for part in text.split(":")]
        return parts if len(parts) > 1 else parts[0]

    return _make_plain_option(format_value, write)


def _format_cards(_: str, value: Any, __: int) -> list[str]:
    number = check_type(value, int, "topology.cards")
    if number < 0:
        raise Error("topology.cards must be 0 (nodes have no links to routers) or more")
    return [f"cards={number}"] if number else ["hosts=free"]


#: ``cards = 4`` <-> ``cards=4``, and ``cards = 0`` <-> ``hosts=free``
CARDS = OptionConversion(
    _format_cards, lambda _, __, text: 0 if text == "free" else int(text)
)
#: name of the class of links between nodes and routers
HOST = "host"


def make_axis_option(
    parse: Callable[[str], float], *, directed: bool = False
) -> OptionConversion:
    """Convert a quantity, or a table by axis; with `directed` also by direction."""
    hint = " (x+ and x- for one direction)" if directed else ""
    signs = "+-" if directed else ""

    def find_error(name: str, axes: int) -> str | None:
        axis = name[:-1] if name[-1:] in signs and directed else name
        if axis in (*AXES[:axes], HOST):
            return None
        return f"the axes are {', '.join(AXES[:axes])}{hint}"

    return _make_table_option(parse, find_error)


def make_class_option(parse: Callable[[str], float], *classes: str) -> OptionConversion:
    """Convert a quantity, or a table by class of links."""

    def find_error(name: str, _: int) -> str | None:
        return None if name in classes else f"the links are {', '.join(classes)}"

    return _make_table_option(parse, find_error)


def _make_table_option(
    parse: Callable[[str], float], find_error: Callable[[str, int], str | None]
) -> OptionConversion:
    def read(key: str, value: Any, axes: int) -> list[str]:
        table = value if isinstance(value, dict) else {"default": value}
        parts: list[str] = []
        for name, given in table.items():
            where = f"topology.{key}" + ("" if name == "default" else f".{name}")
            if name == "default":
                parts.insert(0, f"{key}={check_quantity(given, where, parse)}")
                continue
            wrong = find_error(name, axes)
            if wrong:
                raise Error(f"{where}: {wrong}")
            words = FRACTIONS if key == "bandwidth" else ()
            parts.append(f"{key}.{name}={check_quantity(given, where, parse, words)}")
        return parts

    def write(previous: Any, name: str, text: str) -> Any:
        table = previous if isinstance(previous, dict) else {}
        if previous is not None and not table:
            table = {"default": previous}
        if not name:
            return (
                {"default": insert_unit_space(text), **table}
                if table
                else insert_unit_space(text)
            )
        return {**table, format_axis(name): insert_unit_space(text)}

    return OptionConversion(read, write)


def format_axis(axis: str) -> str:
    """Return the letter of an axis of machine text: ``1+`` becomes ``y+``."""
    number = re.fullmatch(r"([0-9]+)([+-]?)", axis)
    return AXES[int(number[1])] + number[2] if number else axis


def insert_unit_space(text: str) -> str:
    """Insert a space before the unit: ``9.4GB/s`` becomes ``9.4 GB/s``."""
    number = r"[0-9.]+(?:[eE][+-]?[0-9]+)?"
    return re.sub(rf"^({number})\s*(?![eE][+-]?[0-9])([A-Za-z])", r"\1 \2", text)


_OPTION_BY_FORM: dict[str, OptionConversion] = {
    "count": make_number_option(1),
    "number": make_number_option(),
    "counts": make_numbers_option(1),
    "distances": make_numbers_option(0),
    "word": WORD,
    "axis_flags": WRAP,
    "axis_order": ORDER,
    "axis_shifts": TWIST,
    "route": ROUTES,
    "table": TABLES,
}

_OPTION_BY_NAME = {"nodes": NODES, "cards": CARDS, "forward": FORWARD}


def make_option(option: OptionForm, hosts: tuple[str, ...]) -> OptionConversion:
    """Build the conversion of an option; `hosts` are additional link classes."""
    if option.name in _OPTION_BY_NAME:
        return _OPTION_BY_NAME[option.name]
    if option.form in _OPTION_BY_FORM:
        return _OPTION_BY_FORM[option.form]
    parse = parse_bandwidth if option.name == "bandwidth" else parse_latency
    if option.form == "quantity":
        return make_quantity_option(parse)
    if option.form == "level_quantities":
        return make_level_option(parse)
    if option.form == "class_quantities":
        return make_class_option(parse, *option.words, *hosts)
    return make_axis_option(parse, directed=option.form == "direction_quantities")
