# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom steps`: which steps of a schedule cause link contention."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from topoloom.cli import complete
from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.machines import AllocationOptions, MachineText
from topoloom.cli.options.searches import Seed

if TYPE_CHECKING:
    from topoloom._core import Machine, Meetings, Step

#: How many steps are listed one by one.
MAX_LISTED = 24


@with_groups
def command(
    steps: Annotated[
        str,
        typer.Argument(
            metavar="STEPS",
            help="'shift', 'prefix' or 'quarter' for all of these, a schedule of an "
            "all-gather such as 'k-shift' or 'k-prefix(k=4)', or a file with the "
            "messages of a step, 'FROM TO' per line.",
        ),
    ],
    machine: MachineText,
    *,
    allowed: AllocationOptions,
    find: Annotated[
        str | None,
        typer.Option(
            "--find",
            metavar="routes|any-ascent",
            help="Look for an order of the nodes in which messages meet in fewer "
            "rounds: on the machine's routes, or whichever they take up a fat tree.",
            autocompletion=complete.meetings,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("With --find: write the nodes in that order, for --allocation."),
    ] = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Report which steps of a schedule cause link contention on a machine.

    Ranks are numbered as the nodes are allocated, one per node.

    \b
    shift    rank r sends to r + 1, in the next step to r + 2, ...
    prefix   ranks r and r xor 1 exchange, in the next step r and r xor 2, ...
    quarter  quarters of the ranks send to each other, keeping their order
    rounds   of the schedule that take the step
    links    on which messages meet on the routes of the machine, and how many on one
    subtrees of a fat tree that messages enter from several, and how many of them may
             meet on one link; where there are none, no two meet whichever routes
             they take, so that adaptive routing has nothing to avoid

    For prefix sends --find any-ascent also names positions with gaps, between which
    they meet nowhere, in more rounds.

    \b
    Examples:
      topoloom steps shift --machine fattree:4:4:4
      topoloom steps k-shift --machine fattree:4:4:4:4 --allocation nodes.txt
      topoloom steps 'k-shift(k=4)' --machine fattree:4:4:4 --allocate 50 \\
          --find routes -o order.txt
    """
    from topoloom._core import Allocation, Error, find_free_order, with_gaps
    from topoloom.allocations.allocation_file import save_allocation
    from topoloom.cli.console import print_facts, print_json
    from topoloom.machines.machine_file import load_described
    from topoloom.support.nearest import unknown_name
    from topoloom.tasks.problem import Where, choose_allocation

    if output is not None and find is None:
        raise Error("-o writes the order that --find finds; give both")
    if find is not None and find not in complete.MEETINGS:
        raise Error(unknown_name("kind of routes", find, complete.MEETINGS))
    the_machine, described = load_described(machine)
    where = choose_allocation(the_machine, described, Where(*allowed, seed))
    nodes = where.allocation.nodes.tolist()
    named = _named_steps(steps, len(nodes))
    found = [_judge(the_machine, name, step, nodes) for name, step in named]
    document = {
        "machine": the_machine.text,
        "ranks": len(nodes),
        "steps": [fact.document() for fact in found],
    }
    if find is not None:
        order, rounds, proven = find_free_order(
            the_machine, nodes, [step for _, step in named], find == "routes", seed=seed
        )
        document["found"] = {
            "on": find,
            "rounds": rounds,
            "fewest": proven,
            "nodes": order,
        }
        if find == "any-ascent" and steps in ("prefix", "pairwise"):
            document["gaps"] = with_gaps(the_machine, nodes)
        if output is not None:
            hosts = where.hosts and tuple(
                where.hosts[nodes.index(node)] for node in order
            )
            title = f"{len(order)} nodes, in order for {steps}"
            save_allocation(output, Allocation(the_machine, order), title, hosts)
    if as_json:
        print_json(document)
    else:
        _print(steps, the_machine, found, document)
        if output is not None:
            print_facts([("written", str(output))])


class _StepContention(NamedTuple):
    name: str
    rounds: int
    routes: Meetings
    ascent: Meetings | None  # of a fat tree

    @property
    def meets(self) -> bool:
        """Whether messages meet, or may on a fat tree."""
        return bool(self.routes.places or (self.ascent and self.ascent.places))

    def document(self) -> dict[str, Any]:
        """Say it in names and numbers."""
        facts: dict[str, Any] = {
            "step": self.name,
            "rounds": self.rounds,
            "links": self.routes.places,
            "most_on_routes": self.routes.most,
        }
        if self.ascent is not None:
            facts["subtrees"] = self.ascent.places
            facts["most_on_any_ascent"] = self.ascent.most
        return facts


def _judge(
    machine: Machine, name: str, step: Step, nodes: list[int]
) -> _StepContention:
    from topoloom._core import meetings_any_ascent, meetings_on_routes, tree_kinds

    is_fat_tree = "least-loaded" in tree_kinds(machine)
    ascent = meetings_any_ascent(machine, step, nodes) if is_fat_tree else None
    return _StepContention(
        name, step.rounds, meetings_on_routes(machine, step, nodes), ascent
    )


def _named_steps(what: str, ranks: int) -> list[tuple[str, Step]]:
    from topoloom._core import Step

    if what == "shift":
        return [(f"+{by}", Step.shift(ranks, by)) for by in range(1, ranks)]
    if what == "prefix":
        most = 1 << (ranks - 1).bit_length()
        return [(f"xor {by}", Step.prefix(ranks, by)) for by in range(1, most)]
    if what == "quarter":
        orders = list(permutations(range(4)))[1:]
        return [
            (" ".join(map(str, order)), Step.blocks(ranks, list(order)))
            for order in orders
        ]
    if Path(what).is_file():
        return [(what, _read_step(Path(what), ranks))]
    return [
        (_name(step, ranks, number), step)
        for number, step in enumerate(Step.of_schedule(what, ranks), start=1)
    ]


def _name(step: Step, ranks: int, number: int) -> str:
    """Name a step for what all of its messages do, or else by its number."""
    ways = {(to - start) % ranks for start, to in step.messages}
    if len(ways) == 1 and len(step.messages) == ranks:
        by = ways.pop()
        return f"+{by}" if 2 * by <= ranks else f"-{ranks - by}"
    exchanges = {to ^ start for start, to in step.messages}
    return f"xor {exchanges.pop()}" if len(exchanges) == 1 else f"step {number}"


def _read_step(path: Path, ranks: int) -> Step:
    from topoloom._core import Error, Step

    messages = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        good = len(words) == 2 and all(w.isascii() and w.isdigit() for w in words)
        if not good or any(int(word) >= ranks for word in words):
            raise Error(
                f"{path}:{number}: expected two ranks of 0 to {ranks - 1}, FROM TO, "
                f"not '{line.strip()[:40]}'"
            )
        messages.append((int(words[0]), int(words[1])))
    return Step(messages)


def _print(
    steps: str, machine: Machine, found: list[_StepContention], document: dict[str, Any]
) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.number_ranges import compress_ranges
    from topoloom.support.units import format_count

    met = [fact for fact in found if fact.meets]
    listed = (found if len(found) <= MAX_LISTED else met)[:MAX_LISTED]
    tree = found and found[0].ascent is not None
    columns = ["step", "rounds", "links", "most"] + (
        ["subtrees", "most"] if tree else []
    )
    rows = []
    for fact in listed:
        cells = [fact.name, str(fact.rounds)]
        for meetings in (fact.routes, fact.ascent):
            if meetings is not None:
                cells += [str(meetings.places), format_count(meetings.most)]
        rows.append(cells)
    title = f"{steps}, {document['ranks']} ranks on {machine.name}"
    print_facts([], title)
    print_table(columns, rows)
    facts = []
    if len(found) > MAX_LISTED:
        free = [number for number, fact in enumerate(found, 1) if not fact.meets]
        facts.append(
            ("meet nowhere", f"steps {compress_ranges(free)}" if free else "-")
        )
    if len(met) > len(listed):
        facts.append(("not listed", f"{len(met) - len(listed)} more that meet"))
    facts.append(("on the routes", _sum(found, [fact.routes for fact in found])))
    if tree:
        facts.append(("any ascent", _sum(found, [fact.ascent for fact in found])))
    if "found" in document:
        order = document["found"]
        proof = "; no order has fewer" if order["fewest"] else ""
        where = "on the routes" if order["on"] == "routes" else "any ascent"
        text = f"{where}: messages meet in {order['rounds']} rounds{proof}"
        facts.append(("order found", text))
    if "gaps" in document:
        positions = len(document["gaps"])
        rounds = (1 << (positions - 1).bit_length()) - 1
        facts.append(
            (
                "with gaps",
                f"{positions} positions: messages meet in none of {rounds} rounds",
            )
        )
    print_facts(facts)


def _sum(found: list[_StepContention], where: list[Any]) -> str:
    meet = [
        fact.rounds
        for fact, meetings in zip(found, where, strict=True)
        if meetings.places
    ]
    rounds = sum(fact.rounds for fact in found)
    return (
        f"messages meet in {len(meet)} of {len(found)} steps, "
        f"{sum(meet)} of {rounds} rounds"
    )
