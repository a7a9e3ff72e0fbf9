#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What compiling costs: a compiler launcher that takes notes, and a report on them.

As ``CMAKE_CXX_COMPILER_LAUNCHER`` it runs the compiler and notes CPU time and peak
memory of every object in ``build/compile_cost.tsv``, and now and then those of a
reference file, which tell how fast the machine is just then. Without arguments it
prints the sums, the ten slowest files, and fails where they exceed the budget in
``tools/compile_budget.json``. ``--update`` writes the budget anew: the commit that does
so says why.
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
NOTES = ROOT / "build/compile_cost.tsv"
BUDGET = ROOT / "tools/compile_budget.json"
REFERENCE = ROOT / "tools/compile_reference.cpp"
REFERENCE_EVERY = 16  # objects
#: Times scatter, memory does not: growth is what shows in both.
MOST_GROWTH = {"cpu": 1.03, "memory": 1.005}
MOST_MEMORY = 512  # MiB of one compiler


def launch(command: list[str]) -> int:
    """Run a compiler; take notes if it made an object."""
    status = subprocess.run(command, check=False).returncode
    if status == 0 and "-o" in command and "-c" in command:
        made = command[command.index("-o") + 1]
        _note(made)
        if len(NOTES.read_text().splitlines()) % REFERENCE_EVERY == 1:
            _compile_reference(command[0])
    return status


def _note(what: str, spent_before: float = 0) -> None:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime - spent_before
    NOTES.parent.mkdir(exist_ok=True)
    with NOTES.open("a") as notes:
        notes.write(f"{what}\t{seconds:.2f}\t{used.ru_maxrss / 1024:.0f}\n")


def _compile_reference(compiler: str) -> None:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "reference.o"
        words = [compiler, "-std=c++20", "-O2", "-c", REFERENCE, "-o", made]
        subprocess.run(words, check=True)
    _note(REFERENCE.name, used.ru_utime + used.ru_stime)


def report(update: bool) -> int:
    """Print what the notes say; return 1 where they exceed the budget."""
    objects, references = _read()
    reference = statistics.median(references)
    total = sum(seconds for seconds, _ in objects.values())
    memory = sum(mebibytes for _, mebibytes in objects.values())
    found = {"cpu": round(total / reference, 1), "memory": memory}
    print(f"compiled: {len(objects)} objects in {total:.0f} s of CPU time,", end=" ")
    print(f"{found['cpu']} times tools/{REFERENCE.name} ({reference:.2f} s)")
    print("the slowest: s, MiB")
    slowest = sorted(objects.items(), key=lambda item: item[1], reverse=True)
    for name, (seconds, mebibytes) in slowest[:10]:
        print(f"{seconds:7.1f} {mebibytes:6} {name}")
    if update:
        BUDGET.write_text(json.dumps(found, indent=2) + "\n")
        return 0
    return _judge(found, objects)


def _judge(found: dict[str, float], objects: dict[str, tuple[float, int]]) -> int:
    name, (_, peak) = max(objects.items(), key=lambda item: item[1][1])
    if peak > MOST_MEMORY:
        print(f"compile_cost: {name} takes {peak} MiB; {MOST_MEMORY} are allowed")
        return 1
    budget = json.loads(BUDGET.read_text())
    growth = {key: found[key] / budget[key] for key in MOST_GROWTH}
    said = ", ".join(
        f"{key} {100 * (value - 1):+.1f} %" for key, value in growth.items()
    )
    print(f"beside the budget: {said}")
    if all(growth[key] > most for key, most in MOST_GROWTH.items()):
        print(
            "compile_cost: compiling takes more than tools/compile_budget.json allows; "
            "make it less, or run tools/compile_cost.py --update and say why"
        )
        return 1
    return 0


def _read() -> tuple[dict[str, tuple[float, int]], list[float]]:
    """Read the last note on each object of the package, and all on the reference.

    What CMake tries while it configures is none of them.
    """
    objects, references = {}, []
    for line in NOTES.read_text().splitlines():
        name, seconds, mebibytes = line.split("\t")
        if name == REFERENCE.name:
            references.append(float(seconds))
        elif "/cmTC_" not in name and not name.startswith("tests/"):
            objects[name] = float(seconds), int(mebibytes)
    return objects, references


if __name__ == "__main__":
    words = sys.argv[1:]
    if words and shutil.which(words[0]):
        raise SystemExit(launch(words))
    raise SystemExit(report(update="--update" in words))
