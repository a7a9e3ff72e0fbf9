# SPDX-License-Identifier: BSD-3-Clause
"""Locates bad parts of a machine from measurements between its hosts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from topoloom.probe.locate.likelihood import estimate_bad_parts
from topoloom.probe.locate.machine_parts import MachineParts, Pair
from topoloom.probe.locate.rounds import (
    SURE,
    SUSPECT,
    choose_next_round,
    compute_uncertainty,
)

if TYPE_CHECKING:
    from topoloom.documents.probes import BadPartFields, DiagnosisFields

#: Maximum number of parts in a sentence; `BadPart.document` contains all parts.
_MAX_NAMED = 4


@dataclass(frozen=True)
class PartTest:
    """A measurement of one pair of ends, or of all pairs of a collective operation."""

    pairs: Sequence[Pair]  # pairs of hosts or GPUs
    ratio: float  # measured time relative to the typical time


@dataclass(frozen=True)
class BadPart:
    """A bad part, or several candidates that no test distinguishes."""

    parts: list[str]  # names
    factor: float  # message time relative to the typical time
    chance: float  # probability that this part explains the tests

    @property
    def sure(self) -> bool:
        """Whether the part is certainly bad, without more tests."""
        return self.chance >= SURE

    @property
    def sentence(self) -> str:
        """Describe the bad part, and its probability unless certain."""
        more = len(self.parts) - _MAX_NAMED
        which = " or ".join(self.parts[:_MAX_NAMED] if more > 1 else self.parts)
        which += f" or one of {more} others" if more > 1 else ""
        text = f"{which}: messages take {self.factor:.2f} times as long"
        return text if self.sure else f"perhaps {text} ({self.chance:.0%} likely)"

    def document(self) -> BadPartFields:
        """Return the fields of the ``--json`` output."""
        return {
            "one_of": self.parts,
            "times_as_long": self.factor,
            "chance": self.chance,
        }


@dataclass(frozen=True)
class Diagnosis:
    """The current result of a diagnosis."""

    bad: list[BadPart]  # bad parts that explain slow tests, the most certain first
    #: `tests`, `hosts`: number of tests, and number of hosts that can be tested.
    tests: int
    hosts: int
    suspects: int  # number of other classes of parts that may be bad
    untested: int  # number of classes of parts that no test covers sufficiently
    #: Pairs of ends to measure concurrently in the next round; empty if more pairs
    #: would give no information.
    plan: list[Pair] = field(default_factory=list)

    def document(self, names: Sequence[str]) -> DiagnosisFields:
        """Return the fields of the ``--json`` output."""
        return {
            "bad": [each.document() for each in self.bad],
            "tests": self.tests,
            "suspects": self.suspects,
            "untested": self.untested,
            "plan": [[names[a], names[b]] for a, b in self.plan],
        }


def diagnose_parts(
    parts: MachineParts, tests: Sequence[PartTest], controls: bool = True
) -> Diagnosis:
    """Find the parts that explain the tests, and the pairs of ends to measure next.

    `controls` adds normal pairs, which are needed if typical times are unknown.
    """
    coverage = parts.compute_coverage([test.pairs for test in tests])
    estimate = estimate_bad_parts(
        coverage, [test.ratio for test in tests], len(parts.classes)
    )
    left = compute_uncertainty(parts, estimate)
    bad = [
        BadPart(
            parts.describe_class(each.number),
            each.factor,
            float(estimate.chances[each.number]),
        )
        for each in estimate.bad
    ]
    found = {each.number for each in estimate.bad}
    suspects = int(np.sum(left > SUSPECT)) - sum(left[n] > SUSPECT for n in found)
    return Diagnosis(
        bad,
        len(tests),
        len(parts.nodes),
        int(suspects),
        int(np.sum(left[estimate.open] > 0)),
        choose_next_round(parts, estimate, controls),
    )


def limit_rounds(hosts: int) -> int:
    """Return the maximum number of rounds for finding a bad part: 2 log2(hosts)."""
    return 2 * math.ceil(math.log2(hosts))


def locate_by_rounds(
    parts: MachineParts,
    measure: Callable[[list[Pair]], Iterable[PartTest]],
    tests: Sequence[PartTest] = (),
    has_time: Callable[[], bool] = lambda: True,
) -> tuple[Diagnosis, int]:
    """Measure in rounds until the diagnosis is complete; return it and the round count.

    Typical times must be known. `has_time` returns whether time remains for another
    round.
    """
    known = list(tests)
    found = diagnose_parts(parts, known, controls=False)
    rounds = 0
    while found.plan and rounds < limit_rounds(len(parts.nodes)) and has_time():
        known += measure(found.plan)
        rounds += 1
        found = diagnose_parts(parts, known, controls=False)
    return found, rounds
