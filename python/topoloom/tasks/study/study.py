# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cells of a factorial experiment, and estimates the effect of each factor."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from topoloom._core import Error
from topoloom.store.run_store import RunStore, make_key, make_run_id
from topoloom.tasks.runs.gain_estimate import Change, estimate_paired_change
from topoloom.tasks.study.cell_run import CellFailedError, CellRunner
from topoloom.tasks.study.design import Cell, list_cells
from topoloom.tasks.study.effects import (
    Effect,
    Interaction,
    count_pairs_in_order,
    estimate_effects,
    estimate_interactions,
)

if TYPE_CHECKING:
    from topoloom.documents.studies import CellDocument, EffectDocument, StudyDocument
    from topoloom.tasks.study.factors import Factor

#: Called with the number of completed runs and the total number.
Report = Callable[[int, int], None]
#: Exit statuses of runs that the user or the scheduler interrupted.
_ENDED_BY_SIGNAL = (129, 130, 143)
#: More than any study makes; a few bytes of text can state any number.
_MAX_RUNS = 1_000_000
#: Smallest speedup with which a cell counts as faster than the baseline.
_MIN_SPEEDUP = 1.001


class CellTimes(NamedTuple):
    """The times of a cell in seconds; `why` is the reason of a failure, or "".

    `change` is the median change from the baseline run of the same repetition.
    `predicted` is the communication time that the model predicts, in seconds.
    """

    cell: Cell
    seconds: tuple[float, ...]
    predicted: float | None
    change: Change
    why: str = ""

    @property
    def median(self) -> float | None:
        """The median time; None without runs."""
        return median(self.seconds) if self.seconds else None


class StudyResult(NamedTuple):
    """Times of all cells, and the effects of the factors.

    `status` is 0, or the exit status of the run that interrupted the study.
    `pair_counts` is the number of pairs of cells in predicted order, and of all
    compared pairs.
    """

    status: int
    factors: Sequence[Factor]
    design: str
    cells: Sequence[CellTimes]
    effects: Sequence[Effect]
    interactions: Sequence[Interaction]
    pair_counts: tuple[int, int]

    def list_findings(self) -> list[str]:
        """List the fastest cell, the accuracy of the model, and failures."""
        lines = []
        done = [cell for cell in self.cells if cell.median is not None]
        if len(done) > 1 and done[0] is self.cells[0]:
            lines.append(_describe_fastest(done))
        right, pairs = self.pair_counts
        if pairs:
            share = f"correct in {right} of {pairs} pairs of cells"
            lines.append(f"predicted order: {share}")
        failed = [cell for cell in self.cells if cell.why]
        lines += [f"no time for '{each.cell.name}': {each.why}" for each in failed]
        if self.status:
            lines.append("interrupted; repeat the command to continue")
        return lines

    def document(self) -> StudyDocument:
        """Return the fields of the ``--json`` output."""
        return {
            "exit_status": self.status,
            "design": self.design,
            "factors": [
                {
                    "name": factor.name,
                    "levels": [level.name for level in factor.levels],
                }
                for factor in self.factors
            ],
            "cells": [_describe_cell(cell) for cell in self.cells],
            "effects": [
                _describe_effect([each.factor], [each.level], each.change)
                for each in self.effects
            ],
            "interactions": [
                _describe_effect(list(each.factors), list(each.levels), each.change)
                for each in self.interactions
            ],
            "pairs_in_predicted_order": self.pair_counts[0],
            "compared_pairs": self.pair_counts[1],
        }


def _describe_fastest(done: Sequence[CellTimes]) -> str:
    best = min(done, key=lambda each: each.median or 0)
    base, change = done[0], best.change
    ratio = (base.median or 0) / (best.median or 1)
    if ratio < _MIN_SPEEDUP:
        return "no cell is faster than the baseline"
    text = f"{best.cell.name}, {ratio:.2f} times as fast as {base.cell.name}"
    if change.high is None:
        return f"fastest, but not enough runs for a 95 % interval: {text}"
    if change.high >= 0:
        return f"no cell is significantly faster than the baseline; fastest: {text}"
    return f"fastest: {text}"


def _describe_cell(times: CellTimes) -> CellDocument:
    return {
        "levels": [level.name for level in times.cell.levels],
        "seconds": list(times.seconds),
        "median": times.median,
        "change": times.change.document(),
        "predicted_seconds": times.predicted,
        "reason": times.why or None,
    }


def _describe_effect(
    factors: list[str], levels: list[str], change: Change
) -> EffectDocument:
    return {
        "factors": factors,
        "levels": levels,
        "change_percent": change.change,
        "low_percent": change.low,
        "high_percent": change.high,
    }


@dataclass
class Study:
    """A study: its factors, its design, and the runner of its cells.

    `metric` is the regular expression of the time in the output; None for the time of
    the whole run. An interrupted study is continued unless `is_new`. `preparing` and
    `running` report progress.
    """

    factors: Sequence[Factor]
    design: str
    repetitions: int
    metric: str | None
    runner: CellRunner
    store: RunStore
    is_new: bool
    preparing: Report
    running: Report


def run_study(study: Study) -> StudyResult:
    """Prepare all cells, make the missing runs, and estimate effects.

    The order of the cells within a repetition is random. A cell whose run fails is
    excluded from later repetitions and from the effects.

    Raises
    ------
    topoloom.Error
        If a cell cannot be recorded or placed, or the store cannot be used.
    """
    if not study.factors:
        raise Error("a study needs at least one factor")
    cells = list_cells(study.factors, study.design)
    if len(cells) * study.repetitions > _MAX_RUNS:
        raise Error(
            f"{len(cells):,} cells with {study.repetitions:,} repetitions are more "
            f"than {_MAX_RUNS:,} runs; use fewer of both"
        )
    predicted: dict[str, float | None] = {}
    failed: dict[str, str] = {}
    for number, cell in enumerate(cells):
        study.preparing(number, len(cells))
        try:
            predicted[cell.name] = study.runner.prepare(cell)
        except CellFailedError as error:
            failed[cell.name] = str(error)
    study.preparing(len(cells), len(cells))
    tag, done = _find_earlier_runs(study, cells)
    status = _run_missing(study, cells, tag, done, failed)
    return _compare(study, cells, predicted, done, failed, status)


_Times = dict[tuple[str, int], float]


def _find_earlier_runs(study: Study, cells: Sequence[Cell]) -> tuple[str, _Times]:
    """Find the tag and the times of the last study with the same cells."""
    names = [cell.name for cell in cells]
    facts = [study.runner.identify(), study.design, study.metric, names]
    prefix = make_key("study", facts)[:16]
    entry = None if study.is_new else study.store.read_entry(prefix)
    tag = entry.get("tag") if entry is not None else None
    if not isinstance(tag, str):
        tag = f"{prefix}-{make_run_id()}"
        study.store.write_entry(prefix, {"tag": tag})
    done = {}
    for cell in cells:
        for repetition in range(study.repetitions):
            stored = study.store.read_entry(_make_run_key(tag, cell, repetition))
            seconds = None if stored is None else stored.get("seconds")
            if isinstance(seconds, float) and 0 < seconds < math.inf:
                done[cell.name, repetition] = seconds
    return tag, done


def _make_run_key(tag: str, cell: Cell, repetition: int) -> str:
    return make_key("run of a study", [tag, cell.name, repetition])


def _run_missing(
    study: Study,
    cells: Sequence[Cell],
    tag: str,
    done: _Times,
    failed: dict[str, str],
) -> int:
    """Make the missing runs; add times and failures; return the exit status."""
    total = len(cells) * study.repetitions
    for repetition in range(study.repetitions):
        order = random.Random(f"{tag}/{repetition}").sample(cells, len(cells))
        missing = [cell for cell in order if (cell.name, repetition) not in done]
        for cell, run in study.runner.run_all(
            [cell for cell in missing if cell.name not in failed], repetition, tag
        ):
            if run.seconds is None:
                if run.status in _ENDED_BY_SIGNAL:
                    return run.status
                failed[cell.name] = run.why
            else:
                done[cell.name, repetition] = run.seconds
                key = _make_run_key(tag, cell, repetition)
                study.store.write_entry(key, {"seconds": run.seconds})
            study.running(len(done), total)
    return 0


def _compare(
    study: Study,
    cells: Sequence[Cell],
    predicted: Mapping[str, float | None],
    done: _Times,
    failed: Mapping[str, str],
    status: int,
) -> StudyResult:
    compared = [
        cell
        for cell in cells
        if cell.name not in failed
        and any((cell.name, n) in done for n in range(study.repetitions))
    ]
    blocks = [
        {cell.name: done[cell.name, n] for cell in compared}
        for n in range(study.repetitions)
        if all((cell.name, n) in done for cell in compared)
    ]
    exact = study.runner.is_deterministic
    times = [
        CellTimes(
            cell,
            tuple(
                done[cell.name, n]
                for n in range(study.repetitions)
                if (cell.name, n) in done
            ),
            predicted.get(cell.name),
            _compare_with(cells[0], cell, done, study),
            failed.get(cell.name, ""),
        )
        for cell in cells
    ]
    measured = {each.cell.name: each.median for each in times if each.median}
    return StudyResult(
        status,
        study.factors,
        study.design,
        times,
        estimate_effects(study.factors, compared, blocks, exact),
        estimate_interactions(study.factors, compared, blocks, study.design, exact),
        count_pairs_in_order(compared, predicted, measured, _run_same_program),
    )


def _compare_with(base: Cell, cell: Cell, done: _Times, study: Study) -> Change:
    """Estimate the change from the baseline run of the same repetition."""
    pairs = [
        (done[base.name, n], done[cell.name, n])
        for n in range(study.repetitions)
        if (base.name, n) in done and (cell.name, n) in done
    ]
    if study.runner.is_deterministic and pairs:
        change = 100 * (pairs[0][1] / pairs[0][0] - 1)
        return Change(1, change, change, change)
    return estimate_paired_change(pairs)


def _run_same_program(one: Cell, other: Cell) -> bool:
    first, second = one.merge_settings(), other.merge_settings()
    return (first.arguments, first.environment, first.collectives) == (
        second.arguments,
        second.environment,
        second.collectives,
    )
