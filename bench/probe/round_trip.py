# SPDX-License-Identifier: BSD-3-Clause
"""Times and placements of programs on a machine and on its probed model.

The true time is that of SimGrid's MPI on the planted platform without noise. Two
predictions use only the probed machine's file: our simulation of the program's steps,
and SimGrid's MPI on the exported platform.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import smpi
from probe.applications import APPLICATIONS, COLLECTIVES, PATTERNS
from probe.measured import environment
from probe.true_machines import Case
from topoloom import Allocation, CommGraph, Machine, Placement, judge, place
from topoloom.machines.machine_file import load_machine_and_hosts
from topoloom.machines.machine_writers import save_machine
from topoloom.model.model_names import load_model
from topoloom.schedules import program_time
from topoloom.tasks.machines.probe import load_cost_model, probe_machine

#: Candidates per rank in the search for a placement.
_WORK = 20_000
#: Settings of a simulation in addition to the platform.
_SETTINGS = {"smpi/simulate-computation": "no", **COLLECTIVES}


@dataclass(frozen=True)
class Times:
    """Seconds of a program: true time, and two predictions on the probed machine."""

    program: str
    bytes: int
    true: float
    ours: float
    exported: float


@dataclass(frozen=True)
class PlacedPattern:
    """Hop-bytes on the true machine, placed for the probed and for the true machine."""

    pattern: str
    probed: float
    true: float


@dataclass
class RoundTrip:
    """Results of a machine's round trip."""

    name: str
    seed: int
    ranks: int
    hosts: int
    noise: float
    times: list[Times] = field(default_factory=list)
    placed: list[PlacedPattern] = field(default_factory=list)


def round_trip(
    case: Case, programs: dict[str, Path], noise: Path, folder: Path
) -> RoundTrip:
    """Probe a machine, then run programs and place patterns on the probed machine."""
    file = folder / "probed.toml"
    words, variables = case.launcher(folder, noise if case.planted.noise else None)
    with environment(variables):
        probe_machine(words, file)
    machine, hosts = load_machine_and_hosts(str(file))
    planted = case.planted
    about = (case.name, planted.seed, case.ranks, len(case.hosts), planted.noise)
    made = RoundTrip(*about)
    slots = _map_slots(machine, hosts, case.host_of)
    on_export = _export_platform(file, machine, hosts, case, folder)
    words, _ = case.launcher(folder, None)
    words += _format_options(COLLECTIVES)
    allocation = Allocation.whole(machine)
    at = Placement(allocation, slots)
    model = load_model(str(file)).model
    for app in APPLICATIONS:
        command = app.words(programs[app.name], case.ranks, folder)
        ours = program_time(app.schedules(case.ranks), allocation, at, model)
        true, exported = (_run_simulation([*of, *command]) for of in (words, on_export))
        made.times.append(Times(app.name, app.bytes, true, ours, exported))
    for name, pattern in PATTERNS.items():
        made.placed.append(
            _judge_placements(name, pattern(case.ranks), machine, hosts, case)
        )
    return made


def _format_options(settings: dict[str, str]) -> list[str]:
    return [f"--cfg={name}:{value}" for name, value in settings.items()]


def _map_slots(
    machine: Machine, hosts: Sequence[str], host_of: Sequence[str]
) -> list[int]:
    """Return the slot of each rank; ranks of a host use its slots in order."""
    node = {host: number for number, host in enumerate(hosts)}
    taken: dict[str, int] = {}
    slots = []
    for host in host_of:
        slots.append(node[host] * machine.slots_per_node + taken.get(host, 0))
        taken[host] = taken.get(host, 0) + 1
    return slots


def _export_platform(
    file: Path, machine: Machine, hosts: Sequence[str], case: Case, folder: Path
) -> list[str]:
    """Export the platform and its hosts; return the launcher."""
    platform, names = folder / "export.xml", folder / "export.hosts"
    save_machine(platform, machine, model=load_cost_model(str(file)))
    node = {host: number for number, host in enumerate(hosts)}
    names.write_text("".join(f"node-{node[h]}.topoloom\n" for h in case.host_of))
    words = [smpi.find("smpirun", "libsimgrid-dev"), "-np", str(case.ranks)]
    words += ["-platform", str(platform), "-hostfile", str(names)]
    return [*words, *_format_options(_SETTINGS), "--log=root.thresh:error"]


def _run_simulation(words: Sequence[str]) -> float:
    """Run a program; return the seconds that it prints."""
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    return float(json.loads(done.stdout)["seconds"])


def _judge_placements(
    name: str, pattern: CommGraph, probed: Machine, hosts: Sequence[str], case: Case
) -> PlacedPattern:
    found = _place_pattern(pattern, probed)
    per_node = probed.slots_per_node
    node = {host: number for number, host in enumerate(case.hosts)}
    slots = [
        node[hosts[slot // per_node]] * case.truth.slots_per_node + slot % per_node
        for slot in found
    ]
    allocation = Allocation.whole(case.truth)
    both = (
        judge(pattern, allocation, Placement(allocation, where)).hop_bytes
        for where in (slots, _place_pattern(pattern, case.truth))
    )
    return PlacedPattern(name, *both)


def _place_pattern(pattern: CommGraph, machine: Machine) -> list[int]:
    allocation = Allocation.whole(machine)
    work = _WORK * pattern.rank_count
    done = place(pattern, allocation, objective="hop-bytes", work=work)
    found: list[int] = done.placement.slots.tolist()
    return found
