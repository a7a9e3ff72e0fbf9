# SPDX-License-Identifier: BSD-3-Clause
"""Counts what a process of PyTorch communicates; runs inside the user's own Python.

`topoloom.support.site_injection` runs a copy of it before the program begins. It imports
nothing but Python and, once the program starts a world, its PyTorch. Every call of
c10d, from Python, DDP, FSDP or compiled code, passes PyTorch's dispatcher; kernels for
BackendSelect count it there and pass it on unchanged.

Each process writes two files. NAME.calls has a line of JSON for the process, then one
for each group that a fake world makes and one for each call that differs from those
before: an event of Kineto. NAME.counts has 8 bytes for each line of a call: how often
it was called. The latter are mapped memory, so that both outlive a process that dies.
Under torchrun RANK-ATTEMPT.begun says that a start of a rank has come to Python.
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
#: calls of a process that differ; more are only known to be lost
MOST = 1 << 17

Key = tuple[Any, ...]


class Notes:
    """The two files of a process in one world."""

    def __init__(self, about: dict[str, Any]) -> None:
        name = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
        path = str(Path(os.environ[FOLDER]) / name)
        flags = os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        counts = os.open(path + ".counts", flags | os.O_RDWR, 0o644)
        try:
            os.ftruncate(counts, 8 * MOST)
            self._counts = memoryview(mmap.mmap(counts, 8 * MOST)).cast("Q")
        finally:
            os.close(counts)
        self._calls = os.open(path + ".calls", flags | os.O_WRONLY | os.O_APPEND, 0o644)
        self._slots: dict[Key, int] = {}
        self._groups: set[tuple[int, ...]] = set()
        self._lock = threading.Lock()
        self.members: dict[str, list[int]] = {}
        self._write(about)

    def count(self, key: Key, event: Callable[[], dict[str, Any]]) -> None:
        """Count a call; its line is written the first time."""
        with self._lock:
            slot = self._slots.get(key)
            if slot is None:
                slot = len(self._slots)
                if slot >= MOST - 1:
                    key, line = ("most",), {"lost": f"calls after {MOST - 1} others"}
                    slot = self._slots.get(key, MOST - 1)
                    new = key not in self._slots
                else:
                    line, new = event(), True
                self._slots[key] = slot
                if new:
                    self._write(line)
            self._counts[slot] += 1

    def group(self, ranks: Sequence[int]) -> None:
        """Note who is in a group, whether or not this process is."""
        members = tuple(ranks)
        if members not in self._groups:
            self._groups.add(members)
            self._write({"group": members})

    def _write(self, line: dict[str, Any]) -> None:
        os.write(self._calls, json.dumps(line).encode() + b"\n")


notes: Notes | None = None


def size(tensors: Any) -> int:
    """Add up the bytes of a tensor or of lists of them."""
    if isinstance(tensors, (list, tuple)):
        return sum(size(one) for one in tensors)
    return int(tensors.numel()) * int(tensors.element_size())


def _first(args: Sequence[Any]) -> Key:
    return (size(args[0]),)


def _second(args: Sequence[Any]) -> Key:
    return (size(args[1]),)


def _gathered(args: Sequence[Any]) -> Key:
    """Take the part of a rank, or all parts where they differ."""
    parts = [size(one) for one in args[0][0]]
    own = size(args[1])
    if any(part != own for part in parts):
        return (sum(parts), "allgatherv")
    return (own,)


def _exchanged(args: Sequence[Any]) -> Key:
    given, rows = args[1], args[4]
    whole = size(given)
    if not rows:
        return (whole,)
    row = whole // (sum(rows) or 1)
    return (whole, "In split size", tuple(row * one for one in rows))


def _exchanged_lists(args: Sequence[Any]) -> Key:
    parts = tuple(size(one) for one in args[1])
    return (sum(parts), "In split size", parts)


def _at(key: str, value: Callable[[Sequence[Any]], Any], index: int) -> Any:
    """Make a function that says the size and a rank: a root in its group, or a peer."""
    return lambda args: (size(value(args)), key, args[index])


#: c10d's operation -> Kineto's name, and what says its bytes
CALLS: dict[str, tuple[str, Callable[[Sequence[Any]], Key]]] = {
    "allreduce_": ("allreduce", _first),
    "allreduce_coalesced_": ("allreduce_coalesced", _first),
    "allgather_": ("all_gather", _gathered),
    "_allgather_base_": ("_allgather_base", _second),
    "allgather_coalesced_": ("all_gather", _second),
    "allgather_into_tensor_coalesced_": ("allgather_into_tensor_coalesced", _second),
    "reduce_scatter_": ("reduce_scatter", _second),
    "_reduce_scatter_base_": ("_reduce_scatter_base", _second),
    "reduce_scatter_tensor_coalesced_": ("reduce_scatter_tensor_coalesced", _second),
    "alltoall_base_": ("all_to_allv", _exchanged),
    "alltoall_": ("all_to_allv", _exchanged_lists),
    "broadcast_": ("broadcast", _at("Root rank", lambda args: args[0], 2)),
    "reduce_": ("reduce", _at("Root rank", lambda args: args[0], 3)),
    "gather_": ("gather", _at("Root rank", lambda args: args[1], 3)),
    "gather_into_tensor_": ("gather", _at("Root rank", lambda args: args[1], 3)),
    "scatter_": ("scatter", _at("Root rank", lambda args: args[0], 3)),
    "send": ("send", _at("Dst Rank", lambda args: args[0], 2)),
    "recv_": ("recv", _at("Src Rank", lambda args: args[0], 2)),
    "barrier": ("barrier", lambda _: (0,)),
    "monitored_barrier_": ("barrier", lambda _: (0,)),
}


def event(name: str, members: Sequence[int], about: Key) -> dict[str, Any]:
    """Write a call of a group as Kineto does, in bytes; peers are of the world."""
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


def note(name: str, group: Any, about: Key) -> None:
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
    notes.count((name, label, about), lambda: event(name, known, about))


def observe() -> list[Any]:
    """Add kernels to c10d's operations; returns what keeps them there."""
    import torch
    from torch.library import Library

    dispatch_key = torch._C.DispatchKey.BackendSelect
    below = torch._C._dispatch_keyset_full_after(dispatch_key)
    unbox = torch.distributed.ProcessGroup.unbox
    library = Library("c10d", "IMPL")
    for operation, (name, measure) in CALLS.items():
        packet = getattr(torch.ops.c10d, operation, None)
        if packet is None:  # newer, or older, than this PyTorch
            continue
        schema = [one.name for one in packet.default._schema.arguments]
        kernel = _kernel(name, measure, packet.default.redispatch, schema, below, unbox)
        library.impl(operation, kernel, "BackendSelect", with_keyset=True)
    return [library]


@functools.cache
def returned() -> Any:
    """Compile a function that returns a list of tensors as C++ knows it."""
    import torch

    source = "def returned(x: List[Tensor]) -> List[Tensor]:\n    return x\n"
    return torch.jit.CompilationUnit(source).returned


def finished(tensors: Any) -> tuple[Any, Any]:
    """End an all-reduce of a fake world with its tensors, where DDP finds gradients.

    The work of PyTorch's backend ``fake`` has None in its future. One that Python makes
    holds any object, where DDP's hooks in C++ want a list of tensors.
    """
    import torch

    future = torch._C.fork(returned(), tensors)
    future.wait()
    work = torch._C._distributed_c10d._create_work_from_future(future)
    return tensors, work.boxed()


def _kernel(
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
        note(name, unbox(args[place]), measure(args))
        is_fake = name == "allreduce" and WORLD in os.environ
        return finished(args[0]) if is_fake else result

    return kernel


_kept: list[Any] = []


def begin(rank: int, world: int) -> None:
    """Start to count: the program has started a world."""
    global notes
    import torch

    about = {"rank": rank, "world": world, "torch": str(torch.__version__)}
    about |= {"began": time.time(), "parent": os.getppid()}
    about["attempt"] = os.environ.get("TORCHELASTIC_RESTART_COUNT")
    try:
        if not _kept:
            _kept.extend(observe())
    except (AttributeError, TypeError, RuntimeError, ImportError) as error:
        about["refused"] = f"{type(error).__name__}: {error}"
    try:
        notes = Notes(about)
    except OSError as error:
        print(f"topoloom: cannot record rank {rank}: {error}", file=sys.stderr)
    if notes is not None and WORLD in os.environ:
        notes.group(range(world))


def wrap(module: Any) -> None:
    """Wrap what starts worlds and groups."""
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
        begin(module.get_rank(), module.get_world_size())
        return result

    @functools.wraps(new)
    def new_group(*args: Any, **others: Any) -> Any:
        if fake is None:
            return new(*args, **others)
        given = inspect.signature(new).bind(*args, **others).arguments
        if given.get("ranks") is not None and notes is not None:
            ranks = [int(rank) for rank in given["ranks"]]
            notes.group(sorted(ranks) if given.get("sort_ranks", True) else ranks)
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
            notes.members.clear()  # names are used again
        return result

    module.init_process_group = init_process_group
    module.new_group = new_group
    module.destroy_process_group = destroy_process_group
    if fake is not None and hasattr(module, "split_group"):
        module.split_group = split_group


class Finder:
    """Finds PyTorch's module of groups, and wraps it once it is loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Leave all other modules to those that find them."""
        if name != MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                wrap(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def forget() -> None:
    """Leave the notes of a parent alone: a forked process has a world of its own."""
    global notes
    notes = None


def note_attempt() -> None:
    """Note that torchrun has started a rank, whether or not it starts a world."""
    names = "RANK", "TORCHELASTIC_RESTART_COUNT"
    rank, attempt = (os.environ.get(name, "") for name in names)
    if rank and attempt:
        Path(os.environ[FOLDER], f"{rank}-{attempt}.begun").touch()


if __name__ == "topoloom_injected" and FOLDER in os.environ:
    sys.meta_path.insert(0, Finder())
    os.register_at_fork(after_in_child=forget)
    with contextlib.suppress(OSError):  # said once the program starts a world
        note_attempt()
