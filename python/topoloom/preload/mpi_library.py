# SPDX-License-Identifier: BSD-3-Clause
"""Builds libtopoloom-mpi, -balance and -stream; formats machine files for them."""

from __future__ import annotations

from pathlib import Path

from topoloom._core import Error
from topoloom.allocations.allocation_file import AllocatedHosts
from topoloom.preload.shim import build_library, build_shim
from topoloom.support.resources import find_shipped_folder, require_core_library


def build_reorder_library(compiler: Path) -> Path:
    """Return libtopoloom-mpi for the MPI of `compiler`, compiled if necessary.

    The library can be linked, preloaded or loaded at run time.

    Raises `topoloom.Error` if the compiler fails, or this installation has no
    libtopoloom.
    """
    header = find_shipped_folder("core/topoloom/capi") / "topoloom.h"
    return build_shim(
        "reorder",
        compiler,
        folders=["mpi/errors", "mpi/remap", "mpi/process_map", "mpi/timing"],
        libraries=[require_core_library()],
        headers=[header],
    )


def build_balance_library(compiler: Path) -> Path:
    """Return libtopoloom-balance for the MPI of `compiler`, compiled if necessary.

    Raises `topoloom.Error` if the compiler fails, or this installation has no
    libtopoloom.
    """
    capi = find_shipped_folder("core/topoloom/capi")
    return build_library(
        "balance",
        compiler,
        folders=["mpi/errors"],
        libraries=[require_core_library()],
        headers=[capi / name for name in ("topoloom.h", "topoloom_balancers.h")],
    )


def build_stream_library(compiler: Path) -> Path:
    """Return libtopoloom-stream for the MPI of `compiler`, compiled if necessary.

    Raises `topoloom.Error` if the compiler fails.
    """
    return build_library("stream", compiler, folders=["mpi/errors"])


def format_machine_file(where: AllocatedHosts) -> str:
    """Format a machine and the hosts of an allocation for the option ``machine=FILE``.

    Raises `topoloom.Error` if the host names are unknown.
    """
    if where.hosts is None:
        raise Error(
            "host names are unknown; pass --hosts, or an --allocation with host names"
        )
    machine = where.allocation.machine
    if machine.nodes_per_host > 1:
        raise Error(
            f"reorder requires one node per host, but hosts of {machine.name} have "
            f"{machine.nodes_per_host}, its GPUs; use topoloom run"
        )
    nodes = where.allocation.nodes.tolist()
    lines = [f"node {n} {host}\n" for n, host in zip(nodes, where.hosts, strict=True)]
    return f"machine {machine.text}\n{''.join(lines)}"
