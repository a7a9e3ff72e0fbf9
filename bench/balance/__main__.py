# SPDX-License-Identifier: BSD-3-Clause
"""Checks and times balancers, and compares near partners with other methods."""

from __future__ import annotations

import argparse
import math
from itertools import product

import numpy as np

from balance import (
    crossing,
    decisions,
    exactness,
    near,
    optimality,
    real,
    repartitions,
    scattered,
    simulated,
)
from topoloom.cli.console import print_table


def main() -> None:
    """Run the command line; `--quick` takes one minute."""
    parser = argparse.ArgumentParser("balance", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="measure a part of each table"
    )
    parser.add_argument(
        "--only",
        choices=list(PARTS),
        action="append",
        help="only this table; can be repeated",
    )
    args = parser.parse_args()
    for name, part in PARTS.items():
        if not args.only or name in args.only:
            part(args.quick)


def _print_exactness(quick: bool) -> None:
    rows = [
        [
            kept.method,
            f"{kept.loads:,}",
            f"{kept.draws:,}",
            f"k-{kept.below}..k",
            f"k-{kept.least}",
            str(kept.broken),
        ]
        for kept in exactness.check(20 if quick else 1)
    ]
    columns = ["", "loads", "draws", "promised", "lowest", "broken"]
    print_table(columns, rows, title="Where loads end, of 2 to 1,000,000 ranks")


def _print_optimality(quick: bool) -> None:
    rows = []
    for ranks in range(2, 9 if quick else 13):
        found = optimality.search(ranks, 20 if quick or ranks > 10 else 200)
        rows.append(
            [
                str(ranks),
                str(found.draws),
                str(found.receives),
                str(found.largest),
                f"{found.ratio:.2f}",
                f"{found.worst:.2f}",
                f"{found.exact:.2f}",
            ]
        )
    columns = ["ranks", "draws", "receives optimal", "largest message optimal"]
    columns += ["messages / fewest", "at most", "remainder=exact"]
    print_table(columns, rows, title="The alias method beside exact search", left=0)


def _print_near(quick: bool) -> None:
    rows = []
    kinds = (near.WALKERS,) if quick else (near.WALKERS, near.CLOUD)
    machines = list(near.MACHINES)[:: 3 if quick else 1]
    for kind, machine, ragged in product(kinds, machines, (False, True)):
        case = near.measure(machine, ragged, kind, 2 if quick else 5)
        ours, alias = case.by_method["auto"], case.by_method["alias"]
        rows.append(
            [
                machine,
                case.allocation,
                kind,
                f"{case.ranks:,}",
                *(f"{case.over(method, 'alias'):.3f}" for method in near.METHODS[1:]),
                f"{case.over('auto', 'qwalk'):.2f}",
                f"{case.messages('auto'):.2f}",
                str(ours.receives),
                f"{ours.busiest / alias.busiest:.2f}",
            ]
        )
    columns = ["machine", "nodes", "loads", "ranks", *near.METHODS[1:]]
    columns += ["auto / qwalk", "messages / alias", "receives", "busiest link / alias"]
    print_table(columns, rows, title="Hop-bytes over the alias method's", left=3)


def _print_decisions(quick: bool) -> None:
    rows = [
        [one.method, one.machine, f"{one.ranks:,}", f"{1e3 * one.seconds:.2f} ms"]
        for one in decisions.decide(3 if quick else 15)
    ]
    title = "Decisions on one core: processor time, the least of several"
    print_table(["", "machine", "ranks", "time"], rows, title=title, left=2)


def _print_simulated(quick: bool) -> None:
    rows = []
    for ranks in simulated.DECIDED[: 1 if quick else None]:
        found = simulated.time_decisions(ranks)
        rows.append(
            [
                f"{ranks:,}",
                _format_microseconds(found.gathered),
                _format_microseconds(found.by_messages),
            ]
        )
    title = "Messages of a decision in SimGrid's MPI, us"
    print_table(["ranks", "allgather", "by messages"], rows, title=title, left=0)
    walks = [
        simulated.time_walks(*of) for of in simulated.WALKS[: 1 if quick else None]
    ]
    title = "Diffusion Monte Carlo in SimGrid's MPI: balancing per step, us"
    _print_walks(walks, title)
    walks = [
        simulated.time_drawn(*of) for of in simulated.DRAWN[: 1 if quick else None]
    ]
    _print_walks(walks, "The same of drawn loads")


def _print_crossing(quick: bool) -> None:
    message_us = crossing.time_message()
    rows = []
    for ranks in crossing.FEW if quick else crossing.RANKS:
        found = crossing.time_both(ranks)
        times = [
            _format_microseconds(found.gathered),
            _format_microseconds(found.by_messages),
        ]
        rows.append([f"{ranks:,}", *times, str(found.messages)])
    columns = ["ranks", "allgather", "by messages", "messages of a rank"]
    print_table(columns, rows, title="Decisions on a slow network, us", left=0)
    predicted = crossing.predict(message_us)
    print(
        f"a message takes {message_us:.1f} us; predicted: from {predicted:,} ranks on"
    )


def _print_real(quick: bool) -> None:
    few = 1 if quick else None
    rows = [
        [str(of.ranks), f"{of.walkers:,}", f"{of.least:.2f} to {of.most:.2f} %"]
        for of in real.time_shares(real.RANKS[:few], real.WALKERS[:few])
    ]
    title = "Balancing of diffusion Monte Carlo on real ranks: of the processor time"
    print_table(["ranks", "walkers per rank", "balancing"], rows, title=title, left=0)


def _print_scattered(quick: bool) -> None:
    cases = [scattered.FEW] if quick else scattered.CASES
    walks = [scattered.time_scattered(*case) for case in cases]
    _print_walks(walks, "Steps of drawn loads on scattered nodes of a torus, us")


def _print_walks(walks: list[simulated.Walk], title: str) -> None:
    rows = [
        [
            f"{walk.ranks:,}",
            f"{walk.task_bytes:,}",
            *map(_format_microseconds, walk.balancing.values()),
        ]
        for walk in walks
    ]
    columns = ["ranks", "bytes of a task", *walks[0].balancing]
    print_table(columns, rows, title=title, left=0)


def _format_microseconds(time: float) -> str:
    return "did not end" if math.isnan(time) else f"{time:.1f}"


def _print_repartitions(quick: bool) -> None:
    found = repartitions.compare(1 if quick else repartitions.SEEDS)
    names = list(found[0][1])
    tables: dict[str, list[list[str]]] = {
        "Bytes cut and moved: ours over theirs, the mean and the most": [],
        "The busiest rank of all steps, over the mean": [],
        "Bytes moved over the bound, the most of any sequence": [],
        f"Seconds of {repartitions.STEPS} steps, with the measuring": [],
    }
    for kind in dict.fromkeys(tasks.kind for tasks, _ in found):
        runs = [by_name for tasks, by_name in found if tasks.kind == kind]
        over = {
            name: [one["ours"].cost / one[name].cost for one in runs] for name in names
        }
        cells = (
            [f"{np.mean(one):.3f}, {max(one):.3f}" for one in over.values()],
            [f"{max(one[name].imbalance for one in runs):.4f}" for name in names],
            [f"{max(one[name].moved for one in runs):.2f}" for name in names],
            [f"{np.mean([one[name].seconds for one in runs]):.2f}" for name in names],
        )
        for rows, row in zip(tables.values(), cells, strict=True):
            rows.append([f"{kind}, {len(runs)} sequences", *row])
    for title, rows in tables.items():
        print_table(["", *names], rows, title=title)


PARTS = {
    "exactness": _print_exactness,
    "optimality": _print_optimality,
    "near": _print_near,
    "decisions": _print_decisions,
    "simulated": _print_simulated,
    "crossing": _print_crossing,
    "scattered": _print_scattered,
    "real": _print_real,
    "repartitions": _print_repartitions,
}

if __name__ == "__main__":
    main()
