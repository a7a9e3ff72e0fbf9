# SPDX-License-Identifier: BSD-3-Clause
"""The rules that choose what to advise; the first rule that applies is used.

A sentence claims no more than the judged values show: gains are rounded to nearest, as
in tables, and limits of gains are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from topoloom.support.gain import gain

if TYPE_CHECKING:
    from topoloom.documents.placements import AdviceDocument

#: Percent of a measure, or of a run time, below which a difference is not worth an
#: effort: run times of MPI programs vary more from run to run.
NEGLIGIBLE = 1.0
#: Percent of predicted time that is within the error of the model if startups and
#: latencies dominate; the mapper auto ignores such gains, too.
MODEL_ERROR = 3.0
#: Share of startups and latencies from which messages are called latency-bound.
LATENCY_BOUND = 0.5
#: Percent up to which a value and its bound are equal: their sums are rounded.
_ROUNDING = 1e-6
#: Smallest percentage that is not shown as 0.0 %.
_SHOWN = 0.05


class Evidence(NamedTuple):
    """What is known about a placement.

    Attributes
    ----------
    measure
        Key of the measure that the sentence is about.
    less, more
        Texts about smaller and larger values, such as "fewer hop-bytes".
    before, after
        The measure in the launcher's order, and with the placement.
    bound
        A value below which no placement is proven to be; None if no bound is known.
    latency_share
        Share of startups and latencies in the predicted time of the launcher's order;
        None if it is unknown, or the measure is another one.
    mpi_share
        Largest share of the recorded run time that faster communication can save; None
        if the recording has no times.
    use
        What to do to use the placement; "" if it is in use.
    fixed
        Whether ranks are fixed: other placements are considered only if they keep them.
    remedy
        What finds better placements, such as "leave out --mapper"; "" if auto has
        searched without limits.
    """

    measure: str
    less: str
    more: str
    before: float
    after: float
    bound: float | None = None
    latency_share: float | None = None
    mpi_share: float | None = None
    use: str = ""
    fixed: bool = False
    remedy: str = ""

    @property
    def gain(self) -> float:
        """Gain of the placement in percent; negative for a loss."""
        found = gain(self.before, self.after)
        return -math.inf if found is None else found

    @property
    def most_gain(self) -> float | None:
        """Percent that no placement gains more than; None if no bound is known."""
        if self.bound is None:
            return None
        return max(0.0, gain(self.before, min(self.bound, self.before)) or 0.0)

    @property
    def no_placement(self) -> str:
        """The subject of sentences about all placements."""
        return "no placement" + " that keeps the fixed ranks" * self.fixed

    @property
    def is_optimal(self) -> bool:
        """Whether no placement is better than this one."""
        most = self.most_gain
        return most is not None and self.gain >= most - _ROUNDING

    @property
    def program_gain(self) -> float | None:
        """Percent of its run time that the program gains at most; None if unknown.

        Only predicted time is proportional to communication time.
        """
        if self.mpi_share is None:
            return None
        is_time = self.measure == "predicted_seconds"
        return self.mpi_share * (max(0.0, self.gain) if is_time else 100)


class Rule(NamedTuple):
    """A situation, the condition for it, and the sentence about it."""

    situation: str
    applies: Callable[[Evidence], bool]
    write: Callable[[Evidence], str]


def _is_latency_bound(evidence: Evidence) -> bool:
    """Whether startups dominate, and no better search would gain much."""
    share, most = evidence.latency_share, evidence.most_gain
    if share is None or share < LATENCY_BOUND or evidence.gain >= MODEL_ERROR:
        return False
    return not evidence.remedy or (most is not None and most < MODEL_ERROR)


def _is_near_bound(evidence: Evidence) -> bool:
    return evidence.most_gain is not None and evidence.most_gain <= NEGLIGIBLE


def _write_loss(evidence: Evidence) -> str:
    amount = "" if math.isinf(evidence.gain) else f"{-evidence.gain:.1f} % "
    if evidence.fixed:
        return (
            f"the fixed ranks cost {amount}{evidence.more} than the launcher's order "
            "without them"
        )
    return f"keep the launcher's order: this placement has {amount}{evidence.more}"


def _write_little_communication(evidence: Evidence) -> str:
    share = _round_up(100 * (evidence.mpi_share or 0))
    return (
        f"placement does not matter: communication is at most {share} of the recorded "
        "run time"
    )


def _write_latency_bound(evidence: Evidence) -> str:
    share = 100 * (evidence.latency_share or 0)
    limit = "no better placement was found"
    if _is_near_bound(evidence):
        limit = _limit_gain(evidence)
    elif evidence.gain >= _SHOWN:
        limit = f"this placement has {evidence.gain:.1f} % {evidence.less}"
    return (
        f"latency-bound: startup and latency are {share:.0f} % of the predicted time, "
        f"and {limit}; send fewer, larger messages (topoloom collective)"
    )


def _write_near_bound(evidence: Evidence) -> str:
    most = evidence.most_gain or 0.0
    if evidence.fixed:
        return _limit_gain(evidence)
    if most <= _ROUNDING:
        return (
            f"the launcher's order is proven optimal: no placement has {evidence.less}"
        )
    return f"the launcher's order is within {_round_up(most)} of the bound: keep it"


def _write_gain(evidence: Evidence) -> str:
    text = f"placement helps: {evidence.gain:.1f} % {evidence.less}"
    if evidence.is_optimal:
        text += ", proven optimal"
    if evidence.mpi_share is not None:
        text += (
            f"; communication is at most {_round_up(100 * evidence.mpi_share)} of the "
            "recorded run time, so the program gains at most "
            f"{_round_up(evidence.program_gain or 0)}"
        )
    return f"{text}; {evidence.use}" if evidence.use else text


def _write_no_gain(evidence: Evidence) -> str:
    limit = ""
    if evidence.most_gain is not None:
        limit = f"; by the bound, none gains more than {_round_up(evidence.most_gain)}"
    if evidence.remedy:
        return f"this placement gains at most 1 %{limit}; {evidence.remedy}"
    if evidence.fixed:
        return (
            "no placement was found that keeps the fixed ranks and gains more than 1 %"
            + limit
        )
    return (
        "keep the launcher's order: no placement was found that gains more than 1 %"
        + limit
    )


def _limit_gain(evidence: Evidence) -> str:
    """Say what no placement gains more than."""
    most = evidence.most_gain or 0.0
    if most <= _ROUNDING:
        return f"{evidence.no_placement} has {evidence.less} than the launcher's order"
    return f"{evidence.no_placement} gains more than {_round_up(most)}"


RULES = (
    Rule(
        "nothing to gain",
        lambda evidence: evidence.before == evidence.after == 0,
        lambda evidence: f"placement does not matter: no placement has {evidence.less}",
    ),
    Rule(
        "little communication",
        lambda evidence: (
            evidence.mpi_share is not None and 100 * evidence.mpi_share < NEGLIGIBLE
        ),
        _write_little_communication,
    ),
    Rule("loss", lambda evidence: evidence.gain < -_SHOWN, _write_loss),
    Rule("latency-bound", _is_latency_bound, _write_latency_bound),
    Rule("near the bound", _is_near_bound, _write_near_bound),
    Rule("gain", lambda evidence: evidence.gain > NEGLIGIBLE, _write_gain),
    Rule("no gain", lambda evidence: True, _write_no_gain),
)


class Advice(NamedTuple):
    """A sentence of advice, the rule that wrote it, and the numbers behind it."""

    situation: str
    sentence: str
    evidence: Evidence

    def document(self) -> AdviceDocument:
        """Return the fields of the ``--json`` output."""
        evidence = self.evidence
        gained = None if math.isinf(evidence.gain) else evidence.gain
        return {
            "situation": self.situation,
            "sentence": self.sentence,
            "measure": evidence.measure,
            "before": evidence.before,
            "after": evidence.after,
            "gain_percent": gained,
            "gain_at_most_percent": evidence.most_gain,
            "latency_share": evidence.latency_share,
            "mpi_share_at_most": evidence.mpi_share,
            "program_gain_at_most_percent": evidence.program_gain,
        }


def advise(evidence: Evidence) -> Advice:
    """Write the sentence of the first rule that applies."""
    rule = next(rule for rule in RULES if rule.applies(evidence))
    return Advice(rule.situation, rule.write(evidence), evidence)


def _round_up(percent: float) -> str:
    """Format a limit with one decimal, not below its value."""
    return f"{math.ceil(percent * 10 - 1e-9) / 10:.1f} %"
