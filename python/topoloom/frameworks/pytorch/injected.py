# SPDX-License-Identifier: BSD-3-Clause
"""Counts the communication calls of a PyTorch process, in the user's Python.

`topoloom.support.site_injection` runs a copy of this file before the program starts.
The copy imports only the standard library and, when the program calls
``init_process_group``, the program's PyTorch. All calls of c10d, from Python, DDP, FSDP
or compiled code, pass through PyTorch's dispatcher, where kernels for BackendSelect
count and forward them.

Each process writes two files. NAME.calls has one JSON line for the process, one per
group of a fake world, and one Kineto event per distinct call. NAME.counts has an 8-byte
count per distinct call, in mapped memory, so both files survive a crash. Under
torchrun, RANK-ATTEMPT.begun marks that an attempt of a rank has reached Python.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.machinery
import inspect
import json
import mmap
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

FOLDER = "TOPOLOOM_TORCH_RECORD"
WORLD = "TOPOLOOM_TORCH_WORLD"
MODULE = "torch.distributed.distributed_c10d"
#: limit on distinct calls per process; calls beyond it are counted as lost
MAX_CALLS = 1 << 17

Key = tuple[Any, ...]


class Notes:
    """The two output files of a process for one world."""

    def __init__(self, about: dict[str, Any]) -> None:
        name = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
        path = str(Path(os.environ[FOLDER]) / name)
        flags = os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        counts = os.open(path + ".counts", flags | os.O_RDWR, 0o644)
        try:
            os.ftruncate(counts, 8 * MAX_CALLS)
            self._counts = memoryview(mmap.mmap(counts, 8 * MAX_CALLS)).cast("Q")
        finally:
            os.close(counts)
        self._calls = os.open(path + ".calls", flags | os.O_WRONLY | os.O_APPEND, 0o644)
        self._slots: dict[Key, int] = {}
        self._groups: set[tuple[int, ...]] = set()
        self._lock = threading.Lock()
        self.members: dict[str, list[int]] = {}
        self._write_line(about)

    def count(self, key: Key, event: Callable[[], dict[str, Any]]) -> None:
        """Count a call; write its event if this is the first such call."""
        with self._lock:
            slot = self._slots.get(key)
            if slot is None:
                slot = len(self._slots)
                if slot >= MAX_CALLS - 1:
                    key, line = (
                        ("most",),
                        {"lost": f"calls after {MAX_CALLS - 1} others"},
                    )
                    slot = self._slots.get(key, MAX_CALLS - 1)
                    new = key not in self._slots
                else:
                    line, new = event(), True
                self._slots[key] = slot
                if new:
                    self._write_line(line)
            self._counts[slot] += 1

    def add_group(self, ranks: Sequence[int]) -> None:
        """Write the members of a group, even if this process is not a member."""
        members = tuple(ranks)
        if members not in self._groups:
            self._groups.add(members)
            self._write_line({"group": members})

    def _write_line(self, line: dict[str, Any]) -> None:
        os.write(self._calls, json.dumps(line).encode() + b"\n")


notes: Notes | None = None


def count_bytes(tensors: Any) -> int:
    """Sum the bytes of a tensor or of nested lists of tensors."""
    if isinstance(tensors, (list, tuple)):
        return sum(count_bytes(one) for one in tensors)
    return int(tensors.numel()) * int(tensors.element_size())


def _measure_first_tensors(args: Sequence[Any]) -> Key:
    return (count_bytes(args[0]),)


def _measure_second_tensors(args: Sequence[Any]) -> Key:
    return (count_bytes(args[1]),)


def _measure_gather(args: Sequence[Any]) -> Key:
    """Return the bytes of one rank's part, or the total bytes if parts differ."""
    parts = [count_bytes(one) for one in args[0][0]]
    own = count_bytes(args[1])
    if any(part != own for part in parts):
        return (sum(parts), "allgatherv")
    return (own,)


def _measure_alltoall(args: Sequence[Any]) -> Key:
    given, rows = args[1], args[4]
    whole = count_bytes(given)
    if not rows:
        return (whole,)
    row = whole // (sum(rows) or 1)
    return (whole, "In split size", tuple(row * one for one in rows))


def _measure_list_alltoall(args: Sequence[Any]) -> Key:
    parts = tuple(count_bytes(one) for one in args[1])
    return (sum(parts), "In split size", parts)


def _make_rank_measure(
    key: str, value: Callable[[Sequence[Any]], Any], index: int
) -> Any:
    """Make a function that returns a call's bytes, and its root or peer."""
    return lambda args: (count_bytes(value(args)), key, args[index])


#: c10d operation -> Kineto name, and a function that finds the bytes in the arguments
CALLS: dict[str, tuple[str, Callable[[Sequence[Any]], Key]]] = {
    "allreduce_": ("allreduce", _measure_first_tensors),
    "allreduce_coalesced_": ("allreduce_coalesced", _measure_first_tensors),
    "allgather_": ("all_gather", _measure_gather),
    "_allgather_base_": ("_allgather_base", _measure_second_tensors),
    "allgather_coalesced_": ("all_gather", _measure_second_tensors),
    "allgather_into_tensor_coalesced_": (
        "allgather_into_tensor_coalesced",
        _measure_second_tensors,
    ),
    "reduce_scatter_": ("reduce_scatter", _measure_second_tensors),
    "_reduce_scatter_base_": ("_reduce_scatter_base", _measure_second_tensors),
    "reduce_scatter_tensor_coalesced_": (
        "reduce_scatter_tensor_coalesced",
        _measure_second_tensors,
    ),
    "alltoall_base_": ("all_to_allv", _measure_alltoall),
    "alltoall_": ("all_to_allv", _measure_list_alltoall),
    "broadcast_": (
        "broadcast",
        _make_rank_measure("Root rank", lambda args: args[0], 2),
    ),
    "reduce_": ("reduce", _make_rank_measure("Root rank", lambda args: args[0], 3)),
    "gather_": ("gather", _make_rank_measure("Root rank", lambda args: args[1], 3)),
    "gather_into_tensor_": (
        "gather",
        _make_rank_measure("Root rank", lambda args: args[1], 3),
    ),
    "scatter_": ("scatter", _make_rank_measure("Root rank", lambda args: args[0], 3)),
    "send": ("send", _make_rank_measure("Dst Rank", lambda args: args[0], 2)),
    "recv_": ("recv", _make_rank_measure("Src Rank", lambda args: args[0], 2)),
    "barrier": ("barrier", lambda _: (0,)),
    "monitored_barrier_": ("barrier", lambda _: (0,)),
}


def make_event(name: str, members: Sequence[int], about: Key) -> dict[str, Any]:
    """Make the Kineto event of a call; sizes are in bytes, peers are world ranks."""
    args: dict[str, Any] = {"Collective name": name, "dtype": "Byte"}
    args["In msg nelems"] = about[0]
    args["Group size"], args["Process Group Ranks"] = len(members), list(members)
    if len(about) == 2:
        args["Collective name"] = about[1]
    elif len(about) == 3:
        key, value = about[1:]
        is_peer = key in ("Dst Rank", "Src Rank")
        args[key] = members[value] if is_peer else value
    return {"name": "record_param_comms", "args": args}


def count_call(name: str, group: Any, about: Key) -> None:
    """Count a call of a process group."""
    if notes is None:
        return
    label = group.group_name
    members = notes.members.get(label)
    if members is None:
        try:
            members = sys.modules[MODULE].get_process_group_ranks(group)
        except (KeyError, RuntimeError):
            what = {"lost": f"calls of {name} in a group without a list of its ranks"}
            notes.count(("lost", name), lambda: what)
            return
        notes.members[label] = members
    known = members
    notes.count((name, label, about), lambda: make_event(name, known, about))


def register_kernels() -> list[Any]:
    """Register kernels that count c10d's operations; return the registrations."""
    import torch
    from torch.library import Library

    dispatch_key = torch._C.DispatchKey.BackendSelect
    below = torch._C._dispatch_keyset_full_after(dispatch_key)
    unbox = torch.distributed.ProcessGroup.unbox
    library = Library("c10d", "IMPL")
    for operation, (name, measure) in CALLS.items():
        packet = getattr(torch.ops.c10d, operation, None)
        if packet is None:  # This release of PyTorch lacks the operation.
            continue
        schema = [one.name for one in packet.default._schema.arguments]
        kernel = _make_counting_kernel(
            name, measure, packet.default.redispatch, schema, below, unbox
        )
        library.impl(operation, kernel, "BackendSelect", with_keyset=True)
    return [library]


@functools.cache
def compile_identity() -> Any:
    """Compile an identity function that returns a C++ list of tensors."""
    import torch

    source = "def returned(x: List[Tensor]) -> List[Tensor]:\n    return x\n"
    return torch.jit.CompilationUnit(source).returned


def complete_allreduce(tensors: Any) -> tuple[Any, Any]:
    """Return a fake world's allreduce as work with a future that DDP can read.

    In PyTorch's backend ``fake``, the future of the work contains None, but DDP's C++
    hooks require a list of tensors. A future made in Python contains a Python object
    instead.
    """
    import torch

    future = torch._C.fork(compile_identity(), tensors)
    future.wait()
    work = torch._C._distributed_c10d._create_work_from_future(future)
    return tensors, work.boxed()


def _make_counting_kernel(
    name: str,
    measure: Callable[[Sequence[Any]], Key],
    redispatch: Callable[..., Any],
    schema: Sequence[str],
    below: Any,
    unbox: Callable[[Any], Any],
) -> Callable[..., Any]:
    place = schema.index("process_group")

    def kernel(keyset: Any, *args: Any) -> Any:
        result = redispatch(keyset & below, *args)
        count_call(name, unbox(args[place]), measure(args))
        is_fake = name == "allreduce" and WORLD in os.environ
        return complete_allreduce(args[0]) if is_fake else result

    return kernel


_registrations: list[Any] = []


def start_counting(rank: int, world: int) -> None:
    """Start counting after ``init_process_group``."""
    global notes
    import torch

    about = {"rank": rank, "world": world, "torch": str(torch.__version__)}
    about |= {"began": time.time(), "parent": os.getppid()}
    about["attempt"] = os.environ.get("TORCHELASTIC_RESTART_COUNT")
    try:
        if not _registrations:
            _registrations.extend(register_kernels())
    except (AttributeError, TypeError, RuntimeError, ImportError) as error:
        about["refused"] = f"{type(error).__name__}: {error}"
    try:
        notes = Notes(about)
    except OSError as error:
        print(f"topoloom: cannot record rank {rank}: {error}", file=sys.stderr)
    if notes is not None and WORLD in os.environ:
        notes.add_group(range(world))


def wrap_group_functions(module: Any) -> None:
    """Wrap the functions that create the world and process groups."""
    fake = (
        tuple(map(int, os.environ.get(WORLD, "").split("/")))
        if (WORLD in os.environ)
        else None
    )
    init, new, destroy = (
        getattr(module, name)
        for name in ("init_process_group", "new_group", "destroy_process_group")
    )

    @functools.wraps(init)
    def init_process_group(*args: Any, **others: Any) -> Any:
        if fake is None:
            result = init(*args, **others)
        else:
            from torch.testing._internal.distributed.fake_pg import FakeStore

            rank, world = fake
            result = init("fake", rank=rank, world_size=world, store=FakeStore())
        start_counting(module.get_rank(), module.get_world_size())
        return result

    @functools.wraps(new)
    def new_group(*args: Any, **others: Any) -> Any:
        if fake is None:
            return new(*args, **others)
        given = inspect.signature(new).bind(*args, **others).arguments
        if given.get("ranks") is not None and notes is not None:
            ranks = [int(rank) for rank in given["ranks"]]
            notes.add_group(sorted(ranks) if given.get("sort_ranks", True) else ranks)
        for name in ("backend", "pg_options", "device_id"):
            given.pop(name, None)
        return new(**given)

    def split_group(
        parent_pg: Any = None, split_ranks: Any = None, *_: Any, **__: Any
    ) -> Any:
        own = None
        for ranks in split_ranks:
            group = new_group(ranks)
            own = group if fake and fake[0] in ranks else own
        return own

    @functools.wraps(destroy)
    def destroy_process_group(group: Any = None) -> Any:
        result = destroy(group)
        if notes is not None:
            notes.members.clear()  # PyTorch reuses group names.
        return result

    module.init_process_group = init_process_group
    module.new_group = new_group
    module.destroy_process_group = destroy_process_group
    if fake is not None and hasattr(module, "split_group"):
        module.split_group = split_group


class ImportHook:
    """Import hook that wraps the functions of ``distributed_c10d``."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Find only ``distributed_c10d``; return None for all other modules."""
        if name != MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                wrap_group_functions(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def discard_parent_notes() -> None:
    """Discard the parent's notes, because a forked process has its own world."""
    global notes
    notes = None


def record_attempt() -> None:
    """Record that torchrun has started a rank, even if the rank starts no world."""
    names = "RANK", "TORCHELASTIC_RESTART_COUNT"
    rank, attempt = (os.environ.get(name, "") for name in names)
    if rank and attempt:
        Path(os.environ[FOLDER], f"{rank}-{attempt}.begun").touch()


if __name__ == "topoloom_injected" and FOLDER in os.environ:
    sys.meta_path.insert(0, ImportHook())
    os.register_at_fork(after_in_child=discard_parent_notes)
    with contextlib.suppress(OSError):  # `start_counting` reports it.
        record_attempt()
