# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of all machines in one table, with targets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from probe.compare import Outcome

#: Accepted relative error of constants, and accepted factor between sizes.
ERROR = 0.05
STEPS = {"quick": 4.0, "default": 2.0, "thorough": 1.5}


class Row(NamedTuple):
    """A row of the table."""

    what: str
    target: str
    reached: str
    details: str = ""


def make_rows(outcomes: Sequence[Outcome]) -> list[Row]:
    """Sum up."""
    done = [outcome for outcome in outcomes if not outcome.ended]
    made = [_summarize_ended(outcomes)] if len(done) < len(outcomes) else []
    for name in ("alpha", "beta"):
        made += _summarize_constants(done, name)
    made += _summarize_intervals(done)
    made += _summarize_regime_ends(done)
    made += _summarize_groups(done)
    made += _summarize_uplinks(done)
    made += _summarize_sharing(done)
    made += _summarize_suspects(done)
    made += _summarize_samples(done)
    return made


def _summarize_ended(outcomes: Sequence[Outcome]) -> Row:
    problems = [f"{o.seed}: {o.ended}" for o in outcomes if o.ended]
    return Row(
        "ended early",
        "0",
        _format_share(len(problems), len(outcomes)),
        "; ".join(problems),
    )


def _summarize_constants(outcomes: Sequence[Outcome], name: str) -> list[Row]:
    made = []
    for title, some in _group_by_noise(outcomes):
        by_level = [
            errors for o in some for errors in _collect_errors_by_level(o, name)
        ]
        errors = [error for of in by_level for error in of if error < math.inf]
        if not errors:
            continue
        levels = sum(max(of) <= ERROR for of in by_level)
        close = sum(error <= ERROR for error in errors)
        made.append(
            Row(
                f"{name} within {ERROR:.0%}{title}",
                "all levels",
                _format_share(levels, len(by_level)),
                f"{_format_share(close, len(errors))} of regimes; median "
                f"{np.median(errors):.2%}, 95th {np.percentile(errors, 95):.1%}, "
                f"worst {max(errors):.0%}",
            )
        )
    return made


def _summarize_intervals(outcomes: Sequence[Outcome]) -> list[Row]:
    """Count true constants inside their intervals, for machines with noise."""
    found = [
        inside
        for outcome in outcomes
        for regime in outcome.regimes
        for inside in (regime.alpha_inside, regime.beta_inside)
        if outcome.noise and inside is not None
    ]
    share = _format_share(sum(found), len(found))
    return [Row("95 % intervals that hold, with noise", "95 %", share)]


def _collect_errors_by_level(outcome: Outcome, name: str) -> list[list[float]]:
    by_level: dict[int, list[float]] = {}
    for regime in outcome.regimes:
        error = getattr(regime, name)
        if error is not None:
            by_level.setdefault(regime.level, []).append(abs(error))
    return [*by_level.values(), *([math.inf] for _ in outcome.missed_levels)]


def _group_by_noise(outcomes: Sequence[Outcome]) -> Iterable[tuple[str, list[Outcome]]]:
    yield "", list(outcomes)
    for title, low, high in (
        (", no noise", 0.0, 0.0),
        (", noise 2-5 %", 0.01, 0.05),
        (", noise 10-20 %", 0.06, 0.2),
    ):
        yield title, [o for o in outcomes if low <= o.noise <= high]


def _summarize_regime_ends(outcomes: Sequence[Outcome]) -> list[Row]:
    near = total = 0
    for outcome in outcomes:
        step = STEPS[outcome.effort]
        total += len(outcome.ends)
        near += sum(e is not None and 1 / step <= e <= step for e in outcome.ends)
    missed = sum(end is None for o in outcomes for end in o.ends)
    more = sum(outcome.more_ends for outcome in outcomes)
    details = f"{missed} not found, {more} that were not planted"
    return [
        Row("break points within a step", "all", _format_share(near, total), details)
    ]


def _summarize_groups(outcomes: Sequence[Outcome]) -> list[Row]:
    made = []
    for title, some in _group_by_noise(outcomes):
        if not some:
            continue
        exact = sum(min(outcome.rand) == 1 for outcome in some)
        wrong = [str(o.seed) for o in some if min(o.rand) < 1]
        details = f"seeds {' '.join(wrong)}" if wrong and not title else ""
        share = _format_share(exact, len(some))
        made.append(Row(f"Rand index 1.0 at all levels{title}", "all", share, details))
    false = [outcome for outcome in outcomes if outcome.false_groups]
    seeds = " ".join(str(outcome.seed) for outcome in false)
    flat = [outcome for outcome in outcomes if outcome.depth == 1]
    split = sum(outcome.false_groups > 0 for outcome in flat)
    share = _format_share(len(false), len(outcomes))
    made.append(Row("false splits", "<= 1 %", share, f"seeds {seeds}" if seeds else ""))
    made.append(Row("false splits, flat", "<= 1 %", _format_share(split, len(flat))))
    return made


def _summarize_uplinks(outcomes: Sequence[Outcome]) -> list[Row]:
    found = [ratio for outcome in outcomes for ratio in outcome.uplinks]
    errors = [abs(ratio - 1) for ratio in found if ratio is not None]
    if not errors:
        return []
    share = _format_share(sum(error <= ERROR for error in errors), len(found))
    details = (
        f"{len(found) - len(errors)} not measured; median {np.median(errors):.1%}, "
        f"worst {max(errors):.0%}"
    )
    return [Row(f"tight uplinks within {ERROR:.0%}", "all", share, details)]


def _summarize_sharing(outcomes: Sequence[Outcome]) -> list[Row]:
    """Summarize which pairs of pairs slow each other down."""
    made = []
    for where, name in (("of a group", "near"), ("of all hosts", "all")):
        counts = np.sum([getattr(o, f"sharing_{name}") for o in outcomes], axis=0)
        (_, false), (missed, found) = counts.tolist()
        if not found + missed:
            continue
        what = f"pairs of pairs {where} that slow each other down"
        precision = _format_share(found, found + false)
        details = f"precision {precision}"
        made.append(Row(what, ">= 95 %", _format_share(found, found + missed), details))
    rounds = sum(o.pair_rounds for o in outcomes)
    of = sum(o.pairs_of_pairs for o in outcomes)
    few = max((o.pair_rounds / o.pairs_of_pairs for o in outcomes), default=0)
    details = f"most of a machine {few:.0%}"
    what = "runs of pairs at once, of pairs of pairs"
    made.append(Row(what, "<= 10 %", f"{rounds / of:.2%}", details))
    return made


def _summarize_suspects(outcomes: Sequence[Outcome]) -> list[Row]:
    made = []
    for kind in sorted({outcome.slow for outcome in outcomes} - {""}):
        some = [outcome for outcome in outcomes if outcome.slow == kind]
        missed = " ".join(str(outcome.seed) for outcome in some if not outcome.found)
        found = sum(outcome.found for outcome in some)
        share = _format_share(found, len(some))
        details = f"missed in seeds {missed}" if missed else ""
        made.append(Row(f"slow {kind}: found", ">= 99 %", share, details))
    alarms = [f"{o.seed}: {alarm}" for o in outcomes for alarm in o.alarms]
    machines = sum(bool(outcome.alarms) for outcome in outcomes)
    hosts = sum(outcome.hosts for outcome in outcomes)
    summary = f"{len(alarms)} alarms on {hosts:,} hosts"
    share = _format_share(machines, len(outcomes))
    details = "; ".join([summary, *alarms[:8]])
    made.append(Row("machines with false alarms", "<= 0.1 %", share, details))
    return made


def _summarize_samples(outcomes: Sequence[Outcome]) -> list[Row]:
    made = []
    for title, some in _group_by_noise(outcomes):
        if some:
            ratios = [outcome.samples / outcome.fixed for outcome in some]
            all_of_them = sum(o.samples for o in some) / sum(o.fixed for o in some)
            details = f"median of machines {np.median(ratios):.0%}"
            what = f"samples of fixed repetition{title}"
            made.append(Row(what, "<= 30 %", f"{all_of_them:.0%}", details))
    times = [outcome.seconds for outcome in outcomes]
    cpu = sum(outcome.cpu_seconds for outcome in outcomes)
    details = (
        f"median {np.median(times):.1f} s, worst {max(times):.0f} s; CPU {cpu:.0f} s"
    )
    made.append(Row("wall time", "", f"{sum(times):.0f} s", details))
    return made


def _format_share(count: int, of: int) -> str:
    return f"{count} of {of} ({count / of:.1%})" if of else "none"
