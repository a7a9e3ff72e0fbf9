# SPDX-License-Identifier: BSD-3-Clause
"""Infers the mesh of a recorded job: axes, and operations along each axis.

Consecutive ranks of a group along an axis of stride s differ by s. Thus groups
determine the strides at which axes begin and end. Point-to-point messages are assigned
to the axis along which they form a chain or ring. Axes that are only used together are
inferred as a single axis.

An alltoall with uneven parts is recorded as messages between pairs of ranks. Each
pair is assigned to the smallest group that contains both ranks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.graphs.axes import Traffic
from topoloom.graphs.mpi_collectives import OPERATIONS
from topoloom.graphs.profile import KINDS, Profile

if TYPE_CHECKING:
    from topoloom.documents.ai import AxisOperation, AxisTraffic, MeshDocument

#: Operation -> collective of `Traffic`, and how many bytes each of n ranks sends for
#: each byte of the operation.
_SENT: dict[str, tuple[str, Callable[[int], float]]] = {
    "allreduce": ("ring", lambda n: 2 * (n - 1) / n),
    "allgather": ("ring", lambda n: n - 1),
    "reduce_scatter": ("ring", lambda n: (n - 1) / n),
    "alltoall": ("alltoall", lambda n: n - 1),
    "bcast": ("ring", lambda n: (n - 1) / n),
    "reduce": ("ring", lambda n: (n - 1) / n),
    "gather": ("ring", lambda n: (n - 1) / n),
    "scatter": ("ring", lambda n: (n - 1) / n),
}

#: Minimal share of a group's pairs that must exchange messages to count as an
#: alltoall.
_EXCHANGED = 0.5

#: Strides and sizes of a group, the smallest stride first.
Shape = tuple[tuple[int, int], ...]


class Operation(NamedTuple):
    """An operation along axes, with the bytes and calls of the busiest group.

    `ranks` is the number of ranks in all groups that call the operation.
    """

    axes: tuple[str, ...]
    name: str
    bytes: int
    calls: int
    ranks: int


class _Exchange(NamedTuple):
    """Messages along a shape; `bytes` are those of the busiest rank."""

    shape: Shape
    name: str
    bytes: int
    ranks: int


class InferredMesh(NamedTuple):
    """A mesh, with its fastest axis first, and the operations along its axes.

    `left_over` is the number of bytes that cannot be assigned to axes.
    """

    mesh: dict[str, int]
    operations: list[Operation]
    left_over: int = 0

    def document(self) -> MeshDocument:
        """Return the fields of the ``--json`` output."""
        return {
            "mesh": self.mesh,
            "operations": cast(
                "list[AxisOperation]", [one._asdict() for one in self.operations]
            ),
            "traffic": cast(
                "list[AxisTraffic]", [one._asdict() for one in self.traffic()]
            ),
            "left_over": self.left_over,
        }

    def traffic(self) -> list[Traffic]:
        """Sum the bytes that a rank sends, by set of axes and collective."""
        sent: dict[tuple[tuple[str, ...], str], float] = defaultdict(float)
        count: dict[tuple[tuple[str, ...], str], int] = defaultdict(int)
        for axes, name, bytes, calls, _ in self.operations:
            ranks = 1
            for axis in axes:
                ranks *= self.mesh[axis]
            if name in ("chain", "ring"):
                way, total = (axes, name), float(bytes)
            elif name == "alltoallv":
                way, total = (axes, "alltoall"), float(bytes)
            elif name in _SENT:
                pattern, share = _SENT[name]
                way, total = (axes, pattern), share(ranks) * bytes * calls
            else:
                continue
            sent[way] += total
            count[way] += calls
        return [
            Traffic(*way, round(sum_), max(count[way], 1))
            for way, sum_ in sent.items()
            if sum_ >= 1
        ]


def infer_mesh(profile: Profile) -> InferredMesh:
    """Infer the mesh of a job; raises `topoloom.Error` if the groups form no mesh."""
    lines = _find_chains(profile)
    shapes, ordered = _find_axes(profile, [one.shape for one in lines])
    exchanges, left_over = _find_exchanges(profile, shapes)
    if conflict := _find_conflict(ordered):
        raise Error(
            f"the groups do not form one mesh: axes would begin at ranks "
            f"{conflict[0]} and {conflict[1]}, but the first does not divide the second"
        )
    names = {cut: f"axis{number}" for number, cut in enumerate(ordered[:-1], start=1)}
    mesh = {names[a]: b // a for a, b in pairwise(ordered)}
    found: dict[tuple[Shape, str, int], dict[int, int]] = {}
    for _, operation, group, _, size, calls in profile.records.tolist():
        shape, name = shapes[group], OPERATIONS[operation]
        if shape is None:
            ranks = len(profile.communicators[group])
            share = _SENT[name][1](ranks) if name in _SENT else 0
            left_over += round(ranks * share * size * calls)
            continue
        busy = found.setdefault((shape, name, size), {})
        busy[group] = busy.get(group, 0) + calls
    operations = [
        Operation(
            *(_name_axes(shape, names), name, size, max(calls.values())),
            _count_ranks(profile, calls),
        )
        for (shape, name, size), calls in found.items()
    ]
    operations += [
        Operation(_name_axes(one.shape, names), one.name, one.bytes, 1, one.ranks)
        for one in (*lines, *exchanges)
    ]
    return InferredMesh(mesh, sorted(operations), left_over)


def _find_axes(
    profile: Profile, lines: Sequence[Shape]
) -> tuple[list[Shape | None], list[int]]:
    """Return the shape of each group, and the strides at which mesh axes begin.

    Some kinds of groups do not cover all ranks, such as first and last pipeline stages
    with shared embeddings. They have no shape if they do not fit the axes of other
    groups.
    """
    shapes = [_find_shape(members) for members in map(np.sort, profile.communicators)]
    ranks: dict[Shape, set[int]] = defaultdict(set)
    for shape, members in zip(shapes, profile.communicators, strict=True):
        ranks[shape] |= set(members.tolist())
    cuts = {1, profile.rank_count}
    some = [shape for shape in ranks if len(ranks[shape]) < profile.rank_count]
    for shape in (*(ranks.keys() - some), *lines):
        cuts |= _list_axis_bounds(shape)
    outside = set[Shape]()
    for shape in sorted(some):
        if _find_conflict(sorted(cuts | _list_axis_bounds(shape))):
            outside.add(shape)
        else:
            cuts |= _list_axis_bounds(shape)
    return [None if one in outside else one for one in shapes], sorted(cuts)


def _find_conflict(cuts: Sequence[int]) -> tuple[int, int] | None:
    """Find two consecutive strides where the first does not divide the second."""
    return next((both for both in pairwise(cuts) if both[1] % both[0]), None)


def _list_axis_bounds(shape: Shape) -> set[int]:
    """Return the strides at which the axes of a group begin and end."""
    return {cut for stride, size in shape for cut in (stride, stride * size)}


def _count_ranks(profile: Profile, groups: Iterable[int]) -> int:
    """Count the ranks of all groups; a rank may be in several."""
    return len({int(rank) for one in groups for rank in profile.communicators[one]})


def _name_axes(shape: Shape, names: dict[int, str]) -> tuple[str, ...]:
    return tuple(
        name
        for start, name in names.items()
        if any(stride <= start < stride * size for stride, size in shape)
    )


def _find_shape(members: NDArray[np.int64]) -> Shape:
    """Return strides and sizes of a group: (1, 2), (4, 2) for ranks 0, 1, 4, 5."""
    offsets = (members - members[0]).tolist()
    shape: list[tuple[int, int]] = []
    covered = [0]
    while len(covered) < len(offsets):
        stride = offsets[len(covered)]
        size = 1
        while (
            len(covered) * (size + 1) <= len(offsets)
            and offsets[len(covered) * size] == stride * size
        ):
            size += 1
        grown = [stride * i + one for i in range(size) for one in covered]
        if size < 2 or grown != offsets[: len(grown)]:
            raise Error(
                f"ranks {members[:8].tolist()} of a group do not lie along axes of "
                "a mesh"
            )
        shape.append((stride, size))
        covered = grown
    return tuple(shape)


def _find_chains(profile: Profile) -> list[_Exchange]:
    """Find chains and rings of messages."""
    traffic = profile.traffic[profile.traffic[:, 1] != KINDS.index("direct")]
    stepped: dict[int, set[tuple[int, int]]] = defaultdict(set)
    sent: dict[tuple[int, int], int] = defaultdict(int)
    for source, target, bytes in traffic[:, [2, 3, 4]].tolist():
        if source != target:
            stepped[abs(source - target)].add((source, target))
            sent[source, target] += bytes
    found: list[_Exchange] = []
    taken: set[int] = set()
    for step in sorted(stepped):
        if step in taken:
            continue
        pairs = {(min(pair), max(pair)) for pair in stepped[step]}
        lengths = {low: 1 for low, _ in pairs}
        for low, _ in sorted(pairs, reverse=True):
            lengths[low] = 1 + lengths.get(low + step, 1)
        size = max(lengths.values())
        back = step * (size - 1)
        closed = size > 2 and any(
            (b, a) in sent or (a, b) in sent
            for a, b in ((low, low + back) for low in lengths)
        )
        if closed:
            taken.add(back)
        busiest: dict[int, int] = defaultdict(int)
        used = [*stepped[step], *(stepped[back] if closed else ())]
        for source, target in used:
            busiest[source] += sent[source, target]
        pattern = "ring" if closed else "chain"
        ranks = len({rank for pair in used for rank in pair})
        found.append(_Exchange(((step, size),), pattern, max(busiest.values()), ranks))
    return found


def _find_exchanges(
    profile: Profile, shapes: Sequence[Shape | None]
) -> tuple[list[_Exchange], int]:
    """Find uneven alltoalls; sum other bytes."""
    direct = profile.traffic[profile.traffic[:, 1] == KINDS.index("direct")]
    groups = [set(members.tolist()) for members in profile.communicators]
    of: dict[int, list[int]] = defaultdict(list)
    for group in sorted(range(len(groups)), key=lambda one: len(groups[one])):
        for rank in groups[group]:
            of[rank].append(group)
    exchanged: dict[int, dict[tuple[int, int], int]] = defaultdict(dict)
    for source, target, bytes in direct[:, [2, 3, 4]].tolist():
        if source != target:
            group = next((one for one in of[source] if target in groups[one]), -1)
            pairs = exchanged[group]
            pairs[source, target] = pairs.get((source, target), 0) + bytes
    found: dict[Shape, int] = {}
    members: dict[Shape, set[int]] = defaultdict(set)
    left_over = 0
    for group, pairs in exchanged.items():
        size = len(groups[group]) if group >= 0 else 0
        shape = shapes[group] if group >= 0 else None
        if shape is None or len(pairs) < _EXCHANGED * size * (size - 1):
            left_over += sum(pairs.values())
            continue
        sent: dict[int, int] = defaultdict(int)
        for (source, _), bytes in pairs.items():
            sent[source] += bytes
        found[shape] = max(found.get(shape, 0), *sent.values())
        members[shape] |= groups[group]
    alltoalls = [
        _Exchange(shape, "alltoallv", bytes, len(members[shape]))
        for shape, bytes in found.items()
    ]
    return alltoalls, left_over
