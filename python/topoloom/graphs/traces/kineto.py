# SPDX-License-Identifier: BSD-3-Clause
"""Reads Kineto traces of PyTorch's profiler: `record_param_comms` of every rank.

NCCL and similar backends record these events; gloo records only the names of calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.graphs.traces.pytorch_names import element_bytes, translate_operation
from topoloom.graphs.traces.trace import Trace
from topoloom.graphs.traces.trace_files import (
    parse_json,
    parse_ranks,
    read_rank_files,
)
from topoloom.support.files import prefix_errors


def read_kineto(files: Sequence[Path]) -> Trace:
    """Read the traces of a job, one file per rank."""
    runs, losses = read_rank_files(files, _load_rank)
    sizes = (_read_job_info(run).get("world_size", 0) for _, run in runs.values())
    trace = Trace(max(1 + max(runs), *map(int, sizes)))
    trace.losses += losses
    for rank, (file, run) in sorted(runs.items()):
        trace.seen.add(rank)
        config = _read_job_info(run).get("pg_config") or []
        groups = {
            str(one["pg_name"]): ranks
            for one in config
            if "pg_name" in one and (ranks := parse_ranks(one.get("ranks")))
        }
        with prefix_errors(file):
            read_events(trace, rank, run["traceEvents"], groups)
            _find_unsized(trace, run["traceEvents"])
    trace.add_missing_ranks()
    return trace


def _load_rank(data: bytes) -> tuple[dict[str, Any], Any]:
    run = parse_json(data)
    if not isinstance(run, dict) or not isinstance(run.get("traceEvents"), list):
        raise Error("is not a trace of Kineto: it has no 'traceEvents'")
    return run, _read_job_info(run).get("rank")


def _read_job_info(run: dict[str, Any]) -> dict[str, Any]:
    return run.get("distributedInfo") or {}


def read_events(
    trace: Trace, rank: int, events: list[dict[str, Any]], groups: dict[str, list[int]]
) -> None:
    """Read the calls of a rank; an event of Topoloom's recorder has a call count."""
    for event in events:
        if event.get("name") == "record_param_comms":
            _read_event(trace, rank, event.get("args") or {}, groups)


def _find_unsized(trace: Trace, events: list[dict[str, Any]]) -> None:
    """Add calls of backends that record only names, such as gloo, to the losses."""
    names = [str(event.get("name", "")) for event in events]
    called = any(name.startswith("c10d::") for name in names)
    if called and "record_param_comms" not in names:
        trace.add_loss(
            "collectives have neither sizes nor groups, since gloo does not record "
            "them for Kineto; import dumps of the flight recorder"
        )


def _read_event(
    trace: Trace, rank: int, args: dict[str, Any], groups: dict[str, list[int]]
) -> None:
    name = str(args.get("Collective name", ""))
    amount = int(args.get("In msg nelems", 0))
    calls = int(args.get("Calls", 1))
    if name in ("send", "recv"):
        if name == "send":
            size = amount * element_bytes(str(args.get("dtype")))
            peer = args.get("Dst Rank")
            if peer is None:
                trace.add_loss("a send does not say to which rank")
            else:
                trace.send(rank, int(peer), size, calls)
        return
    operation = translate_operation(name)
    if operation is None:
        if amount and name != "wait":
            trace.add_loss(f"'{name}' is not a collective that is known")
        return
    members = _find_members(args, groups)
    if members is None:
        trace.add_loss(
            f"rank {rank} does not say who is in group '{_find_group(args)}'"
        )
        return
    size = 0
    if operation != "barrier":
        size = amount * element_bytes(str(args.get("dtype")))
    if operation == "alltoall":
        _read_alltoall(trace, rank, members, size, args, calls)
        return
    root = args.get("Root rank", args.get("Rank")) if operation != "barrier" else None
    place = _find_root(root, members)
    trace.add_member_calls(rank, operation, members, size, place, calls)


def _read_alltoall(
    trace: Trace,
    rank: int,
    members: list[int],
    size: int,
    args: dict[str, Any],
    calls: int,
) -> None:
    text = args.get("In split size", "[]")
    if text in ("[]", "", []):
        trace.add_even_exchange(rank, members, size, calls)
        return
    parts = parse_ranks(text)
    if parts is None or len(parts) != len(members) or (size and not any(parts)):
        trace.add_loss("an alltoall has truncated split sizes")
        return
    rows = sum(parts)
    trace.add_exchange(
        rank, members, [size * one // (rows or 1) for one in parts], calls
    )


def _find_root(root: Any, members: list[int]) -> int | None:
    """Return the index of the root in the group."""
    if root is None or not 0 <= int(root) < len(members):
        return None
    return int(root)


def _find_group(args: dict[str, Any]) -> str:
    return str(args.get("Process Group Name", ""))


def _find_members(
    args: dict[str, Any], groups: dict[str, list[int]]
) -> list[int] | None:
    """Find the members of a group; the list in an event may be truncated."""
    size = int(args.get("Group size", 0))
    start, stride = args.get("Global rank start"), args.get("Global rank stride")
    for ranks in (
        parse_ranks(args.get("Process Group Ranks")),
        groups.get(_find_group(args)),
    ):
        if ranks is not None and len(ranks) == size:
            return ranks
    if start is not None and stride is not None and int(stride) > 0 and size:
        return [int(start) + int(stride) * place for place in range(size)]
    return None
