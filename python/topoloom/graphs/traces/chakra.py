# SPDX-License-Identifier: BSD-3-Clause
"""Reads Chakra execution traces: ``NAME.RANK.et``, with a JSON file of groups.

Sizes are defined as in ASTRA-sim: in a gather, the part of one rank; in a
reduce_scatter or alltoall, all parts of one rank.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.graphs.traces.protocol_buffers import parse_fields, split_messages
from topoloom.graphs.traces.trace import Trace
from topoloom.graphs.traces.trace_files import (
    collect_losses,
    parse_json,
    parse_ranks,
    read_content,
)
from topoloom.support.files import prefix_errors

#: Collectives by their number in the schema.
_COLLECTIVES = {
    0: "allreduce",
    1: "reduce",
    2: "allgather",
    3: "gather",
    4: "scatter",
    5: "bcast",
    6: "alltoall",
    7: "reduce_scatter",
    8: "reduce_scatter",
    9: "barrier",
}

#: Numbers in the schema: node types, fields of nodes, and fields of attributes.
_SEND, _RECEIVE, _COLLECTIVE = 5, 6, 7
_KIND, _ATTRIBUTE = 3, 10
_NAME, _BOOLEANS, _STRING = 1, 28, 29
_SIGNED = (15, 17)


def read_chakra(files: Sequence[Path]) -> Trace:
    """Read the traces of a job, one per rank, and JSON files of groups."""
    groups: dict[str, list[int]] = {}
    traces: dict[int, Path] = {}
    for file in files:
        with prefix_errors(file):
            if file.suffix == ".json":
                groups |= _parse_groups(parse_json(read_content(file)))
                continue
            found = re.search(r"([0-9]{1,9})\.et$", file.name)
            if found is None:
                raise Error("has no rank in its file name; expected NAME.RANK.et")
            traces[int(found[1])] = file
    if not traces:
        raise Error(f"{files[0]}: no .et file in the same folder")
    ranks = 1 + max([*traces, *(max(members) for members in groups.values())])
    trace, communicates = Trace(ranks), False
    for rank, file in sorted(traces.items()):
        trace.seen.add(rank)
        with prefix_errors(file), collect_losses(file, trace.losses):
            for number, message in enumerate(split_messages(read_content(file))):
                if number:  # the first message contains the version
                    communicates |= _read_node(trace, rank, message, groups)
    if not communicates:
        trace.add_loss(
            "no node communicates: chakra_converter makes those of NCCL's kernels, "
            "which jobs without GPUs do not have"
        )
    trace.add_missing_ranks()
    return trace


def _parse_groups(document: Any) -> dict[str, list[int]]:
    if not isinstance(document, dict):
        raise Error("does not map the names of groups to ranks")
    found = {}
    for name, value in document.items():
        members = parse_ranks(value)
        if members is None:
            raise Error(f"group '{name}' is not a list of ranks")
        found[name] = members
    return found


def _read_node(
    trace: Trace, rank: int, message: bytes, groups: dict[str, list[int]]
) -> bool:
    """Count the messages of a trace node; return whether the node communicates."""
    kind: int | bytes = 0
    attributes: dict[str, Any] = {}
    for number, value in parse_fields(message):
        if number == _KIND:
            kind = value
        elif number == _ATTRIBUTE and isinstance(value, bytes):
            name, held = _parse_attribute(value)
            attributes[name] = held
    if kind not in (_SEND, _RECEIVE, _COLLECTIVE) or attributes.get("is_cpu_op") == 1:
        return False
    if kind != _RECEIVE:
        _count_messages(trace, rank, kind, attributes, groups)
    return True


def _count_messages(
    trace: Trace,
    rank: int,
    kind: int | bytes,
    attributes: dict[str, Any],
    groups: dict[str, list[int]],
) -> None:
    size = attributes.get("comm_size")
    if size is None:
        trace.add_loss("a node does not say its comm_size")
        return
    if kind == _SEND:
        if "comm_dst" not in attributes:
            trace.add_loss("a send does not say its comm_dst")
        else:
            trace.send(rank, attributes["comm_dst"], size)
        return
    operation = _COLLECTIVES.get(attributes.get("comm_type", -1))
    if operation is None:
        trace.add_loss("a collective does not say its comm_type")
        return
    group = str(attributes.get("pg_name") or attributes.get("comm_group") or "")
    if group and group not in groups:
        trace.add_loss(f"no JSON file says who is in group '{group}'")
        return
    if not group and not all(attributes.get("involved_dim", b"")):
        trace.add_loss("a collective is along some dimensions of a topology not given")
        return
    members = groups[group] if group else list(range(trace.ranks))
    if operation == "alltoall":
        trace.add_even_exchange(rank, members, size)
        return
    root = attributes.get("root_rank")
    trace.add_member_calls(
        rank, operation, members, size, members.index(root) if root in members else None
    )


def _parse_attribute(message: bytes) -> tuple[str, Any]:
    """Read an attribute: its name, and its value (integer, string, or bytes)."""
    name = ""
    held: Any = None
    for number, value in parse_fields(message):
        if number == _NAME and isinstance(value, bytes):
            name = value.decode(errors="replace")
        elif isinstance(value, int):
            held = (value >> 1) ^ -(value & 1) if number in _SIGNED else value
        elif number == _STRING:
            held = value.decode(errors="replace")
        elif number == _BOOLEANS:
            packed = [part for _, part in parse_fields(value)]
            held = b"".join(
                part if isinstance(part, bytes) else bytes([part]) for part in packed
            )
    return name, held
