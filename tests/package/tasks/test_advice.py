# SPDX-License-Identifier: BSD-3-Clause
"""Advice is one sentence that claims no more than judged values and bounds show."""

from __future__ import annotations

import re

import numpy as np
import pytest

from topoloom.tasks.advice.rules import NEGLIGIBLE, RULES, Evidence, advise

PERCENT = re.compile(r"-?[\d.]+(?= %)")


def draw_evidence(seed: int) -> Evidence:
    """Draw evidence in which all kinds of values, and of missing ones, are frequent."""
    rng = np.random.default_rng(seed)

    def maybe(value: float) -> float | None:
        return value if rng.random() < 0.6 else None

    before = float(
        rng.choice([0, 1, 1e-6, rng.lognormal(10, 5)], p=[0.1, 0.2, 0.1, 0.6])
    )
    factors = [1, 0, rng.random(), 1 - rng.random() / 100, 1 + rng.random()]
    after = before * float(rng.choice(factors)) if rng.random() < 0.95 else before + 1
    below = float(rng.choice([1, 1 - rng.random() / 100, rng.random()]))
    is_time = rng.random() < 0.5
    return Evidence(
        "predicted_seconds" if is_time else "hop_bytes",
        "less of it",
        "more of it",
        before,
        after,
        maybe(min(before, after) * below),
        maybe(float(rng.random())) if is_time else None,
        maybe(float(rng.random() ** 4)),
        "use it" if rng.random() < 0.5 else "",
        fixed=bool(rng.random() < 0.3),
        remedy=str(rng.choice(["", "leave out --mapper", "search longer"])),
    )


DRAWN = [draw_evidence(seed) for seed in range(1000)]


def list_shown_numbers(evidence: Evidence) -> set[str]:
    """List the percentages that a sentence may contain, as it formats them."""
    shown = {f"{NEGLIGIBLE:.0f}", f"{abs(evidence.gain):.1f}"}
    limits = [evidence.most_gain, evidence.program_gain]
    if evidence.mpi_share is not None:
        limits.append(100 * evidence.mpi_share)
    if evidence.latency_share is not None:
        shown.add(f"{100 * evidence.latency_share:.0f}")
    for limit in limits:
        if limit is not None:
            shown |= {f"{limit:.1f}", f"{limit + 0.05:.1f}", f"{limit + 0.1:.1f}"}
    return shown


def test_every_situation_has_one_sentence() -> None:
    found = {advise(evidence).situation for evidence in DRAWN}
    assert found == {rule.situation for rule in RULES}
    for evidence in DRAWN:
        sentence = advise(evidence).sentence
        assert "\n" not in sentence
        assert not re.search(r"[.!?](\s|$)", sentence), sentence


def test_sentences_contain_only_the_numbers_of_the_evidence() -> None:
    for evidence in DRAWN:
        sentence = advise(evidence).sentence
        assert set(PERCENT.findall(sentence)) <= list_shown_numbers(evidence), sentence


def test_a_gain_is_claimed_only_if_the_values_show_it() -> None:
    for evidence in DRAWN:
        helps = "placement helps" in advise(evidence).sentence
        gained = evidence.before - evidence.after > NEGLIGIBLE / 100 * evidence.before
        assert gained or not helps
        assert (
            not helps or evidence.most_gain is None or (evidence.most_gain > NEGLIGIBLE)
        )


def test_limits_are_claimed_only_with_a_bound_or_a_recorded_time() -> None:
    for evidence in DRAWN:
        advice = advise(evidence)
        about_all = re.search(
            "no placement (that keeps the fixed ranks )?(has|gains)|none gains",
            advice.sentence,
        )
        if about_all and evidence.bound is None:
            assert evidence.before == evidence.after == 0, advice
        if "of the recorded run time" in advice.sentence:
            assert evidence.mpi_share is not None


def test_block_order_is_advised_only_if_nothing_better_is_likely() -> None:
    for evidence in DRAWN:
        sentence = advise(evidence).sentence
        keeps_order = "keep" in sentence and "launcher's order" in sentence
        if keeps_order and evidence.gain >= 0:
            is_near = evidence.most_gain is not None and (
                evidence.most_gain <= NEGLIGIBLE
            )
            assert is_near or not evidence.remedy, sentence
        if evidence.fixed:
            assert "keep the launcher's order" not in sentence
            assert "launcher's order is" not in sentence


def test_the_program_gains_no_more_than_its_communication_takes() -> None:
    for evidence in DRAWN:
        if evidence.program_gain is not None:
            assert evidence.mpi_share is not None
            assert 0 <= evidence.program_gain <= 100 * evidence.mpi_share + 1e-9


@pytest.mark.parametrize(
    ("evidence", "sentence"),
    [
        (
            Evidence(
                "predicted_seconds", "less time", "more time", 2.0, 1.0, None, None, 0.3
            ),
            "placement helps: 50.0 % less time; communication is at most 30.0 % of the "
            "recorded run time, so the program gains at most 15.0 %",
        ),
        (
            Evidence("hop_bytes", "fewer hop-bytes", "more hop-bytes", 1000, 1000, 999),
            "the launcher's order is within 0.1 % of the bound: keep it",
        ),
        (
            Evidence("predicted_seconds", "less time", "more time", 1, 1, 0.995, 0.99),
            "latency-bound: startup and latency are 99 % of the predicted time, and no "
            "placement gains more than 0.5 %; send fewer, larger messages "
            "(topoloom collective)",
        ),
        (
            Evidence("hop_bytes", "fewer hop-bytes", "more hop-bytes", 4, 2, 2),
            "placement helps: 50.0 % fewer hop-bytes, proven optimal",
        ),
    ],
)
def test_sentences_of_typical_situations(evidence: Evidence, sentence: str) -> None:
    assert advise(evidence).sentence == sentence
