# SPDX-License-Identifier: BSD-3-Clause
"""Chooses pairs that are measured concurrently."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from topoloom.probe.concurrent_pairs import choose_concurrent_pairs
from topoloom.probe.findings import Findings
from topoloom.probe.inference.groups import ALL, GROUP, HOST, RankGroup
from topoloom.probe.inference.suspects import LATENCY, Suspect
from topoloom.probe.job.samples import ProbeSamples, RankPlace

PARTS, HOSTS = 2, 4  # parts per group, hosts per part


def _join_groups(kind: str, groups: list[RankGroup]) -> RankGroup:
    return RankGroup(kind, tuple(r for g in groups for r in g.ranks), tuple(groups))


def _make_findings(groups: int, suspects: list[Suspect]) -> Findings:
    """Build findings from suspects and groups of hosts, with one rank per host."""
    ranks = iter(range(groups * PARTS * HOSTS))
    root = _join_groups(
        ALL,
        [
            _join_groups(
                GROUP,
                [
                    _join_groups(
                        GROUP, [RankGroup(HOST, (next(ranks),)) for _ in range(HOSTS)]
                    )
                    for _ in range(PARTS)
                ],
            )
            for _ in range(groups)
        ],
    )
    count = len(root.ranks)
    names = [f"h{n}" for n in range(count)]
    samples = ProbeSamples([RankPlace(name, "", "MPI") for name in names])
    costs = np.ones((count, count))
    found = Findings(samples, names, list(range(count)), costs, root, [])
    found.suspects = suspects
    return found


@given(st.integers(2, 4), st.data())
def test_concurrent_pairs_are_from_different_parts(
    groups: int, data: st.DataObject
) -> None:
    host = st.integers(0, groups * PARTS * HOSTS - 1)
    slow = data.draw(st.sets(host, max_size=2))
    ends = data.draw(st.tuples(host, host).filter(lambda pair: pair[0] != pair[1]))
    suspects = [Suspect("host", (n,), LATENCY, 1.2, 8) for n in slow]
    suspects.append(Suspect("link", ends, LATENCY, 1.2, 8))
    found = _make_findings(groups, suspects)
    for chosen in choose_concurrent_pairs(found):
        assert not any(found.slow_pairs.contains(*pair) for pair in chosen.pairs)
        first, second = chosen.pairs[0]
        within = HOSTS if first // (PARTS * HOSTS) != second // (PARTS * HOSTS) else 1
        for side in zip(*chosen.pairs[: chosen.common], strict=True):
            assert len({rank // within for rank in side}) == chosen.common
