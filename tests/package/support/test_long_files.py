# SPDX-License-Identifier: BSD-3-Clause
"""Readers keep their limits of time and memory for long files and large numbers.

Short texts of fuzzers hide quadratic times and large factors of memory.
"""

from __future__ import annotations

import pytest
from fuzz_targets import run_target

COUNT = 20_000
LONG = "a" * COUNT


def write_hlo(line: str, replicas: int = 1, partitions: int = 2) -> str:
    return (
        f"HloModule m, replica_count={replicas}, num_partitions={partitions}\n\n"
        f"ENTRY main {{\n{line}\n}}\n"
    )


def write_groups(groups: str) -> str:
    return write_hlo(f"  r = f32[8] all-reduce(p), replica_groups={groups}")


def write_computations(count: int, calls: int) -> str:
    """Write a chain of computations, each with calls of the next one."""
    reduce = "  a = f32[8] all-reduce(p), replica_groups={}\n"
    parts = [
        f"c{n} {{\n" + f"  r = f32[8] call(p), to_apply=c{n + 1}\n" * calls + "}\n"
        for n in range(count)
    ]
    main = "ENTRY main {\n  r = f32[8] call(p), to_apply=c0\n}\n"
    return f"HloModule m\n{''.join(parts)}c{count} {{\n{reduce}}}\n{main}"


def write_pairs(last: str) -> str:
    pairs = ",".join(f"{{{n},{n + 1}}}" for n in range(COUNT))
    attribute = f"source_target_pairs={{{pairs}{last}}}"
    return write_hlo(f"  r = f32[8] collective-permute(p), {attribute}", 1, 1 << 17)


WORLD = "".join(
    f"  r = f32[{n}] all-reduce(p), replica_groups={{}}, use_global_device_ids=true\n"
    for n in range(20)
)
PAJE = (
    "%EventDef PajeCreateContainer 1\n% Name string\n%EndEventDef\n"
    "%EventDef PajeStartLink 2\n% Key string\n% StartContainer string\n"
    "% Size int\n%EndEventDef\n"
    "%EventDef PajeEndLink 3\n% Key string\n% EndContainer string\n%EndEventDef\n"
    "1 r0\n1 r1\n"
)
#: Reader, what is long, and the text
TEXTS = [
    ("hlo", "equals", write_hlo("  r = " + "= " * COUNT)),
    ("hlo", "type", write_hlo(f"  r = (f32[8] {LONG}) all-reduce(p)")),
    (
        "hlo",
        "branches",
        write_hlo("  r = f32[] call(" + "branch_computations={" * 9000),
    ),
    ("hlo", "dimensions of iota", write_groups("[2]<=[" + "1," * COUNT + "2]")),
    ("hlo", "open mesh", write_groups(f"mesh['a'=2], device_ids=({LONG}")),
    ("hlo", "axes", write_groups(f"mesh[{'a=1,' * COUNT}b=2] {{b}}")),
    ("hlo", "pairs", write_pairs("")),
    ("hlo", "pairs, one twice", write_pairs(",{0,1}")),
    ("hlo", "chain of calls", write_computations(COUNT, 1)),
    ("hlo", "doubling calls", write_computations(500, 2)),
    ("hlo", "groups of the world", write_hlo(WORLD, 1024, 1024)),
    ("paje", "ends", PAJE + "".join(f"3 {n:x} r1\n" for n in range(200_000))),
    ("paje", "quoted word", f'{PAJE}2 "{LONG * 20}" r0 1\n'),
    ("simgrid-ti", "ranks", "".join(f"{n} init\n" for n in range(5 * COUNT))),
    ("jobs", "heading", "JOBID" * COUNT),
    ("jobs", "empty lines", "JOBID NODELIST\n" + "\n" * 2_000_000 + "1 2\n"),
    ("allocation", "host list", "n[1-499999]"),
    ("allocation", "longer host list", "n[1-3999999]"),
    ("toml", "spaces", f"x{' ' * COUNT}y"),
    ("toml", "spaces before a key", f"{' ' * COUNT}!"),
]


@pytest.mark.parametrize(
    ("name", "text"),
    [pytest.param(name, text, id=f"{name}: {what}") for name, what, text in TEXTS],
)
def test_long_files_keep_the_limits(name: str, text: str) -> None:
    run_target(name, text)
