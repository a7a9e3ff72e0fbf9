# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of collectives: machines and tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from collectives import fitted, loggopsim, simulated
from collectives.__main__ import make_markers
from collectives.orders import MACHINES, RANKS, Result, network_model, table
from collectives.platforms import PLATFORMS, SMALL, PlacedJob, place_job, place_on_nodes
from collectives.simulated import (
    OPERATIONS,
    SELECTORS,
    SIZES,
    Cell,
    Overlap,
    load,
    save,
    simulate_job,
)
from collectives.tables import (
    calls_table,
    gains_table,
    get_call_order,
    group,
    has_rows,
    merge_tables,
    predictions_table,
)
from topoloom.machines.machine_file import load_machine
from topoloom.schedules import Call, fitted_schedules

Cases = Sequence[tuple[Call, str]]
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("machine", MACHINES)
def test_machines_have_nodes_and_models(machine: str) -> None:
    assert load_machine(machine).node_count >= RANKS
    model = network_model(machine)
    assert 0 < model.time(64) < model.time(1 << 20)


def test_the_gain_is_relative_to_the_better_choice_of_mpi() -> None:
    slow = Result("a", "m", 64, 8e-6, 6e-6, "bruck", 4e-6, 3e-6, "mesh", 1.0)
    even = Result("b", "m", 64, 2e-6, 9e-6, "bruck", 2e-6, 2e-6, "at-once", 1.0)
    assert slow.gain == pytest.approx(2)
    assert even.gain == pytest.approx(1)
    assert table([slow, even]).endswith("**1.41** |")


def test_the_page_contains_its_table() -> None:
    page = (ROOT / "docs" / "reference" / "benchmarks" / "collectives.md").read_text()
    begin, end = (page.index(mark) for mark in make_markers(""))
    for machine in MACHINES:
        assert f"| {machine} |" in page[begin:end]


def test_each_job_has_a_fitted_schedule(tmp_path: Path) -> None:
    assert {machine for machine, _ in fitted.JOBS} == SMALL.keys()
    for machine, nodes in fitted.JOBS:
        assert fitted_schedules(*place_on_nodes(machine, nodes, tmp_path).slots)


def test_a_fitted_schedule_is_compared_with_the_best_other_schedule() -> None:
    chosen = dict.fromkeys(SELECTORS, 9e-6) | {"impi": 6e-6, "auto": 2e-6}
    schedules = {"cyclic": (5e-6, 5e-6), "mesh": (4e-6, 3e-6)}
    row = fitted.FittedCall(
        "tree",
        Call("alltoall", 4, 8),
        chosen,
        {"cyclic(seats=0:2-4)": (3e-6, 3.5e-6)},
        schedules,
    )
    line = fitted.table([row]).splitlines()[-1]
    assert line == (
        "| tree | alltoall | 8 | impi | 6.0 | `mesh` | 4.0 | `cyclic(seats=0:2-4)` "
        "| 3.0 | 3.5 | 5.0 | 2.0 | 2.00 |"
    )


def test_predictions_are_compared_with_loggopsim_by_schedule() -> None:
    printed = "Times:\nMaximum finishing time at host 3: 4000 (4e-06 s)\n"
    theirs = loggopsim.read_end(printed)
    assert theirs == pytest.approx(4e-6)
    with pytest.raises(SystemExit, match="failed:\nreceive queue"):
        loggopsim.read_end("receive queue on host 0 contains 1 elements!")
    ring = ("allgather", "ring")
    messages = [loggopsim.Predicted(ring, us * 1e-6, 4e-6, theirs) for us in (4, 5)]
    work = [loggopsim.Predicted(ring, 0.0, 3e-6, theirs)]
    line = loggopsim.table(messages, work).splitlines()[-1]
    assert line == "| allgather | `ring` | 1.00-1.25 | 1.00 | 0.75 |"


def _make_cells(ours: float, *others: float) -> list[Cell]:
    call = ("torus", "block", 64, "alltoall", 64)
    chosen = zip(SELECTORS, others, strict=True)
    cells = [Cell(*call, by, seconds) for by, seconds in chosen]
    cells.append(Cell(*call, "auto", ours))
    schedules = {
        "bruck": (4.0, 4.2),
        "mesh": (3.0, 3.0),
        "ring": (9.0, 6.0),
        "grid": (5, 5),
    }
    return cells + [Cell(*call, by, *of) for by, of in schedules.items()]


def test_a_call_is_compared_with_the_best_schedule(tmp_path: Path) -> None:
    cells = _make_cells(3.3, 6.6, 9.9, 33.0, 13.2)
    save(cells, tmp_path / "cells.jsonl")
    (one,) = group(load(tmp_path / "cells.jsonl")).values()
    assert one.gain == pytest.approx(2)
    assert one.lost == pytest.approx(1.1)
    assert one.correlation == pytest.approx(1)
    groups = group(cells)
    assert "| 2.00 | 3.00 | 10.00 | 4.00 | 2.00 |" in gains_table(groups)
    assert "| 4 | 2.5 % | 75 % | 1.00 | 0 % | 1.10 |" in predictions_table(groups)
    assert "| 3 | 0.0 % | 67 % |  | 0 % | 1.10 |" in predictions_table(
        group(cells[:5] + cells[6:])
    )


def test_calls_that_lack_a_chooser_are_omitted_from_tables() -> None:
    cells = _make_cells(3.3, 6.6, 9.9, 33.0, 13.2)
    assert not group(cells[1:])
    assert not group([cell for cell in cells if cell.by != "auto"])


def test_a_page_keeps_rows_that_were_not_resimulated() -> None:
    new = calls_table(group(_make_cells(2e-6, 4e-6, 9e-6, 5e-6, 6e-6)))
    rest = " | ".join([""] * 4)
    other, old = (
        f"| alltoall | {n} | torus | block | 1.0 (1.00) | 7.0 (1.00){rest} |"
        for n in (8, 64)
    )
    both = merge_tables(
        new, "\n".join([*new.splitlines()[:2], other, old]), 4, get_call_order
    )
    lines = both.splitlines()
    assert len(lines) == 4
    assert "| 8 | torus | block | 1.0 (1.00) | 7.0 (1.00) |" in lines[2]
    assert "| 64 | torus | block | 1.0 (1.00) | 2.0 (2.00) |" in lines[3]
    assert has_rows(both, new, 4)
    assert not has_rows(new, both, 4)


def test_a_job_is_simulated_only_for_missing_schedules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def simulate_seconds(
        _program: Path, _placement: PlacedJob, _settings: object, cases: Cases
    ) -> Any:
        return ((call, 1e-6) for call, _ in cases)

    monkeypatch.setattr(simulated, "run_cases", simulate_seconds)
    monkeypatch.setattr(simulated, "_rank_candidates", lambda *_: [("bruck", 2e-6)])
    job = "flat", "block", 64
    gather, reduce = "allgather", "allreduce"
    everything = {
        (by, operation, size)
        for by in (*SELECTORS, "auto")
        for operation in OPERATIONS
        for size in SIZES
    }
    left = {
        *(("mpich", gather, 8), ("mpich", reduce, 8)),
        *(("auto", gather, 512), ("ompi", reduce, 512)),
    }

    def simulate_missing(*names: Any) -> list[tuple[set[str], set[str], set[int]]]:
        jobs = simulate_job(tmp_path / "program", job, everything - left, *names)
        return [
            (
                {cell.by for cell in cells},
                {cell.operation for cell in cells},
                {cell.bytes for cell in cells},
            )
            for cells in jobs
        ]

    ours = ({"auto", "bruck"}, {gather}, {512})
    assert simulate_missing() == [
        ({"mpich"}, {gather, reduce}, {8}),
        ({"ompi"}, {reduce}, {512}),
        ours,
    ]
    assert simulate_missing(gather, 512) == [ours]
    assert not simulate_missing("alltoall")


def test_unfinished_calls_are_shown() -> None:
    one = Overlap("flat", 256, 8, "bruck", blocking=10e-6, left=1e-6)
    assert one.hidden == pytest.approx(0.9)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_job_has_the_same_hosts_in_both_orders(platform: str, tmp_path: Path) -> None:
    block, ours = (
        place_job(platform, order, 20, tmp_path) for order in ("block", "ours")
    )
    assert len(set(block.hosts)) == 20
    assert set(ours.hosts) == set(block.hosts)
    assert "machine " in ours.machine.read_text()
