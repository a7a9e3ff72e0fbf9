# SPDX-License-Identifier: BSD-3-Clause
"""A job on a mesh, written as the trace files of each program."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topoloom.graphs.messages import Messages, concatenate, make_messages
from topoloom.graphs.mpi_collectives import expand

FLOAT = 4  # bytes


class JobStep(NamedTuple):
    """A repeated operation along axes of the mesh; sends use a single axis."""

    operation: str
    axes: tuple[int, ...]
    count: int  # elements per part
    times: int


@dataclass(frozen=True)
class MeshJob:
    """A sequence of operations on a mesh of ranks."""

    sizes: tuple[int, ...]  # size of each axis, slowest first
    steps: tuple[JobStep, ...]

    @property
    def rank_count(self) -> int:
        """Return the number of ranks."""
        return int(np.prod(self.sizes))

    def list_groups(self, axes: tuple[int, ...]) -> list[list[int]]:
        """List the ranks of each group along these axes."""
        others = [axis for axis in range(len(self.sizes)) if axis not in axes]
        array = np.arange(self.rank_count).reshape(self.sizes)
        size = int(np.prod([self.sizes[axis] for axis in axes]))
        groups: list[list[int]] = (
            array.transpose(others + sorted(axes)).reshape(-1, size).tolist()
        )
        return groups

    def list_pairs(self, step: JobStep) -> list[tuple[int, int]]:
        """List the pairs that send to the next rank of a ring along the axis."""
        return [
            (group[i], group[(i + 1) % len(group)])
            for group in self.list_groups(step.axes)
            for i in range(len(group))
        ]

    def list_calls(self, rank: int) -> Iterator[tuple[JobStep, list[int]]]:
        """Yield the operations of a rank with their groups."""
        for step in self.steps:
            if step.operation == "send":
                ends = [pair for pair in self.list_pairs(step) if rank in pair]
                with_whom = [list(pair) for pair in ends]
            else:
                with_whom = [g for g in self.list_groups(step.axes) if rank in g]
            for members in with_whom:
                for _ in range(step.times):
                    yield step, members

    def compute_messages(self) -> Messages:
        """Compute the messages of the job from the definition of each collective."""
        parts = []
        for step in self.steps:
            if step.operation == "send":
                source, target = np.array(self.list_pairs(step)).T
                parts.append(
                    make_messages(
                        source, target, step.count * FLOAT * step.times, step.times
                    )
                )
                continue
            for group in self.list_groups(step.axes):
                n = len(group)
                in_all = step.operation in ("allreduce", "reduce_scatter")
                size = step.count * FLOAT * (n if in_all else 1)
                one = expand(step.operation, n, size)
                parts.append(one.times(step.times).renumbered(group))
        return concatenate(parts).summed()


TORCH = {
    "allreduce": "all_reduce",
    "allgather": "_all_gather_base",
    "reduce_scatter": "_reduce_scatter_base",
    "alltoall": "all_to_all",
}


def count_elements(step: JobStep, rank_count: int) -> tuple[int, int]:
    """Return the numbers of input and output elements of a rank."""
    whole, part = step.count * rank_count, step.count
    return {
        "allreduce": (whole, whole),
        "allgather": (part, whole),
        "reduce_scatter": (whole, part),
        "alltoall": (whole, whole),
        "send": (part, part),
    }[step.operation]


class _GroupNames:
    """Names of groups; the whole world has the first name."""

    def __init__(self, job: MeshJob) -> None:
        self.name: dict[tuple[int, ...], str] = {tuple(range(job.rank_count)): "0"}
        for rank in range(job.rank_count):
            for _, members in job.list_calls(rank):
                self.name.setdefault(tuple(members), str(len(self.name)))

    def get_name(self, members: list[int]) -> str:
        return self.name[tuple(members)]


def write_flight_recorder(
    job: MeshJob, folder: Path, as_pickle: bool = True, is_gloo: bool = False
) -> None:
    """Write one dump per rank; dumps of gloo have only one group, without a name."""
    names = _GroupNames(job)
    for rank in range(job.rank_count):
        entries = []
        for step, members in job.list_calls(rank):
            into, out = count_elements(step, len(members))
            title = TORCH.get(step.operation)
            if title is None:
                place = sorted(members).index  # groups are sorted by rank
                source, target = map(place, members)
                sends = members[0] == rank
                title = f"{source}->{target}" if sends else f"{target}<-{source}"
                title = f"{'send' if sends else 'recv'} {title}"
            entries.append(
                {
                    "record_id": len(entries),
                    "pg_id": int(names.get_name(members)),
                    "process_group": (names.get_name(members), "desc"),
                    "profiling_name": f"nccl:{title}",
                    "input_sizes": [[into]],
                    "input_dtypes": ["Float"],
                    "output_sizes": [[out]],
                    "output_dtypes": ["Float"],
                    "state": "completed",
                    "is_p2p": step.operation == "send",
                }
            )
        config = {
            name: {"name": name, "desc": "", "ranks": str(sorted(members))}
            for members, name in names.name.items()
        }
        if is_gloo:
            last = {**[*config.values()][-1], "name": ""}
            config = {"": last}
        dump = {"version": "2.10", "pg_config": config, "entries": entries}
        file = folder / f"nccl_trace_rank_{rank}"
        file.write_bytes(pickle.dumps(dump) if as_pickle else json.dumps(dump).encode())


def write_kineto(job: MeshJob, folder: Path) -> None:
    names = _GroupNames(job)
    kinds = {**TORCH, "allreduce": "allreduce", "allgather": "_allgather_base"}
    for rank in range(job.rank_count):
        events: list[dict[str, Any]] = [{"name": "aten::mm", "args": {}}]
        for step, members in job.list_calls(rank):
            into, out = count_elements(step, len(members))
            args: dict[str, Any] = {
                "Collective name": kinds.get(step.operation, ""),
                "dtype": "Float",
                "In msg nelems": into,
                "Out msg nelems": out,
                "Group size": len(members),
                "Process Group Name": names.get_name(members),
                "Process Group Ranks": str(members),
                "In split size": "[]",
                "Out split size": "[]",
            }
            if step.operation == "send":
                sends = members[0] == rank
                args["Collective name"] = "send" if sends else "recv"
                args["Dst Rank" if sends else "Src Rank"] = members[1 if sends else 0]
            elif len(members) > 3:
                args["Process Group Ranks"] = "[0, 1, ..., 9]"
            events.append({"name": "record_param_comms", "args": args})
        about = {
            "rank": rank,
            "world_size": job.rank_count,
            "pg_config": [
                {"pg_name": name, "ranks": list(members)}
                for members, name in names.name.items()
            ],
        }
        document = {"distributedInfo": about, "traceEvents": events}
        (folder / f"trace_{rank}.json").write_text(json.dumps(document))


def write_inspector(job: MeshJob, folder: Path) -> None:
    names = _GroupNames(job)
    words = {
        "allreduce": "AllReduce",
        "allgather": "AllGather",
        "reduce_scatter": "ReduceScatter",
        "alltoall": "AlltoAll",
    }
    for rank in range(job.rank_count):
        lines = []
        numbers: dict[tuple[str, bool], int] = {}
        for step, members in job.list_calls(rank):
            name, is_send = names.get_name(members), step.operation == "send"
            number = numbers[name, is_send] = numbers.get((name, is_send), 0) + 1
            body: dict[str, Any]
            if is_send:
                sends = members[0] == rank
                body = {
                    "p2p": "Send" if sends else "Recv",
                    "p2p_sn": number,
                    "p2p_peer": 1 if sends else 0,
                    "p2p_msg_size_bytes": step.count * FLOAT,
                }
            else:
                size = len(members) if step.operation == "allreduce" else 1
                body = {
                    "coll": words[step.operation],
                    "coll_sn": number,
                    "coll_msg_size_bytes": step.count * FLOAT * size,
                }
            lines.append(
                {
                    "header": {
                        "id": f"0x{name}",
                        "rank": members.index(rank),
                        "n_ranks": len(members),
                    },
                    "metadata": {"hostname": f"h{rank // 2}", "pid": 7 + rank % 2},
                    "p2p_perf" if is_send else "coll_perf": body,
                }
            )
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"h{rank // 2}-pid{7 + rank % 2}.log").write_text(text)


def _encode_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _encode_field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return _encode_varint(number << 3) + _encode_varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _encode_varint(number << 3 | 2) + _encode_varint(len(data)) + data


def write_chakra(job: MeshJob, folder: Path) -> None:
    names = _GroupNames(job)
    kinds = {"allreduce": 0, "allgather": 2, "alltoall": 6, "reduce_scatter": 7}
    for rank in range(job.rank_count):
        messages = [_encode_field(1, "0.0.4")]
        for step, members in job.list_calls(rank):
            size = count_elements(step, len(members))[0] * FLOAT
            held: dict[str, int | str] = {"comm_size": size}
            kind = 7
            if step.operation == "send":
                kind = 5 if members[0] == rank else 6
                held |= {"comm_src": members[0], "comm_dst": members[1]}
            else:
                held |= {"comm_type": kinds[step.operation]}
                held |= {"pg_name": names.get_name(members)}
            attributes = b"".join(
                _encode_field(
                    10,
                    _encode_field(1, name)
                    + (
                        _encode_field(29, value)
                        if isinstance(value, str)
                        else _encode_field(9, value)
                    ),
                )
                for name, value in held.items()
            )
            messages.append(
                _encode_field(1, len(messages))
                + _encode_field(2, "n")
                + _encode_field(3, kind)
                + attributes
            )
        data = b"".join(_encode_varint(len(one)) + one for one in messages)
        (folder / f"job.{rank}.et").write_bytes(data)
    groups = {name: list(members) for members, name in names.name.items()}
    (folder / "comm_groups.json").write_text(json.dumps(groups))


def write_goal(job: MeshJob, folder: Path) -> None:
    sums = job.compute_messages()
    sends: dict[int, list[str]] = {rank: [] for rank in range(job.rank_count)}
    rows = zip(*(column.tolist() for column in sums), strict=True)
    for source, target, size, count in rows:
        for i in range(count):
            part = size // count + (i < size % count)
            sends[source].append(f"send {part}b to {target} tag 0")
            sends[target].append(f"recv {part}b from {source} tag 0")
    lines = [f"num_ranks {job.rank_count}"]
    for rank, one in sends.items():
        lines += [f"rank {rank} {{"]
        lines += [f"l{number}: {what}" for number, what in enumerate(one, start=1)]
        lines += ["}"]
    (folder / "job.goal").write_text("\n".join(lines) + "\n")


def _format_replica_groups(job: MeshJob, axes: tuple[int, ...], syntax: str) -> str:
    groups = job.list_groups(axes)
    if syntax == "lists":
        rows = ",".join("{" + ",".join(map(str, group)) + "}" for group in groups)
        return "{" + rows + "}"
    if syntax == "iota":
        others = [axis for axis in range(len(job.sizes)) if axis not in axes]
        order = ",".join(map(str, others + sorted(axes)))
        dims = ",".join(map(str, job.sizes))
        return f"[{len(groups)},{len(groups[0])}]<=[{dims}]T({order})"
    mesh = ",".join(f"'a{axis}'={size}" for axis, size in enumerate(job.sizes))
    along = ",".join(f"'a{axis}'" for axis in sorted(axes))
    return f"mesh[{mesh}] {{{along}}}"


def write_hlo(job: MeshJob, folder: Path, syntax: str) -> None:
    words = {
        "allreduce": "all-reduce",
        "allgather": "all-gather",
        "reduce_scatter": "reduce-scatter",
        "alltoall": "all-to-all",
    }
    lines = [
        f"HloModule jit_step, is_scheduled=true, num_partitions={job.rank_count}",
        "",
    ]
    calls = []
    for number, step in enumerate(job.steps):
        n = len(job.list_groups(step.axes)[0])
        shape = f"f32[{count_elements(step, n)[1]}]{{0}}"
        if step.operation == "send":
            pairs = ",".join(f"{{{a},{b}}}" for a, b in job.list_pairs(step))
            what = (
                f"collective-permute(%p), channel_id=1, source_target_pairs={{{pairs}}}"
            )
        else:
            groups = _format_replica_groups(job, step.axes, syntax)
            what = f"{words[step.operation]}(%p), channel_id=1, replica_groups={groups}"
            if step.operation != "alltoall":
                what += ", use_global_device_ids=true"
        lines += [
            f"%body.{number} (p: f32[4]) -> f32[4] {{",
            f"  ROOT %x = {shape} {what}",
        ]
        lines += ["}", ""]
        calls.append(
            f"  %w.{number} = f32[4]{{0}} while(%p), condition=%c, "
            f"body=%body.{number}, "
            f'backend_config={{"known_trip_count":{{"n":"{step.times}"}}}}'
        )
    lines += ["ENTRY %main (p: f32[4]) -> f32[4] {", *calls, "}"]
    (folder / "step.hlo").write_text("\n".join(lines) + "\n")
