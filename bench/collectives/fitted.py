# SPDX-License-Identifier: BSD-3-Clause
"""Schedules fitted to a machine compared with other schedules, in SimGrid's MPI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import smpi
from collectives.platforms import PlacedJob, place_on_nodes
from collectives.simulated import AUTO, SELECTORS, run_cases
from topoloom.model.model_names import load_model
from topoloom.schedules import Strategy, fitted_schedules
from topoloom.schedules.choose import Call, list_schedule_names

MIB = 1 << 20
#: (machine, nodes of the job) -> (operation, sizes) of its calls.
JOBS = {
    ("torus 4x4x4", tuple(range(64))): (
        ("bcast", (MIB // 16, MIB, 4 * MIB, 16 * MIB)),
        ("reduce", (MIB // 16, MIB, 4 * MIB, 16 * MIB)),
    ),
    ("fat tree 8:8", tuple(set(range(64)) - {5, 22, 23, 47})): (
        ("alltoall", (4096, 32768, 131072)),
    ),
}
#: Number of other schedules to simulate, fastest predictions first. Fitted schedules
#: that ignore the process map are also simulated.
OTHERS = 3


@dataclass(frozen=True)
class FittedCall:
    """Times of one call with each selector, and with each schedule.

    Attributes
    ----------
    chosen
        Seconds by each selector, and with our choice.
    fitted, others
        Simulated and predicted seconds by schedule.
    """

    machine: str
    call: Call
    chosen: dict[str, float]
    fitted: dict[str, tuple[float, float]]
    others: dict[str, tuple[float, float]]


def measure(program: Path) -> Iterator[FittedCall]:
    """Simulate all calls of all jobs."""
    for (machine, nodes), operations in JOBS.items():
        placed = place_on_nodes(machine, nodes, program.parent)
        for operation, sizes in operations:
            for size in sizes:
                yield _simulate_call(
                    program, machine, placed, Call(operation, len(nodes), size)
                )


def _simulate_call(
    program: Path, machine: str, placed: PlacedJob, call: Call
) -> FittedCall:
    chosen = {}
    for selector in SELECTORS:
        settings = {"smpi/coll-selector": selector}
        ((_, chosen[selector]),) = run_cases(program, placed, settings, [(call, "mpi")])
    fitted, others = _predict_schedules(call, placed)
    where = f"machine={placed.machine}"
    names = [*fitted, *others]
    cases = [(call, where), *((call, f"{where},schedule={name}") for name in names)]
    done = [seconds for _, seconds in run_cases(program, placed, smpi.QUICK, cases)]
    chosen[AUTO] = done[0]
    took = dict(zip(names, done[1:], strict=True))
    return FittedCall(
        machine,
        call,
        chosen,
        {name: (took[name], seconds) for name, seconds in fitted.items()},
        {name: (took[name], seconds) for name, seconds in others.items()},
    )


def _predict_schedules(
    call: Call, placed: PlacedJob
) -> tuple[dict[str, float], dict[str, float]]:
    """Predict the best variant of each fitted schedule, and of the best other ones."""
    model = load_model("simgrid").model
    strategy = Strategy(*placed.slots, model)
    texts = fitted_schedules(*placed.slots)
    best: dict[str, tuple[float, str]] = {}
    for name in list_schedule_names(call, placed.slots):
        fits = [text for text in texts if name.startswith(text[:-1])]
        key = fits[0] if fits else name.partition("(")[0]
        if not fits and any(text.startswith(f"{key}(grid") for text in texts):
            continue  # the same trees, on a grid that ignores the machine
        seconds = strategy.cost(call.schedule(name)).time
        best[key] = min(best.get(key, (seconds, name)), (seconds, name))
    fitted = {name: seconds for key, (seconds, name) in best.items() if key in texts}
    rest = sorted(one for key, one in best.items() if key not in texts)
    plain = {text.partition("(")[0] for text in texts}
    shown = rest[:OTHERS] + [one for one in rest[OTHERS:] if one[1] in plain]
    return fitted, {name: seconds for seconds, name in shown}


def table(rows: Iterable[FittedCall]) -> str:
    """Format times in microseconds as Markdown."""
    head = (
        *("machine", "operation", "bytes", "best selector", "", "best other schedule"),
        *("", "fitted schedule", "", "predicted", "without seats", "chosen"),
        "times as fast",
    )
    rule = ["---"] * 2 + ["---:", "---", "---:"] + ["---", "---:"] * 2 + ["---:"] * 4
    lines: list[Sequence[object]] = [head, rule]
    for row in rows:
        selector = min(SELECTORS, key=row.chosen.__getitem__)
        other, (took, _) = min(row.others.items(), key=lambda one: one[1])
        name, (seconds, predicted) = min(row.fitted.items(), key=lambda one: one[1])
        plain = row.others.get(name.partition("(")[0])
        best = min(row.chosen[selector], took)
        lines.append(
            (
                *(row.machine, row.call.operation, f"{row.call.bytes:,}"),
                *(
                    selector,
                    _format_microseconds(row.chosen[selector]),
                    _format_code(other),
                    _format_microseconds(took),
                ),
                *(
                    _format_code(name),
                    _format_microseconds(seconds),
                    _format_microseconds(predicted),
                ),
                _format_microseconds(plain[0]) if plain else "",
                *(
                    _format_microseconds(row.chosen[AUTO]),
                    f"{best / row.chosen[AUTO]:.2f}",
                ),
            )
        )
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _format_microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:,.1f}"


def _format_code(name: str) -> str:
    return f"`{name}`"
