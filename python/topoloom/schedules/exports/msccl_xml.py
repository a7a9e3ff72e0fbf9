# SPDX-License-Identifier: BSD-3-Clause
"""Writes MSCCL XML: the thread blocks of every GPU, each with a sequence of steps.

Each thread block sends to one GPU or receives from one GPU. One more block per GPU
copies and reduces. A step can wait for only one step of another block; each further
dependence becomes a `nop` step before it. Data is reduced on arrival (`rrc`) if nothing
else in the round uses its location. Chunks are equally large parts of a buffer.

Source: M. Cowan et al., "MSCCLang: Microsoft Collective Communication Language", ASPLOS
2023, and the checks in MSCCL's parser.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from xml.etree import ElementTree

from topoloom._core import Error
from topoloom.schedules.exports.rank_programs import (
    BufferedMessage,
    BufferPlace,
    LocalWork,
    RankProgram,
    Round,
    make_rank_programs,
)
from topoloom.schedules.exports.request import ExportRequest, get_single_request

NAME = "mscclxml"
USE = "MSCCL_XML_FILES=FILE NCCL_ALGO=MSCCL,RING,TREE ./app"

_COLLECTIVES = {
    "allgather": "allgather",
    "allreduce": "allreduce",
    "alltoall": "alltoall",
    "bcast": "broadcast",
    "reduce": "reduce",
    "reduce_scatter": "reduce_scatter",
}
_REDUCTIONS = ("allreduce", "reduce", "reduce_scatter")
#: Limit on chunks per buffer, because the largest chunk size that divides unequal
#: blocks can be 1 byte.
_MAX_CHUNKS = 1 << 14
#: Limit on chunks per step; MSCCL has one table entry per count.
_MAX_COUNT = 64
_BUFFERS = {"input": "i", "output": "o", "scratch": "s"}


def write(*requests: ExportRequest) -> str:
    """Write each GPU's steps of the best schedule.

    Raises `topoloom.Error` if MSCCL lacks the collective, or the bytes are not a
    multiple of the rank count.
    """
    request = get_single_request(requests, NAME)
    operation, ranks = request.call.operation, request.call.ranks
    if operation not in _COLLECTIVES:
        raise Error(f"MSCCL has no {operation}; it has {', '.join(_COLLECTIVES)}")
    programs = make_rank_programs(request.schedule)
    each = request.call.bytes
    inputs, outputs = _compute_buffer_bytes(operation, ranks, each)
    chunk = _find_chunk_bytes(programs, gcd(inputs, outputs))
    if max(inputs, outputs) > _MAX_CHUNKS * chunk:
        raise Error(
            f"{request.best} splits {each} bytes into unequal parts, but the chunks of "
            f"MSCCL are equal; choose a multiple of {ranks} bytes, such as "
            f"{max(each // ranks, 1) * ranks}"
        )
    algo = ElementTree.Element(
        "algo",
        name=request.best,
        proto="Simple",
        nchannels="1",
        nchunksperloop=str(max(inputs, outputs) // chunk),
        ngpus=str(ranks),
        coll=_COLLECTIVES[operation],
        inplace="0",
        outofplace="1",
        redop="sum" if operation in _REDUCTIONS else "nop",
        minBytes="0",
        maxBytes=str(1 << 40),
    )
    for rank, program in enumerate(programs):
        gpu = ElementTree.SubElement(
            algo,
            "gpu",
            id=str(rank),
            i_chunks=str(inputs // chunk),
            o_chunks=str(outputs // chunk),
            s_chunks=str(-(-program.scratch // chunk)),
        )
        blocks = _ThreadBlocks(chunk)
        if operation == "bcast" and rank == request.call.root:
            blocks.add_work(
                LocalWork(
                    False, BufferPlace("input", 0), BufferPlace("output", 0), outputs
                )
            )
        for one in program.rounds:
            blocks.add_round(one)
        blocks.write_to(gpu)
    ElementTree.indent(algo)
    return ElementTree.tostring(algo, encoding="unicode") + "\n"


def _compute_buffer_bytes(operation: str, ranks: int, each: int) -> tuple[int, int]:
    """Return the bytes of a rank's input buffer and output buffer."""
    if operation == "allgather":
        return each, each * ranks
    if operation == "reduce_scatter":
        return each * ranks, each
    if operation == "alltoall":
        return each * ranks, each * ranks
    return each, each


def _find_chunk_bytes(programs: list[RankProgram], buffer_bytes: int) -> int:
    """Return the bytes of the largest chunk that divides all transfers."""
    chunk = buffer_bytes
    for program in programs:
        for each in program.rounds:
            for message in each.messages():
                chunk = gcd(chunk, message.bytes, message.at.offset)
            for work in each.before + each.meanwhile + each.after:
                offsets = (work.source.offset, work.target.offset)
                chunk = gcd(chunk, work.bytes, *offsets)
    return chunk


@dataclass(eq=False)
class _Step:
    """A step of a thread block; `needs` are steps of other blocks that it waits for."""

    kind: str
    at: tuple[BufferPlace, BufferPlace]  # source and target, offsets in chunks
    chunks: int
    block: int
    order: int  # index in its thread block
    needs: list[_Step]
    is_needed: bool = False
    position: int = 0  # index in the file, including `nop` steps


class _ThreadBlocks:
    """The thread blocks of a GPU."""

    def __init__(self, chunk: int) -> None:
        self._chunk = chunk
        self._numbers: dict[tuple[int, int], int] = {}  # (target, source) -> block
        self._steps: list[list[_Step]] = []
        #: Per block: other block -> the last step of the other block that this block
        #: has waited for.
        self._waited: list[dict[int, int]] = []
        self._writer: dict[tuple[str, int], _Step] = {}
        self._readers: dict[tuple[str, int], list[_Step]] = {}

    def add_work(self, work: LocalWork) -> None:
        """Add a copy or a reduction."""
        self._add_steps(_LOCAL, "re" if work.combines else "cpy", *work[1:])

    def add_round(self, each: Round) -> None:
        """Add the steps of a round; reduce data on arrival if possible."""
        for work in each.before:
            self.add_work(work)
        for message in each.sends:
            self._add_steps(
                (message.peer, -1), "s", message.at, message.at, message.bytes
            )
        reduced = _find_reduced_messages(each)
        for message in each.receives:
            kind, source, target = "r", message.at, message.at
            if message in reduced:
                kind, source, target = "rrc", *reduced[message][1:3]
                source = target if source == message.at else source
            self._add_steps((-1, message.peer), kind, source, target, message.bytes)
        for work in each.meanwhile + each.after:
            if work not in reduced.values():
                self.add_work(work)

    def _add_steps(
        self,
        peers: tuple[int, int],
        kind: str,
        source: BufferPlace,
        target: BufferPlace,
        size: int,
    ) -> None:
        block = self._numbers.setdefault(peers, len(self._steps))
        if block == len(self._steps):
            self._steps.append([])
            self._waited.append({})
        chunks = size // self._chunk
        for first in range(0, chunks, _MAX_COUNT):
            places = [
                BufferPlace(place.memory, place.offset // self._chunk + first)
                for place in (source, target)
            ]
            count = min(_MAX_COUNT, chunks - first)
            steps = self._steps[block]
            step = _Step(kind, (places[0], places[1]), count, block, len(steps), [])
            self._add_dependences(step)
            steps.append(step)

    def _add_dependences(self, step: _Step) -> None:
        """Add the steps of other blocks on whose data a step depends."""
        source, target = (_list_chunks(place, step.chunks) for place in step.at)
        reads = [] if step.kind == "r" else source
        writes = [] if step.kind == "s" else target
        before = [self._writer[at] for at in reads + writes if at in self._writer]
        for at in writes:
            before += self._readers.pop(at, [])
        for at in writes:
            self._writer[at] = step
        for at in reads:
            self._readers.setdefault(at, []).append(step)
        latest: dict[int, _Step] = {}
        for other in before:
            if other.block not in latest or other.order > latest[other.block].order:
                latest[other.block] = other
        waited = self._waited[step.block]
        for block, other in sorted(latest.items()):
            if block != step.block and other.order > waited.get(block, -1):
                waited[block] = other.order
                other.is_needed = True
                step.needs.append(other)

    def write_to(self, gpu: ElementTree.Element) -> None:
        """Write all blocks; a step takes one line per dependence."""
        for steps in self._steps:
            position = -1
            for step in steps:
                position += max(len(step.needs), 1)
                step.position = position
        for (send, receive), number in self._numbers.items():
            block = ElementTree.SubElement(
                gpu, "tb", id=str(number), send=str(send), recv=str(receive), chan="0"
            )
            for step in self._steps[number]:
                for other in step.needs[:-1]:
                    _write_step(block, "nop", _NOWHERE, 0, other, False)
                last = step.needs[-1] if step.needs else None
                _write_step(
                    block, step.kind, step.at, step.chunks, last, step.is_needed
                )


_LOCAL = (-1, -1)
_NOWHERE = (BufferPlace("input", 0), BufferPlace("input", 0))


def _write_step(
    block: ElementTree.Element,
    kind: str,
    at: tuple[BufferPlace, BufferPlace],
    chunks: int,
    other: _Step | None,
    is_needed: bool,
) -> None:
    source, target = at
    ElementTree.SubElement(
        block,
        "step",
        s=str(len(block)),
        type=kind,
        srcbuf=_BUFFERS[source.memory],
        srcoff=str(source.offset),
        dstbuf=_BUFFERS[target.memory],
        dstoff=str(target.offset),
        cnt=str(chunks),
        depid=str(-1 if other is None else other.block),
        deps=str(-1 if other is None else other.position),
        hasdep=str(int(is_needed)),
    )


def _list_chunks(place: BufferPlace, count: int) -> list[tuple[str, int]]:
    return [(place.memory, place.offset + i) for i in range(count)]


def _find_reduced_messages(each: Round) -> dict[BufferedMessage, LocalWork]:
    """Map each message that nothing uses except one reduction to this reduction."""
    return {
        message: work
        for message in each.receives
        for work in each.after
        if work.combines
        and (message.at, message.bytes) in ((p, work.bytes) for p in work[1:3])
        and _is_only_use(each, message, work)
    }


def _is_only_use(each: Round, message: BufferedMessage, work: LocalWork) -> bool:
    """Return whether nothing but `work` uses the message or its result in the round."""
    others = [one for one in each.meanwhile + each.after if one is not work]
    written = [(one.at, one.bytes) for one in each.receives if one is not message]
    written += [(one.target, one.bytes) for one in others]
    read = [(one.at, one.bytes) for one in each.sends]
    read += [(one.source, one.bytes) for one in others]
    changed = (message.at, work.target)
    return not any(
        _has_overlap(place, work.bytes, *used)
        for places, uses in ((changed, written + read), ((work.source,), written))
        for place in places
        for used in uses
    )


def _has_overlap(
    place: BufferPlace, size: int, other: BufferPlace, other_size: int
) -> bool:
    return (
        place.memory == other.memory
        and place.offset < other.offset + other_size
        and other.offset < place.offset + size
    )
