# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes `topoloom.NetworkModel` as TOML.

For example::

    format = "topoloom-model"
    version = 1
    name = "an example"

    regimes = [                                # or largest = [...], or loggp = {...}
        { most = "2 KiB", alpha = "2 us", beta = "0.1 ns" },
        { alpha = "3 us", beta = "0.04 ns" },
    ]

    alone = [                                  # time of a single message
        { most = "2 KiB", alpha = "3 us", beta = "0.1 ns" },
        { alpha = "9 us", beta = "0.04 ns" },
    ]

    links = [                    # factors on latency and bandwidth of links
        { latency_factor = 1.9, bandwidth_factor = 0.9 },
    ]

    [costs]
    send_cpu = "0.5 us"
    node_bandwidth = "50 GB/s"

    [inside]                     # messages inside a node
    regimes = [{ alpha = "0.2 us", beta = "0.05 ns" }]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from topoloom._core import Error, MessageCosts, NetworkModel
from topoloom.support.file_kinds import MACHINE, MODEL, check_file_kind
from topoloom.support.files import prefix_errors, write_text
from topoloom.support.toml_document import (
    HEADER_KEYS,
    check_header,
    format_toml,
    read_toml,
)
from topoloom.support.toml_values import (
    check_keys,
    check_quantity,
    check_type,
    get_entry,
)
from topoloom.support.units import (
    format_bandwidth,
    parse_bandwidth,
    parse_bytes,
    parse_latency,
)

if TYPE_CHECKING:
    from topoloom.documents.models import (
        CostLine,
        MessageCostFields,
        ModelFileDocument,
        ModelTables,
    )

Number = TypeVar("Number", int, float)
Line = tuple[float, float, int | None]

FORMAT = "topoloom-model"
VERSION = 1
#: Format name of machine files, which can also contain a model.
_MACHINE = "topoloom-machine"
#: Keys of the models for time as a function of size, of which one is required.
KINDS = ("regimes", "largest", "loggp")
#: Keys of further costs per message, which are attributes of MessageCosts.
COSTS = (
    "latency",
    "send_cpu",
    "send_cpu_per_byte",
    "receive_cpu",
    "receive_cpu_per_byte",
    "combine",
    "gamma",
    "reduce",
    "delta",
    "beta_em",
    "node_alpha",
    "barrier_round",
)
#: Key of the time of a single message by size, which replaces a latency.
ALONE = "alone"
#: Key of the model for messages inside a node.
INSIDE = "inside"
#: Key of the factors on link latency and bandwidth by size.
LINKS = "links"
_FACTORS = ("latency_factor", "bandwidth_factor")
#: Key of the injection bandwidth of a node, 1 / MessageCosts.node_beta.
NODE_BANDWIDTH = "node_bandwidth"
#: Key of the packet size in bytes; after each packet, the sender waits for a reply.
PACKET = "packet"
#: Keys of costs that LogGP's parameters determine.
_OF_LOGGP = ("latency", "send_cpu", "receive_cpu")
_ABOUT = ("name", "summary", "source", "date")


class ModelFile(NamedTuple):
    """A network model and its description."""

    model: NetworkModel
    name: str = ""
    summary: str = ""
    source: str = ""
    date: str = ""

    def document(self) -> ModelFileDocument:
        """Make the JSON document of ``--json``, in seconds and bytes."""
        document = cast("ModelFileDocument", _make_model_document(self.model))
        document["summary"] = self.summary
        document["source"] = self.source
        document["date"] = self.date
        document["links"] = [
            {"most_bytes": limit, "latency_factor": one, "bandwidth_factor": other}
            for one, other, limit in self.model.link_factors
        ]
        if self.model.inside:
            document["inside"] = _make_model_document(self.model.inside)
        return document


def _make_model_document(model: NetworkModel) -> ModelTables:
    def list_documents(lines: Sequence[Line]) -> list[CostLine]:
        return [
            {"most_bytes": limit, "alpha_seconds": alpha, "beta_seconds_per_byte": beta}
            for alpha, beta, limit in lines
        ]

    costs = {key: getattr(model.costs, key) for key in (*COSTS, "node_beta")}
    document: ModelTables = {
        "alone": list_documents(model.alone),
        "costs_seconds": cast("MessageCostFields", costs),
        "packet_bytes": model.costs.packet,
    }
    document["largest" if model.takes_largest else "regimes"] = list_documents(
        model.lines
    )
    return document


def read_model_toml(path: str | Path) -> ModelFile:
    """Read a model from a model file or a machine file."""
    check_file_kind(path, MODEL, MACHINE)
    document = read_toml(path)
    with prefix_errors(path):
        if document.get("format") == _MACHINE:
            return read_model_tables(get_entry(document, "model", dict, "[model]"))
        check_header(document, FORMAT, VERSION)
        return read_model_tables(
            {k: v for k, v in document.items() if k not in HEADER_KEYS}
        )


def read_model_tables(tables: dict[str, Any]) -> ModelFile:
    """Read the tables of a model; format and version are not checked."""
    check_keys(tables, (*_ABOUT, *KINDS, ALONE, LINKS, INSIDE, "costs"), "")
    about = {k: get_entry(tables, k, str, k) for k in _ABOUT if k in tables}
    model = _parse_model(tables).with_link_factors(_parse_link_factors(tables))
    if INSIDE in tables:
        inside = get_entry(tables, INSIDE, dict, f"[{INSIDE}]")
        check_keys(inside, (*KINDS, ALONE, "costs"), f"{INSIDE}.")
        model = model.with_intra_node_model(_parse_model(inside, f"{INSIDE}."))
    return ModelFile(model, **about)


def write_model_toml(path: str | Path, file: ModelFile) -> None:
    """Write a model as TOML with few digits, for `read_model_toml`."""
    tables = {"format": FORMAT, "version": VERSION, **make_model_tables(file)}
    last = {key: tables.pop(key) for key in ("costs", INSIDE) if key in tables}
    text = _format_table(tables)
    for key, table in last.items():
        text += f"\n[{key}]\n{_format_table(table)}"
    write_text(path, text)


def _format_table(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {format_toml(value)}\n" for key, value in table.items())


def make_model_tables(file: ModelFile) -> dict[str, Any]:
    """Make TOML tables of a model, the inverse of `read_model_tables`."""
    model = file.model
    about = {k: text for k in _ABOUT if (text := getattr(file, k))}
    links = [
        _format_limit(limit) | dict(zip(_FACTORS, factors, strict=True))
        for *factors, limit in model.link_factors
    ]
    return {
        **about,
        **_make_time_tables(model),
        **({LINKS: links} if links else {}),
        **({INSIDE: _make_time_tables(model.inside)} if model.inside else {}),
    }


def _make_time_tables(model: NetworkModel) -> dict[str, Any]:
    costs = format_costs(model.costs)
    return {
        "largest" if model.takes_largest else "regimes": _make_line_tables(model.lines),
        **({ALONE: _make_line_tables(model.alone)} if model.alone else {}),
        **({"costs": costs} if costs else {}),
    }


def _make_line_tables(lines: Sequence[Line]) -> list[dict[str, Any]]:
    return [
        _format_limit(limit) | {"alpha": format_time(alpha), "beta": format_time(beta)}
        for alpha, beta, limit in lines
    ]


def _format_limit(limit: int | None) -> dict[str, Any]:
    return {} if limit is None else {"most": f"{limit} B"}


def format_costs(costs: MessageCosts) -> dict[str, str]:
    """Return the nonzero costs by key."""
    texts = {k: format_time(v) for k in COSTS if (v := getattr(costs, k))}
    if costs.node_beta:
        texts[NODE_BANDWIDTH] = format_bandwidth(1 / costs.node_beta)
    if costs.packet:
        texts[PACKET] = f"{costs.packet:.0f} B"
    return texts


def format_time(seconds: float, digits: int = 6) -> str:
    """Format seconds with a suitable unit for `parse_latency`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.{digits}g} {unit}"
    return f"{seconds * 1e9:.{digits}g} ns"


def _parse_model(document: dict[str, Any], where: str = "") -> NetworkModel:
    kinds = [kind for kind in KINDS if kind in document]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "nothing"
        raise Error(f"a model requires one of {', '.join(KINDS)}, but there is {found}")
    table = get_entry(document, "costs", dict, "[costs]") if "costs" in document else {}
    costs = _parse_costs(table)
    alone = _parse_lines(document, ALONE, where) if ALONE in document else []
    if kinds == ["loggp"]:
        for key in _OF_LOGGP:
            if key in table:
                raise Error(f"costs.{key} follows from loggp; remove it")
        given = get_entry(document, "loggp", dict, "loggp")
        check_keys(given, "LogG", "loggp.")
        L, o, g, G = (
            _parse_quantity(given, key, "loggp", parse_latency) for key in "LogG"
        )
        return NetworkModel.loggp(L, o, g, G, costs).with_single_message_lines(alone)
    lines = _parse_lines(document, kinds[0], where)
    if kinds == ["largest"]:
        return NetworkModel.largest(lines, costs).with_single_message_lines(alone)
    return NetworkModel.regimes(lines, costs).with_single_message_lines(alone)


def _parse_lines(document: dict[str, Any], key: str, where: str) -> list[Line]:
    named = where + key
    return [
        _parse_line(check_type(line, dict, f"{named}[{index}]"), f"{named}[{index}]")
        for index, line in enumerate(get_entry(document, key, list, named))
    ]


def _parse_line(line: dict[str, Any], where: str) -> Line:
    check_keys(line, ("most", "alpha", "beta"), f"{where}.")
    alpha, beta = (
        _parse_quantity(line, key, where, parse_latency) for key in ("alpha", "beta")
    )
    return alpha, beta, _parse_limit(line, where)


def _parse_link_factors(document: dict[str, Any]) -> list[Line]:
    if LINKS not in document:
        return []
    factors = []
    for index, item in enumerate(get_entry(document, LINKS, list, LINKS)):
        where = f"{LINKS}[{index}]"
        line = check_type(item, dict, where)
        check_keys(line, ("most", *_FACTORS), f"{where}.")
        latency, bandwidth = (_parse_factor(line, key, where) for key in _FACTORS)
        factors.append((latency, bandwidth, _parse_limit(line, where)))
    return factors


def _parse_factor(line: dict[str, Any], key: str, where: str) -> float:
    value = line.get(key, 1)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Error(f"{where}.{key} must be a number")
    return float(value)


def _parse_limit(line: dict[str, Any], where: str) -> int | None:
    return _parse_quantity(line, "most", where, parse_bytes) if "most" in line else None


def _parse_costs(table: dict[str, Any]) -> MessageCosts:
    check_keys(table, (*COSTS, NODE_BANDWIDTH, PACKET), "costs.")
    costs = MessageCosts()
    for key in table:
        if key == NODE_BANDWIDTH:
            costs.node_beta = 1 / _parse_quantity(table, key, "costs", parse_bandwidth)
        elif key == PACKET:
            costs.packet = _parse_quantity(table, key, "costs", parse_bytes)
        else:
            setattr(costs, key, _parse_quantity(table, key, "costs", parse_latency))
    return costs


def _parse_quantity(
    table: dict[str, Any], key: str, where: str, parse: Callable[[str], Number]
) -> Number:
    if key not in table:
        raise Error(f"{where}.{key} is missing")
    return parse(check_quantity(table[key], f"{where}.{key}", parse))
