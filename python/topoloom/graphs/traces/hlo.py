# SPDX-License-Identifier: BSD-3-Clause
"""Reads HLO text of XLA: collectives of a compiled program, with loop trip counts.

The bytes of a collective are the size of its result. Attributes of the operation
determine whether groups contain replicas, partitions, or all devices, numbered by
replica.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from topoloom._core import Error
from topoloom.graphs.traces.device_groups import DeviceGroups
from topoloom.graphs.traces.hlo_calls import Call, count_runs
from topoloom.graphs.traces.replica_groups import parse_numbers
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
#: What follows the first "= " of an instruction; all patterns take linear time.
_INSTRUCTION = re.compile(rf"(.*?[\]\)}}]|token\[\]) ({_WORDS})(-start)?\(")
_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.-]+)(?: \(.*\) -> .*)? \{$")
_SHAPE = re.compile(r"\b([a-z]\w*)\[([0-9,<=]*)\]")
_CALLED = re.compile(
    r"\b(?:to_apply|calls|body|true_computation|false_computation)=%?([\w.-]+)"
)
_BRANCHES = re.compile(r"branch_computations=\{([^}=]*)\}")
_TRIPS = re.compile(r'"?known_trip_count"?\s*:\s*\{\s*"?n"?\s*:\s*"?([0-9]{1,18})"?')
_PAIRS = re.compile(r"source_target_pairs=\{((?:\{[0-9]+, ?[0-9]+\},? ?)*)\}")

#: Bits per element by type; all f8 types have 8.
_BITS = {"pred": 8, "bf16": 16, "c64": 64, "c128": 128, "token": 0, "opaque": 0}


#: Numbers with so many digits are 2^63 or more, or have zeros in front.
_MAX_DIGITS = 20
_UNKNOWN_TIMES = {
    "while": "a loop without known_trip_count has collectives; they are counted once",
    "conditional": "a conditional has collectives; each of its branches is counted "
    "once",
}


class _Operation(NamedTuple):
    """A collective in a computation."""

    kind: str
    bytes: int
    started: bool
    attributes: str


class _Computation:
    def __init__(self) -> None:
        self.operations: Counter[_Operation] = Counter()
        self.calls: list[Call] = []


def read_hlo(text: str) -> Trace:
    """Count the messages of one execution of a module; each device is a rank."""
    header, _, _ = text.partition("\n")
    if not header.startswith("HloModule"):
        raise Error("does not begin with HloModule, the first word of XLA's HLO text")
    replicas = _read_attribute(header, "replica_count")
    partitions = _read_attribute(header, "num_partitions")
    trace = Trace(replicas * partitions)
    computations, entry = _parse_computations(text)
    counted = _count_operations(computations, entry, trace)
    devices = DeviceGroups(trace, replicas, partitions, len(text))
    for operation, times in counted.items():
        _count(trace, operation, times, devices)
    return trace


def _read_attribute(header: str, name: str) -> int:
    found = re.search(rf"\b{name}=([0-9]{{1,9}})", header)
    return int(found[1]) if found else 1


def _parse_computations(text: str) -> tuple[dict[str, _Computation], str]:
    found: dict[str, _Computation] = {}
    entry, current, closed = "", None, True
    for line in text.splitlines():
        bare = line.strip()
        if bare.endswith(" {") and " = " not in bare:
            match = _COMPUTATION.match(bare)
            if match:
                current = found[match[2]] = _Computation()
                entry = match[2] if match[1] else entry
                closed = False
        elif bare.startswith("}"):
            closed = True
        elif current is not None:
            _, _, right = bare.partition("= ")
            if match := _INSTRUCTION.match(right):
                _add_instruction(current, match, right)
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
    computation.calls.append(Call(tuple(names), times, word))


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
        for dim in filter(None, dims.replace("<=", "").split(",")):
            count *= int(dim[:_MAX_DIGITS])
            if len(dim) >= _MAX_DIGITS or count >> 63:
                raise OverflowError("the shape has 2^63 elements or more")
        bits += 8 * -(-count * _find_bits(kind) // 8)
    return bits // 8


def _find_bits(kind: str) -> int:
    if kind in _BITS:
        return _BITS[kind]
    found = re.match(r"[a-z]+([0-9]{1,4})", kind)
    if found is None:
        raise Error(f"has an array of unknown type '{kind[:40]}'")
    return int(found[1])


def _count_operations(
    computations: dict[str, _Computation], entry: str, trace: Trace
) -> Counter[_Operation]:
    """Count the operations of all computations that the program runs."""
    runs = count_runs({name: one.calls for name, one in computations.items()}, entry)
    total: Counter[_Operation] = Counter()
    for name, times in runs.items():
        for operation, count in computations[name].operations.items():
            total[operation] += times * count
    communicates: dict[str, bool] = {}
    for name in reversed(runs):
        has_inner = False
        for call in computations[name].calls:
            if any(communicates[called] for called in call.names):
                has_inner = True
                if call.times is None:
                    trace.add_loss(_UNKNOWN_TIMES[call.what])
        communicates[name] = has_inner or bool(computations[name].operations)
    return total


def _count(
    trace: Trace, operation: _Operation, times: int, devices: DeviceGroups
) -> None:
    kind, size, started, attributes = operation
    if kind in ("ragged", "host"):
        said = {"ragged": "a ragged all-to-all", "host": "a send to another program"}
        trace.add_loss(f"{said[kind]} does not say what goes to whom")
        return
    mode = _find_member_kind(operation)
    if kind == "send":
        for source, target in devices.iterate_pairs(_read_pairs(attributes), mode):
            if source != target:
                trace.send(source, target, size, times)
        return
    _, found, after = attributes.partition("replica_groups=")
    for members in devices.list_groups(after if found else "{}", mode):
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
        trace.add(kind, members, amount, times)


def _read_pairs(attributes: str) -> list[int]:
    """Read sources and targets of a collective-permute, in turn."""
    pairs = _PAIRS.search(attributes)
    if pairs is None:
        raise Error("a collective-permute has no source_target_pairs")
    numbers = parse_numbers(re.sub(r"[{}]", "", pairs[1]))
    for ends in (numbers[::2], numbers[1::2]):
        if len(set(ends)) < len(ends):
            raise Error(f"source_target_pairs={{{pairs[1][:40]}}} names a device twice")
    return numbers


def _find_member_kind(operation: _Operation) -> str:
    """Return what the members of groups are: replicas, partitions, both or devices."""
    has_channel = "channel_id=" in operation.attributes
    if "use_global_device_ids=true" in operation.attributes:
        return "devices"
    if operation.kind in ("allreduce", "allgather", "reduce_scatter"):
        return "both" if has_channel else "replicas"
    return "partitions" if has_channel else "replicas"
