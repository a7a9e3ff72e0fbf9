# SPDX-License-Identifier: BSD-3-Clause
"""Random machines that the probe measures in SimGrid's MPI."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from probe.compare import Outcome, RegimeErrors, compare
from probe.planted import Planted
from probe.platforms import launcher
from probe.sharing import compare_sharing
from topoloom import Error
from topoloom.tasks.machines.probe import probe_machine


def measure(
    machine: Planted, effort: str, noise: Path, kept: Path | None = None
) -> Outcome:
    """Probe a machine, and compare the findings with the planted parameters.

    Parameters
    ----------
    noise
        The library made by `platforms.build_noise`.
    kept
        Folder for the files of machines with missed findings.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words, variables = launcher(machine, folder, noise)
        began, worked = time.monotonic(), _read_cpu_seconds()
        try:
            with environment(variables):
                found = probe_machine(words, folder / "probed.toml", effort=effort)
        except Error as error:
            return Outcome.of(machine, effort, ended=str(error))
        outcome = compare(machine, found, effort)
        if not found.ended:
            compare_sharing(outcome, machine, found)
        outcome.seconds = time.monotonic() - began
        outcome.cpu_seconds = _read_cpu_seconds() - worked
        if kept is not None and not outcome.right:
            shutil.copytree(folder, kept / str(machine.seed), dirs_exist_ok=True)
    return outcome


def _read_cpu_seconds() -> float:
    """Return the CPU seconds of this process and its ended children."""
    return sum(os.times()[:4])


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables within a context."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def save(outcomes: Sequence[Outcome], file: Path) -> None:
    """Append results to a file of JSON Lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as stream:
        stream.writelines(json.dumps(asdict(outcome)) + "\n" for outcome in outcomes)


def load(file: Path) -> list[Outcome]:
    """Read saved outcomes; the last one per machine and effort counts."""
    found: dict[tuple[int, str], Outcome] = {}
    for text in file.read_text().splitlines():
        fields = json.loads(text)
        errors = [RegimeErrors(**each) for each in fields.pop("regimes")]
        outcome = Outcome(**fields, regimes=errors)
        found[outcome.seed, outcome.effort] = outcome
    return list(found.values())
