# SPDX-License-Identifier: BSD-3-Clause
"""Collectives in SimGrid's MPI: our choices compared with those of MPI libraries."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import smpi
from collectives.platforms import PLACEMENTS, PlacedJob, place_job
from topoloom.model.model_names import load_model
from topoloom.schedules.choose import Call, rank_schedules

#: Selectors of SMPI for Open MPI, MPICH, Intel MPI and MVAPICH2.
SELECTORS = ("ompi", "mpich", "impi", "mvapich2")
AUTO = "auto"
OPERATIONS = ("alltoall", "allgather", "allreduce")
SIZES = (8, 64, 512, 4096, 32768)


@dataclass(frozen=True)
class Effort:
    """Limits that keep simulations within minutes, by number of ranks.

    Attributes
    ----------
    most
        Maximum bytes of alltoalls and allgathers.
    slower
        Maximum predicted time of a simulated schedule relative to the best one.
    schedules
        Maximum number of simulated schedules.
    """

    most: int
    slower: float
    schedules: int


RANKS = {
    64: Effort(32768, 4.0, 100),
    200: Effort(4096, 1.3, 4),
    256: Effort(4096, 1.3, 4),
    1024: Effort(128, 1.3, 2),
}


@dataclass(frozen=True)
class Cell:
    """A simulated collective.

    Attributes
    ----------
    by
        One of the selectors, "auto" for our choice, or one of our schedules.
    predicted
        Predicted seconds of the schedule; 0 for choices.
    """

    platform: str
    placement: str
    ranks: int
    operation: str
    bytes: int
    by: str
    seconds: float
    predicted: float = 0.0


#: Platform, placement and number of ranks.
Job = tuple[str, str, int]


def jobs(platforms: Sequence[str], ranks: Sequence[int]) -> Iterator[Job]:
    """List platforms, placements and ranks; flat platforms need one placement."""
    for number in ranks:
        for platform in platforms:
            for placement in PLACEMENTS[: 1 if platform == "flat" else None]:
                yield platform, placement, number


#: Selector, operation and bytes of a call.
Done = set[tuple[str, str, int]]


def simulate_job(
    program: Path, job: Job, done: Done, operation: str = "", size: int = 0
) -> Iterator[list[Cell]]:
    """Simulate calls of a job by each selector, and by schedules.

    Yields the calls of each size by each selector, then our calls, except those in
    `done`. `operation` and `size` select calls.
    """
    left: dict[tuple[int, str], list[Call]] = defaultdict(list)
    for call in _list_calls(job[2]):
        if operation in ("", call.operation) and size in (0, call.bytes):
            for by in (*SELECTORS, AUTO):
                if (by, call.operation, call.bytes) not in done:
                    left[call.bytes, by].append(call)
    if not left:
        return
    placed = place_job(*job, program.parent)
    for (_, by), calls in sorted(left.items(), key=_get_simulation_order):
        if by == AUTO:
            yield _simulate_ours(program, job, placed, calls)
            continue
        # Create communicators first, because some libraries do so in their first calls.
        names = dict.fromkeys(call.operation for call in calls)
        first = [Call(name, job[2], SIZES[0]) for name in names]
        cases = [(call, "mpi") for call in (*first, *calls)]
        found = list(run_cases(program, placed, {"smpi/coll-selector": by}, cases))
        yield [_make_cell(job, call, by, took) for call, took in found[len(first) :]]


def _get_simulation_order(left: tuple[tuple[int, str], list[Call]]) -> tuple[int, int]:
    size, by = left[0]
    return size, (*SELECTORS, AUTO).index(by)


def _simulate_ours(
    program: Path, job: Job, placed: PlacedJob, calls: Sequence[Call]
) -> list[Cell]:
    """Simulate our choice and our schedules in one run."""
    candidates = {call: _rank_candidates(call, placed) for call in calls}
    names = {name for found in candidates.values() for name, _ in found}
    machine = f"machine={placed.machine}"
    ours = [(call, machine) for call in calls]
    by = [AUTO] * len(calls)
    predicted = [0.0] * len(calls)
    for name in sorted(names):
        for call, found in candidates.items():
            if name in dict(found):
                ours.append((call, f"{machine},schedule={name}"))
                by.append(name)
                predicted.append(dict(found)[name])
    done = run_cases(program, placed, smpi.QUICK, ours)
    return [
        _make_cell(job, call, who, seconds, expected)
        for (call, seconds), who, expected in zip(done, by, predicted, strict=True)
    ]


def _list_calls(ranks: int) -> Iterator[Call]:
    for operation in OPERATIONS:
        for size in SIZES:
            if operation == "allreduce" or size <= RANKS[ranks].most:
                yield Call(operation, ranks, size)


def _rank_candidates(call: Call, placed: PlacedJob) -> list[tuple[str, float]]:
    """List the fastest schedules with their predicted seconds."""
    effort, model = RANKS[call.ranks], load_model("simgrid").model
    ranked = rank_schedules(call, model, placed.slots)
    limit = effort.slower * ranked[0].cost.time
    fast = [(one.name, one.cost.time) for one in ranked if one.cost.time <= limit]
    return fast[: effort.schedules]


def _make_cell(
    where: Job,
    call: Call,
    by: str,
    seconds: float,
    predicted: float = 0.0,
) -> Cell:
    return Cell(*where, call.operation, call.bytes, by, seconds, predicted)


def run_cases(
    program: Path,
    placed: PlacedJob,
    settings: dict[str, str],
    cases: Sequence[tuple[Call, str]],
    form: str = "blocking",
) -> Iterator[tuple[Call, float]]:
    """Simulate calls, each with a setting of libtopoloom-collective or by MPI."""
    file = program.with_suffix(".cases")
    lines = [f"{form} {call.operation} {call.bytes} {name}\n" for call, name in cases]
    file.write_text("".join(lines))
    read = smpi.simulate(
        placed.platform, placed.hosts, smpi.SETTINGS | settings, program, 1, file
    )
    for (call, name), one in zip(cases, read, strict=True):
        read_back = (one["operation"], one["bytes"], one["setting"])
        assert read_back == (call.operation, call.bytes, name)
        yield call, float(one["seconds"][0])


@dataclass(frozen=True)
class Overlap:
    """A non-blocking alltoall during computation.

    Attributes
    ----------
    schedule
        "auto" for our choice.
    blocking
        Seconds of the blocking call.
    left
        Seconds added to the time of the computation.
    """

    platform: str
    ranks: int
    bytes: int
    schedule: str
    blocking: float
    left: float

    @property
    def hidden(self) -> float:
        """The share of the blocking time that is hidden."""
        return 1 - self.left / self.blocking


def overlap(
    program: Path, platform: str, ranks: int, bytes: int, schedule: str
) -> Overlap:
    """Simulate overlap; an unsuccessful test of a request takes 10 ns."""
    placed = place_job(platform, "block", ranks, program.parent)
    setting = f"machine={placed.machine}"
    if schedule != AUTO:
        setting += f",schedule={schedule}"
    case = [(Call("alltoall", ranks, bytes), setting)]
    settings = smpi.QUICK | {"smpi/test": "1e-8"}
    seconds = {
        form: next(run_cases(program, placed, settings, case, form))[1]
        for form in ("blocking", "overlapped")
    }
    what = (platform, ranks, bytes, schedule)
    return Overlap(*what, seconds["blocking"], seconds["overlapped"])


def save(cells: Sequence[Cell], file: Path) -> None:
    """Append results to a file of JSON Lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as stream:
        stream.writelines(json.dumps(asdict(cell)) + "\n" for cell in cells)


def load(file: Path) -> list[Cell]:
    """Read saved results."""
    if not file.exists():
        return []
    return [Cell(**json.loads(line)) for line in file.read_text().splitlines()]
