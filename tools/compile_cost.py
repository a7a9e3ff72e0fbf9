#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Record the compile cost of every object, and compare the total with a budget.

As ``CMAKE_CXX_COMPILER_LAUNCHER`` it runs the compiler, and logs the CPU time and peak
memory of every object in ``build/compile_cost.tsv``. After every 16 objects it also
compiles a reference file, to measure the current speed of the machine.

Without arguments it prints the totals and the ten slowest files, and fails if they
exceed ``tools/compile_budget.json``. ``--update`` sets the budget to the current
totals; the commit must state the reason.
"""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOG = ROOT / "build/compile_cost.tsv"
BUDGET = ROOT / "tools/compile_budget.json"
REFERENCE = ROOT / "tools/compile_reference.cpp"
REFERENCE_EVERY = 16  # objects
#: Between machines, CPU time varies by 15 % and memory by 0.1 %, so the check fails
#: only if both grow.
MAX_GROWTH = {"cpu": 1.03, "memory": 1.03}
MAX_COMPILER_MEMORY = 512  # MiB


def run_compiler(command: list[str]) -> int:
    """Run a compiler; log the cost if the output is an object."""
    status = subprocess.run(command, check=False).returncode
    if status == 0 and "-o" in command and "-c" in command:
        _log_cost(command[command.index("-o") + 1])
        if len(LOG.read_text().splitlines()) % REFERENCE_EVERY == 1:
            _compile_reference(command[0])
    return status


def _log_cost(name: str, cpu_before: float = 0) -> None:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime - cpu_before
    LOG.parent.mkdir(exist_ok=True)
    with LOG.open("a") as log:
        log.write(f"{name}\t{seconds:.2f}\t{used.ru_maxrss / 1024:.0f}\n")


def _compile_reference(compiler: str) -> None:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "reference.o"
        words = [compiler, "-std=c++20", "-O2", "-c", REFERENCE, "-o", made]
        subprocess.run(words, check=True)
    _log_cost(REFERENCE.name, used.ru_utime + used.ru_stime)


def print_totals(update: bool) -> int:
    """Print the totals; return 1 if both CPU time and memory exceed the budget."""
    objects, references = _read_log()
    reference = statistics.median(references)
    total = sum(seconds for seconds, _ in objects.values())
    memory = sum(mebibytes for _, mebibytes in objects.values())
    found = {"cpu": round(total / reference, 1), "memory": memory}
    print(f"compiled: {len(objects)} objects in {total:.0f} s of CPU time,", end=" ")
    print(f"{found['cpu']} times tools/{REFERENCE.name} ({reference:.2f} s)")
    print("slowest objects: s, MiB")
    slowest = sorted(objects.items(), key=lambda item: item[1], reverse=True)
    for name, (seconds, mebibytes) in slowest[:10]:
        print(f"{seconds:7.1f} {mebibytes:6} {name}")
    if update:
        BUDGET.write_text(json.dumps(found, indent=2) + "\n")
        return 0
    return _check_budget(found, objects)


def _check_budget(
    found: dict[str, float], objects: dict[str, tuple[float, int]]
) -> int:
    name, (_, peak) = max(objects.items(), key=lambda item: item[1][1])
    if peak > MAX_COMPILER_MEMORY:
        print(
            f"compile_cost: {name} takes {peak} MiB to compile; "
            f"at most {MAX_COMPILER_MEMORY} MiB are allowed"
        )
        return 1
    budget = json.loads(BUDGET.read_text())
    growth = {key: found[key] / budget[key] for key in MAX_GROWTH}
    summary = ", ".join(
        f"{key} {100 * (value - 1):+.1f} %" for key, value in growth.items()
    )
    print(f"compared with the budget: {summary}")
    if all(growth[key] > limit for key, limit in MAX_GROWTH.items()):
        print(
            "compile_cost: CPU time and memory exceed tools/compile_budget.json; "
            "reduce them, or run tools/compile_cost.py --update "
            "and give the reason in the commit"
        )
        return 1
    return 0


def _read_log() -> tuple[dict[str, tuple[float, int]], list[float]]:
    """Read the last log entry of each object, and all entries of the reference file.

    Skip tests and the checks that CMake compiles at configure time.
    """
    objects, references = {}, []
    for line in LOG.read_text().splitlines():
        name, seconds, mebibytes = line.split("\t")
        if name == REFERENCE.name:
            references.append(float(seconds))
        elif "/cmTC_" not in name and not name.startswith("tests/"):
            objects[name] = float(seconds), int(mebibytes)
    return objects, references


if __name__ == "__main__":
    words = sys.argv[1:]
    if words and shutil.which(words[0]):
        raise SystemExit(run_compiler(words))
    raise SystemExit(print_totals(update="--update" in words))
