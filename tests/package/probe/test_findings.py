# SPDX-License-Identifier: BSD-3-Clause
"""Programs can read the JSON of probe results."""

from __future__ import annotations

import json

import numpy as np
import pytest

from topoloom.probe.job.samples import Exchange, Order, ProbeSamples, RankPlace
from topoloom.probe.scan_inference import infer_findings


@pytest.mark.parametrize(
    "sizes", [[1, 3], [1, 1, 4], [2, 1, 2, 3], [1, 4, 4], [1, 1, 5, 5]]
)
def test_findings_with_single_hosts_are_valid_json(sizes: list[int]) -> None:
    group = np.repeat(np.arange(len(sizes)), sizes)
    places = [RankPlace(f"h{host}", "", "MPI") for host in range(len(group))]
    samples = ProbeSamples(places, [Order("circle", "echo", [512], 1, "0 1")])
    for a in range(len(group)):
        for b in range(a):
            seconds = 1e-6 if group[a] == group[b] else 2e-6
            samples.exchanges.append(
                Exchange(0, "circle", "echo", 512, 1, a, b, np.full(5, seconds))
            )
    found = infer_findings(samples).document()
    json.dumps(found, allow_nan=False)
    if sizes.count(1) < len(sizes) - 1:
        groups = [sorted(map(int, np.flatnonzero(group == n))) for n in set(group)]
        assert sorted(found["groups"]) == groups
