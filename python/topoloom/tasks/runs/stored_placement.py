# SPDX-License-Identifier: BSD-3-Clause
"""Places a job by a stored recording; an equal job takes the stored placement."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from topoloom._core import Error
from topoloom.placements.placement_file import load_placement, save_placement
from topoloom.store.run_store import make_key
from topoloom.support.version import __version__
from topoloom.tasks.objective import Objective
from topoloom.tasks.placed_run import PlacedJob, RecordedJob, place_job
from topoloom.tasks.runs.job_advice import advise_on_job, is_worth_placing

if TYPE_CHECKING:
    from topoloom.store.run_store import RunStore
    from topoloom.tasks.launch_slots import LaunchSlots
    from topoloom.tasks.runs.run_log import RunLog
    from topoloom.tasks.search import Search


class Placing(NamedTuple):
    """How to place a job; the arguments of `place_job`.

    `output` is the file in which the user keeps the placement, if any; `graph_file`
    is the file of the graph if it is not in the store, or "".
    """

    objective: str
    mapper: str
    search: Search
    fix: str | None
    command: tuple[str, ...]
    graph_file: str
    output: Path | None


class Decision(NamedTuple):
    """The placement of a job, whether to use it, and why, in one sentence.

    `stored` is the name of the placement's file in the store, or None.
    """

    placed: PlacedJob
    is_used: bool
    advice: str
    stored: str | None = None


def decide_placement(
    log: RunLog,
    recording: str | None,
    recorded: RecordedJob,
    slots: LaunchSlots,
    placing: Placing,
) -> Decision:
    """Place a job, or load its placement if the store has it.

    `recording` is the name of the stored recording; None if it is not stored.
    """
    key = None if recording is None else _make_key(recording, slots, placing)
    if key is not None:
        entry = log.attempt(lambda store: _load(store, key, recorded))
        if entry is not None:
            return entry
    placed = place_job(
        recorded,
        slots,
        placing.objective,
        placing.mapper,
        placing.search,
        placing.fix,
        placing.graph_file,
        placing.command,
    )
    advice = advise_on_job(recorded, placed, placing.output)
    decision = Decision(placed, is_worth_placing(placed, advice), advice.sentence)
    if key is None:
        return decision
    return decision._replace(
        stored=log.attempt(lambda store: _save(store, key, decision))
    )


def _make_key(recording: str, slots: LaunchSlots, placing: Placing) -> str:
    allocation = slots.allocation
    search = placing.search
    return make_key(
        "placement",
        [
            recording,
            hashlib.sha256(allocation.machine.text.encode()).hexdigest(),
            hashlib.sha256(allocation.slots.tobytes()).hexdigest(),
            list(slots.allocated.hosts or ()),
            [slots.cores_per_slot, slots.cores_per_rank, slots.bind],
            [placing.objective, placing.mapper, placing.fix],
            [search.seed, search.seconds, search.work],
            __version__,
        ],
    )


def _save(store: RunStore, key: str, decision: Decision) -> str:
    placed = decision.placed
    name = store.add_file(".json", lambda path: save_placement(path, placed.file))
    values = {measure: float(value) for measure, value in placed.block_values.items()}
    entry: dict[str, Any] = {
        "placement": name,
        "block_values": values,
        "objective": placed.objective.objective,
        "reason": placed.objective.reason,
        "least": placed.least,
        "is_used": decision.is_used,
        "advice": decision.advice,
    }
    store.write_entry(key, entry)
    return name


def _load(store: RunStore, key: str, recorded: RecordedJob) -> Decision | None:
    entry = store.read_entry(key)
    path = None if entry is None else store.find_file(entry.get("placement"))
    if entry is None or path is None or not _is_complete(entry):
        return None
    try:
        file = load_placement(path)
    except Error:  # Damaged: place again.
        return None
    objective = Objective(entry["objective"], recorded.phases, None, entry["reason"])
    placed = PlacedJob(file, entry["block_values"], objective, entry.get("least"))
    return Decision(placed, entry["is_used"], entry["advice"], path.name)


def _is_complete(entry: dict[str, Any]) -> bool:
    """Return whether an entry has all values, and their types."""
    values, least = entry.get("block_values"), entry.get("least")
    return (
        type(values) is dict
        and all(type(value) in (int, float) for value in values.values())
        and (least is None or type(least) in (int, float))
        and all(
            type(entry.get(key)) is str for key in ("objective", "reason", "advice")
        )
        and type(entry.get("is_used")) is bool
    )
