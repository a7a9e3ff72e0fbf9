# SPDX-License-Identifier: BSD-3-Clause
"""Reads dumps of PyTorch's flight recorder: the last collectives of each rank.

A dump is a ring buffer, stored as pickle or JSON; its first `record_id` is the number
of lost entries. Roots and split sizes are missing. Dumps of gloo contain only one
unnamed group. For them, the members of a group are the ranks that have calls in the
group; their number must agree with the sizes of collectives.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, NoReturn

from topoloom._core import Error
from topoloom.graphs.traces.pytorch_names import element_bytes, translate_operation
from topoloom.graphs.traces.trace import Trace
from topoloom.graphs.traces.trace_files import (
    TruncatedFileError,
    parse_json,
    parse_ranks,
    read_rank_files,
)
from topoloom.support.files import prefix_errors

_MEMO_OPCODES = {"PUT", "BINPUT", "LONG_BINPUT"}
#: Items of nested lists per byte of a dump, when lists that it contains repeatedly are
#: counted repeatedly.
_MAX_ITEMS_PER_BYTE = 16
_PEERS = re.compile(r"(send|recv) ([0-9]{1,9})(?:->|<-)([0-9]{1,9})(?![0-9])")


class _PlainUnpickler(pickle.Unpickler):
    """Unpickler that loads lists, dictionaries, numbers and text, but no code."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise Error(f"is not a dump: it would load {module}.{name}, which is refused")

    def persistent_load(self, _: Any) -> NoReturn:
        raise Error("is not a dump: its pickle refers to external objects")


def _check_sizes(data: bytes) -> None:
    """Raise if a pickle would make the unpickler allocate more than it contains.

    The unpickler allocates its memo up to the highest index before it stores anything.
    `genops` raises `ValueError` for lengths that exceed the data.
    """
    opcodes: Iterable[tuple[Any, Any, Any]] = pickletools.genops(data)
    for count, (opcode, argument, _) in enumerate(opcodes):
        if opcode.name in _MEMO_OPCODES and argument > count:
            raise Error(f"is not a dump: its memo has index {argument}")


def _check_nesting(dump: Any, most: int) -> None:
    """Raise if lists that contain each other have more items than a file can state."""
    left = [dump]
    while left:
        one = left.pop()
        most -= 1
        if most < 0:
            raise Error("is not a dump: its lists contain each other")
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list | tuple | set | frozenset):
            left += one


def load_dump(data: bytes) -> dict[str, Any]:
    """Load a dump without running its code."""
    if data[:1] == b"{":
        dump = parse_json(data)
    else:
        try:
            _check_sizes(data)
            dump = _PlainUnpickler(io.BytesIO(data)).load()
            _check_nesting(dump, _MAX_ITEMS_PER_BYTE * len(data))
        except Error:
            raise
        except Exception:  # a damaged pickle may raise any exception
            raise TruncatedFileError(
                "is neither a pickle nor JSON, or is truncated"
            ) from None
    if not isinstance(dump, dict) or not isinstance(dump.get("entries"), list):
        raise Error("is not a dump of the flight recorder: it has no 'entries'")
    return dump


def _load_rank(data: bytes) -> tuple[dict[str, Any], Any]:
    dump = load_dump(data)
    return dump, dump.get("rank")


def read_flight_recorder(files: Sequence[Path]) -> Trace:
    """Read the dumps of a job, one file per rank; file names end with the rank."""
    dumps, losses = read_rank_files(files, _load_rank)
    stated = {rank: _parse_groups(file, dump) for rank, (file, dump) in dumps.items()}
    members = [one for groups in stated.values() for one in groups.values()]
    trace = Trace(1 + max([*dumps, *(max(one) for one in members)]))
    trace.losses += losses
    recorded = _find_recorded_groups(dumps)
    for rank, (file, dump) in sorted(dumps.items()):
        trace.seen.add(rank)
        nameless = list(stated[rank]) == [""]
        with prefix_errors(file):
            _read_rank(trace, rank, dump, recorded if nameless else stated[rank])
    trace.add_missing_ranks()
    return trace


def _find_recorded_groups(
    dumps: Mapping[int, tuple[Path, dict[str, Any]]],
) -> dict[str, list[int]]:
    """Return, for each group, the ranks that have calls in the group."""
    found: dict[str, list[int]] = {}
    for rank, (_, dump) in sorted(dumps.items()):
        for name in {
            _find_group(one) for one in dump["entries"] if isinstance(one, dict)
        }:
            found.setdefault(name, []).append(rank)
    return found


def _find_group(entry: dict[str, Any]) -> str:
    group = entry.get("process_group") or [None]
    return str(group[0] if isinstance(group, list | tuple) else group)


def _parse_groups(file: Path, dump: dict[str, Any]) -> dict[str, list[int]]:
    config = dump.get("pg_config")
    if not isinstance(config, dict):
        raise Error(f"{file}: has no 'pg_config' with the members of groups")
    found = {}
    for name, one in config.items():
        ranks = parse_ranks(one.get("ranks") if isinstance(one, dict) else one)
        if ranks is not None:
            found[str(name)] = ranks
    return found


def _read_rank(
    trace: Trace, rank: int, dump: dict[str, Any], groups: dict[str, list[int]]
) -> None:
    entries = dump["entries"]
    found = (one.get("record_id") for one in entries if isinstance(one, dict))
    numbers = [one for one in found if isinstance(one, int)]
    if len(numbers) < len(entries):
        raise Error("has an entry without a record_id")
    if lost := (max(numbers) + 1 - len(numbers) if numbers else 0):
        trace.add_loss(f"rank {rank} lost {lost} entries of its ring buffer")
    for entry in entries:
        name = _find_group(entry)
        members = groups.get(name) or groups.get(str(entry.get("pg_id")))
        if members is None:
            trace.add_loss(f"rank {rank} does not say who is in group '{name}'")
            continue
        title = str(entry.get("profiling_name", "")).partition(":")[2]
        if peers := _PEERS.match(title):
            _read_message(trace, peers, members, entry)
            continue
        operation = translate_operation(title)
        if operation is None:
            if _count_bytes(entry, "input") and title != "coalesced":
                trace.add_loss(f"'{title}' is not a collective that is known")
            continue
        _read_collective(trace, rank, operation, members, entry)


def _read_message(
    trace: Trace, peers: re.Match[str], members: list[int], entry: dict[str, Any]
) -> None:
    if peers[1] == "recv":
        return  # the sender's record counts
    places = int(peers[2]), int(peers[3])
    if max(places) >= len(members):
        raise Error(f"'{peers[0]}' is not among the {len(members)} ranks of its group")
    source, target = (members[place] for place in places)
    trace.send(source, target, _count_bytes(entry, "input"))


def _read_collective(
    trace: Trace, rank: int, operation: str, members: list[int], entry: dict[str, Any]
) -> None:
    amount = 0 if operation == "barrier" else _count_bytes(entry, "input")
    out = _count_bytes(entry, "output")
    ends = {"allgather": (out, amount), "reduce_scatter": (amount, out)}
    whole, part = ends.get(operation, (0, 0))
    if part and whole != part * len(members):
        trace.add_loss(
            f"rank {rank} has an {operation} of {whole} bytes in parts of {part}, but "
            f"{len(members)} ranks recorded calls of its group"
        )
        return
    if operation == "alltoall":
        trace.add_even_exchange(rank, members, amount, received=out)
        return
    trace.add_member_calls(rank, operation, members, amount)


def _count_bytes(entry: dict[str, Any], side: str) -> int:
    sizes, types = entry.get(f"{side}_sizes") or [], entry.get(f"{side}_dtypes") or []
    if len(sizes) != len(types):
        raise Error(f"an entry has {len(sizes)} {side}_sizes, but {len(types)} types")
    if not all(isinstance(size, list | tuple) for size in sizes) or not all(
        type(extent) is int for size in sizes for extent in size
    ):
        raise Error(f"an entry has {side}_sizes that are not integers")
    return sum(
        prod(size) * element_bytes(str(kind))
        for size, kind in zip(sizes, types, strict=True)
    )
