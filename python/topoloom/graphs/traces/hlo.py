# SPDX-License-Identifier: BSD-3-Clause
"""Reads HLO text of XLA: collectives of a compiled program, with loop trip counts.

The bytes of a collective are the size of its result. Attributes of the operation
determine whether groups contain replicas, partitions, or all devices, numbered by
replica.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.graphs.traces.replica_groups import Groups, parse_groups
from topoloom.graphs.traces.trace import Trace

#: XLA's name -> MPI operation, or kind of message
_COLLECTIVES = {
    "all-reduce": "allreduce",
    "all-gather": "allgather",
    "reduce-scatter": "reduce_scatter",
    "all-to-all": "alltoall",
    "collective-broadcast": "bcast",
    "collective-permute": "send",
    "ragged-all-to-all": "ragged",
    "send": "host",
}
_CALLS = ("while", "call", "conditional", "async", "fusion")

_WORDS = "|".join([*_COLLECTIVES, *_CALLS])
_INSTRUCTION = re.compile(rf"= (.*?[\]\)}}]|token\[\]) ({_WORDS})(-start)?\(")
_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.-]+)(?: \(.*\) -> .*)? \{$")
_SHAPE = re.compile(r"\b([a-z]+[0-9]*\w*)\[([0-9,<=]*)\]")
_CALLED = re.compile(
    r"\b(?:to_apply|calls|body|true_computation|false_computation)=%?([\w.-]+)"
)
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TRIPS = re.compile(r'"?known_trip_count"?\s*:\s*\{\s*"?n"?\s*:\s*"?([0-9]{1,18})"?')
_PAIRS = re.compile(r"source_target_pairs=\{((?:\{[0-9]+, ?[0-9]+\},? ?)*)\}")

#: Bits per element by type; all f8 types have 8.
_BITS = {"pred": 8, "bf16": 16, "c64": 64, "c128": 128, "token": 0, "opaque": 0}


class _Operation(NamedTuple):
    """A collective in a computation."""

    kind: str
    bytes: int
    started: bool
    attributes: str


class _Call(NamedTuple):
    """A call of computations; `times`, the trip count, is None if unknown."""

    names: tuple[str, ...]
    times: int | None
    what: str


class _Computation:
    def __init__(self) -> None:
        self.operations: Counter[_Operation] = Counter()
        self.calls: list[_Call] = []


def read_hlo(text: str) -> Trace:
    """Count the messages of one execution of a module; each device is a rank."""
    header, _, _ = text.partition("\n")
    if not header.startswith("HloModule"):
        raise Error("does not begin with HloModule, the first word of XLA's HLO text")
    replicas = _read_attribute(header, "replica_count")
    partitions = _read_attribute(header, "num_partitions")
    trace = Trace(replicas * partitions)
    computations, entry = _parse_computations(text)
    counted = _CallCounter(computations, trace).count(entry)
    for operation, times in counted.items():
        _count(trace, operation, times, replicas, partitions)
    return trace


def _read_attribute(header: str, name: str) -> int:
    found = re.search(rf"\b{name}=([0-9]{{1,9}})", header)
    return int(found[1]) if found else 1


def _parse_computations(text: str) -> tuple[dict[str, _Computation], str]:
    found: dict[str, _Computation] = {}
    entry, current, closed = "", None, True
    for line in text.splitlines():
        bare = line.strip()
        if bare.endswith("{") and " = " not in bare:
            match = _COMPUTATION.match(bare)
            if match:
                current = found[match[2]] = _Computation()
                entry = match[2] if match[1] else entry
                closed = False
        elif bare.startswith("}"):
            closed = True
        elif current is not None and (match := _INSTRUCTION.search(bare)):
            _add_instruction(current, match, bare)
    if not closed or not entry:
        raise Error("the program is truncated: a computation does not end")
    return found, entry


def _add_instruction(
    computation: _Computation, match: re.Match[str], line: str
) -> None:
    word, rest = match[2], line[match.end() :]
    if word in _COLLECTIVES:
        kind, started = _COLLECTIVES[word], match[3] is not None
        size = _count_shape_bytes(_select_part(match[1], kind, started))
        computation.operations[_Operation(kind, size, started, rest)] += 1
        return
    if word == "async" and not match[3]:
        return
    names = _CALLED.findall(rest)
    if branches := _BRANCHES.search(rest):
        names += [name.strip().lstrip("%") for name in branches[1].split(",")]
    times: int | None = 1
    if word == "while":
        trips = _TRIPS.search(rest)
        times = int(trips[1]) if trips else None
    elif word == "conditional":
        times = None
    computation.calls.append(_Call(tuple(names), times, word))


def _select_part(shape: str, kind: str, started: bool) -> str:
    """Return the part of a result's shape that contains the transferred data."""
    if not (started and kind == "send" and shape.startswith("(")):
        return shape
    depth = 0
    for at, letter in enumerate(shape):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 1:
            return shape[1:at]
    return shape


def _count_shape_bytes(shape: str) -> int:
    if "[-" in shape:
        raise Error(f"the shape '{shape[:40]}' has a negative dimension")
    bits = 0
    for kind, dims in _SHAPE.findall(shape):
        count = 1
        for dim in dims.replace("<=", "").split(","):
            count *= int(dim) if dim else 1
        bits += 8 * -(-count * _find_bits(kind) // 8)
    return bits // 8


def _find_bits(kind: str) -> int:
    if kind in _BITS:
        return _BITS[kind]
    found = re.match(r"[a-z]+([0-9]+)", kind)
    if found is None:
        raise Error(f"has an array of unknown type '{kind}'")
    return int(found[1])


class _CallCounter:
    """Counts the operations in a computation and in the computations that it calls."""

    def __init__(self, computations: dict[str, _Computation], trace: Trace) -> None:
        self._parse_computations = computations
        self._trace = trace
        self._known: dict[str, Counter[_Operation]] = {}

    def count(self, name: str) -> Counter[_Operation]:
        if name not in self._known:
            if name not in self._parse_computations:
                raise Error(f"the program is truncated: there is no computation {name}")
            # XLA writes no cyclic calls, but recursion must end in any case.
            self._known[name] = Counter()
            self._known[name] = self._count(self._parse_computations[name])
        return self._known[name]

    def _count(self, computation: _Computation) -> Counter[_Operation]:
        total = Counter(computation.operations)
        for call in computation.calls:
            inner = [self.count(name) for name in call.names]
            if call.times is None and any(inner):
                said = {
                    "while": "a loop without known_trip_count has collectives; "
                    "they are counted once",
                    "conditional": "a conditional has collectives; each of its "
                    "branches is counted once",
                }
                self._trace.add_loss(said[call.what])
            for one in inner:
                for operation, times in one.items():
                    total[operation] += times * (
                        1 if call.times is None else call.times
                    )
        return total


def _count(
    trace: Trace, operation: _Operation, times: int, replicas: int, partitions: int
) -> None:
    kind, size, started, attributes = operation
    if kind in ("ragged", "host"):
        said = {"ragged": "a ragged all-to-all", "host": "a send to another program"}
        trace.add_loss(f"{said[kind]} does not say what goes to whom")
        return
    if kind == "send":
        _count_sends(trace, operation, times, replicas, partitions)
        return
    _, found, after = attributes.partition("replica_groups=")
    groups = parse_groups(
        after if found else "{}", _count_members(operation, replicas, partitions)
    )
    for members in _list_devices(groups, operation, replicas, partitions):
        n = len(members)
        if kind == "allgather":
            # The result of a start operation contains both its input and its output.
            amount, rest = divmod(size, n + 1 if started else n)
            if rest:
                raise Error(f"an allgather of {size} bytes has {n} devices")
        elif kind == "reduce_scatter":
            amount = size * n
        else:
            amount = size // n if kind == "alltoall" else size
        trace.add(kind, members.tolist(), amount, times)


def _count_sends(
    trace: Trace, operation: _Operation, times: int, replicas: int, partitions: int
) -> None:
    """Count the messages of a collective-permute."""
    _, size, _, attributes = operation
    pairs = _PAIRS.search(attributes)
    if pairs is None:
        raise Error("a collective-permute has no source_target_pairs")
    numbers = [int(one) for one in re.findall(r"[0-9]+", pairs[1])]
    for ends in (numbers[::2], numbers[1::2]):
        if len(set(ends)) < len(ends):
            raise Error(f"source_target_pairs={{{pairs[1]}}} names a device twice")
    for row in _list_devices([np.array(numbers)], operation, replicas, partitions):
        for source, target in row.reshape(-1, 2).tolist():
            if source != target:
                trace.send(source, target, size, times)


def _find_member_kind(operation: _Operation) -> str:
    """Return what the members of groups are: replicas, partitions, both or devices."""
    has_channel = "channel_id=" in operation.attributes
    if "use_global_device_ids=true" in operation.attributes:
        return "devices"
    if operation.kind in ("allreduce", "allgather", "reduce_scatter"):
        return "both" if has_channel else "replicas"
    return "partitions" if has_channel else "replicas"


def _count_members(operation: _Operation, replicas: int, partitions: int) -> int:
    mode = _find_member_kind(operation)
    if mode == "devices":
        return replicas * partitions
    return partitions if mode == "partitions" else replicas


def _list_devices(
    groups: Groups, operation: _Operation, replicas: int, partitions: int
) -> Iterator[NDArray[np.int64]]:
    """Yield the devices of each group; a group of replicas exists in each partition."""
    mode = _find_member_kind(operation)
    for group in groups:
        if mode == "devices":
            yield group
        elif mode == "partitions":
            for replica in range(replicas):
                yield replica * partitions + group
        elif mode == "replicas":
            for partition in range(partitions):
                yield group * partitions + partition
        else:
            every = np.arange(partitions)
            yield (group[:, None] * partitions + every).ravel()
