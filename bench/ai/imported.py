# SPDX-License-Identifier: BSD-3-Clause
"""Imports compiled programs; compares bytes and meshes with the programs' counts."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import NamedTuple

from topoloom.graphs.traces.mesh import infer_mesh
from topoloom.graphs.traces.trace_formats import read_trace

PROGRAMS = Path(__file__).with_name("programs.py")


class ImportedProgram(NamedTuple):
    """Results of a program: mesh, bytes, whether the import agrees, CPU seconds."""

    name: str
    mesh: dict[str, int]
    operations: int
    bytes: int
    bytes_differ: list[str]
    mesh_equal: bool
    seconds: float


def import_programs(python: Path) -> Iterator[ImportedProgram]:
    """Compile the programs in a Python that has JAX, and import each program."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, PROGRAMS, folder], check=True, stderr=subprocess.PIPE)
        about = json.loads((Path(folder) / "programs.json").read_text())
        for name, options in about.items():
            path = Path(folder) / f"{name}.hlo"
            yield _import(name, path, options["mesh"], options["moves"])


def _import(
    name: str, path: Path, mesh: dict[str, int], moves: dict[str, int]
) -> ImportedProgram:
    start = process_time()
    profile = read_trace(path).profile
    found = infer_mesh(profile)
    profile.graph()
    seconds = process_time() - start
    fastest_first = list(mesh)[::-1]
    equal = list(found.mesh.values()) == [mesh[axis] for axis in fastest_first]
    moved: Counter[str] = Counter()
    if equal:
        called = dict(zip(found.mesh, fastest_first, strict=True))
        for axes, operation, bytes, calls, _ in found.operations:
            along = "+".join(called[axis] for axis in axes)
            moved[f"{along} {operation}"] += bytes * calls
    differ = [
        f"{what}: {moved[what]}, not {moves.get(what, 0)}"
        for what in sorted({*moves, *moved})
        if moved[what] != moves.get(what, 0)
    ]
    total = sum(moves.values())
    return ImportedProgram(name, mesh, len(moves), total, differ, equal, seconds)


def large_program(side: int, operations: int) -> str:
    """Write a program for side x side x side devices, with explicit lists of groups."""
    devices = side**3
    lines = [f"HloModule large, num_partitions={devices}", ""]
    lines += ["ENTRY %main (p: f32[1024]) -> f32[1024] {"]
    for number in range(operations):
        stride = side ** (number % 3)
        starts = [d for d in range(devices) if d // stride % side == 0]
        groups = ",".join(
            "{" + ",".join(str(start + stride * i) for i in range(side)) + "}"
            for start in starts
        )
        lines.append(
            f"  %a.{number} = f32[{1024 + number}]{{0}} all-reduce(%p), "
            f"channel_id={number + 1}, replica_groups={{{groups}}}, "
            "use_global_device_ids=true, to_apply=%add"
        )
    return "\n".join([*lines, "}", ""])


def import_large(side: int = 16, operations: int = 60) -> ImportedProgram:
    """Import a program for 4,096 devices."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.hlo"
        path.write_text(large_program(side, operations))
        mesh = dict.fromkeys(("z", "y", "x"), side)
        moves = {
            f"{axis} allreduce": sum(
                4 * (1024 + number) for number in range(operations) if number % 3 == at
            )
            for at, axis in enumerate(("x", "y", "z"))
        }
        return _import(f"{side**3:,} devices", path, mesh, moves)


def imported_table(rows: Sequence[ImportedProgram]) -> str:
    """Format the imported programs as Markdown."""
    lines = [
        "| program | mesh | bytes | bytes that differ | mesh equal | CPU seconds |",
        "| --- | --- | ---: | ---: | --- | ---: |",
    ]
    lines += [
        f"| {row.name} | {', '.join(f'{a}={n}' for a, n in row.mesh.items())} "
        f"| {row.bytes:,} | {len(row.bytes_differ)} "
        f"| {'yes' if row.mesh_equal else 'no'} | {row.seconds:.2f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
