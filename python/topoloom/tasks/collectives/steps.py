# SPDX-License-Identifier: BSD-3-Clause
"""Finds link contention in the steps of a schedule, and node orders without it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from topoloom._core import (
    Allocation,
    Error,
    Machine,
    Meetings,
    NetworkModel,
    Step,
    find_free_order,
    meetings_any_ascent,
    meetings_on_routes,
    tree_kinds,
    with_gaps,
)
from topoloom.support.files import read_text
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.plain_text import is_number
from topoloom.tasks.collectives.step_rates import StepRates

if TYPE_CHECKING:
    from topoloom.documents.collectives import (
        ContentionDocument,
        FoundOrder,
        StepFields,
    )

#: Routes on which a node order can avoid contention: the machine's, or any that ascend.
MEETINGS = ("routes", "any-ascent")


@dataclass(frozen=True)
class StepContention:
    """The contention of a step: links that several of its messages cross."""

    name: str
    rounds: int
    routes: Meetings
    ascent: Meetings | None  # for any ascending routes in a fat tree
    rate: float | None = None  # B/s per node on the machine's routes
    ascent_rate: float | None = None  # B/s per node for any ascending routes

    @property
    def has_contention(self) -> bool:
        """Whether messages share a link: on the machine's, or any ascending routes."""
        return bool(self.routes.places or (self.ascent and self.ascent.places))

    def document(self) -> StepFields:
        """Return the fields of a step in the ``--json`` output."""
        facts: StepFields = {
            "step": self.name,
            "rounds": self.rounds,
            "links": self.routes.places,
            "most_on_routes": self.routes.most,
        }
        if self.ascent is not None:
            facts["subtrees"] = self.ascent.places
            facts["most_on_any_ascent"] = self.ascent.most
        if self.rate is not None:
            facts["bytes_per_second"] = self.rate
        if self.ascent_rate is not None:
            facts["bytes_per_second_on_any_ascent"] = self.ascent_rate
        return facts


class LowContentionOrder(NamedTuple):
    """A node order with which few rounds have contention."""

    on: str  # one of MEETINGS
    rounds: int  # number of rounds with contention
    fewest: bool  # whether this number is proved to be minimal
    nodes: list[int]


@dataclass(frozen=True)
class ScheduleContention:
    """Contention in the steps of a schedule, and an order with less contention."""

    machine: Machine
    ranks: int
    steps: list[StepContention]
    found: LowContentionOrder | None = None
    gaps: list[int | None] | None = None  # node order for exchanges without contention

    @property
    def rates(self) -> dict[str, list[float]]:
        """Bandwidth of every step in bytes per second, by set of routes."""
        found = {
            "on the routes": [one.rate for one in self.steps],
            "any ascent": [one.ascent_rate for one in self.steps],
        }
        return {
            where: [rate for rate in rates if rate is not None]
            for where, rates in found.items()
            if None not in rates
        }

    def document(self) -> ContentionDocument:
        """Return the fields of the ``--json`` output."""
        document: ContentionDocument = {
            "machine": self.machine.text,
            "ranks": self.ranks,
            "steps": [step.document() for step in self.steps],
        }
        if self.found is not None:
            document["found"] = cast("FoundOrder", self.found._asdict())
        if self.gaps is not None:
            document["gaps"] = self.gaps
        return document


def find_contention(
    allocation: Allocation,
    steps: str | Path,
    find: str | None = None,
    seed: int = 1,
    *,
    model: NetworkModel | None = None,
    size: int = 1024,
) -> ScheduleContention:
    """Find contention in steps between ranks, placed one per node in node order.

    Steps are ``shift``, ``prefix``, ``quarter``, an allgather schedule, or a file with
    messages. `find`, one of `MEETINGS`, requests an order with less contention. With
    `model`, the bandwidth of messages of `size` bytes is computed.
    """
    if find is not None and find not in MEETINGS:
        raise Error(describe_unknown_name("kind of routes", find, MEETINGS))
    machine, nodes = allocation.machine, allocation.nodes.tolist()
    named = list(_parse_steps(str(steps), len(nodes)))
    is_fat_tree = "least-loaded" in tree_kinds(machine)
    rates = StepRates(machine, nodes, size, model) if model is not None else None
    judged = []
    for name, step in named:
        routes = meetings_on_routes(machine, step, nodes)
        ascent = meetings_any_ascent(machine, step, nodes) if is_fat_tree else None
        judged.append(
            StepContention(
                name,
                step.rounds,
                routes,
                ascent,
                rates.rate(step, routes.most) if rates else None,
                rates.rate(step, ascent.most) if rates and ascent else None,
            )
        )
    found, gaps = None, None
    if find is not None:
        order, rounds, fewest = find_free_order(
            machine, nodes, [step for _, step in named], find == "routes", seed=seed
        )
        found = LowContentionOrder(find, rounds, fewest, order)
        if find == "any-ascent" and steps in ("prefix", "pairwise"):
            gaps = with_gaps(machine, nodes)
    return ScheduleContention(machine, len(nodes), judged, found, gaps)


def _parse_steps(what: str, ranks: int) -> Iterable[tuple[str, Step]]:
    if what == "shift":
        return ((f"+{by}", Step.shift(ranks, by)) for by in range(1, ranks))
    if what == "prefix":
        most = 1 << (ranks - 1).bit_length()
        return ((f"xor {by}", Step.prefix(ranks, by)) for by in range(1, most))
    if what == "quarter":
        return (
            (" ".join(map(str, order)), Step.blocks(ranks, order))
            for order in list(permutations(range(4)))[1:]
        )
    if Path(what).is_file():
        return [(what, _read_step(Path(what), ranks))]
    return (
        (_format_step_name(step, ranks, number), step)
        for number, step in enumerate(Step.of_schedule(what, ranks), start=1)
    )


def _format_step_name(step: Step, ranks: int, number: int) -> str:
    """Format a step as its messages' offset, or as its number if offsets differ."""
    ways = {(to - start) % ranks for start, to in step.messages}
    if len(ways) == 1 and len(step.messages) == ranks:
        by = ways.pop()
        return f"+{by}" if 2 * by <= ranks else f"-{ranks - by}"
    exchanges = {to ^ start for start, to in step.messages}
    return f"xor {exchanges.pop()}" if len(exchanges) == 1 else f"step {number}"


def _read_step(path: Path, ranks: int) -> Step:
    messages = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        good = len(words) == 2 and all(is_number(w) for w in words)
        if not good or any(int(word) >= ranks for word in words):
            raise Error(
                f"{path}:{number}: expected two ranks of 0 to {ranks - 1}, FROM TO, "
                f"not '{line.strip()[:40]}'"
            )
        messages.append((int(words[0]), int(words[1])))
    if not messages:
        raise Error(f"{path}: has no message; write one per line, FROM TO")
    return Step(messages)
