# SPDX-License-Identifier: BSD-3-Clause
"""Random Megatron-Core jobs: our groups and names compared with those of its wheels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from random import Random

from ai.megatron_core import REFUSALS, megatron_groups
from topoloom import Error
from topoloom.frameworks.framework_jobs import parse_framework
from topoloom.frameworks.megatron import AXES, MegatronJob

RELEASES = ("0.8.0", "0.12.3", "0.16.1")

#: Maximum ranks of a random job; Megatron takes 1 s for a thousand ranks.
MOST = 512


@dataclass
class ReleaseCounts:
    """Counts of the comparison with one release of Megatron-Core."""

    release: str
    jobs: int = 0
    names: int = 0
    groups: int = 0
    different: int = 0
    rejected: int = 0
    wrongly_refused: int = 0


def compare(release: str, settings: int, seed: int) -> ReleaseCounts:
    """Draw settings; check all offered names, and four other ones, with Megatron."""
    random = Random(seed)
    found = ReleaseCounts(release)
    while found.jobs < settings:
        sizes = {axis: random.choice((1, 1, 2, 2, 3, 4, 6, 8)) for axis in AXES}
        sizes["etp"] = sizes["tp"] if random.random() < 0.5 else random.choice((1, 2))
        if sizes["tp"] * sizes["cp"] * sizes["dp"] * sizes["pp"] > MOST:
            continue
        rules = parse_framework(f"megatron-{release}").release
        try:
            job = MegatronJob(**sizes, release=rules)
        except Error:
            # Megatron rejects every job that we reject, with any name.
            found.wrongly_refused += (
                _find_groups(release, sizes, "-".join(AXES)) is not None
            )
            continue
        found.jobs += 1
        offered = [layout.name for layout in job.layouts()]
        others = ["-".join(one) for one in random.sample(list(permutations(AXES)), 4)]
        for name in dict.fromkeys([*offered, *others]):
            _compare_layout(found, job, sizes, name, name in offered)
    return found


def _compare_layout(
    found: ReleaseCounts,
    job: MegatronJob,
    sizes: dict[str, int],
    name: str,
    offered: bool,
) -> None:
    theirs = _find_groups(found.release, sizes, name)
    try:
        layout = job.layout(name)
    except Error:
        found.wrongly_refused += theirs is not None
        return
    found.names += offered
    if theirs is None:
        found.rejected += 1
        return
    for axes, groups in theirs.items():
        found.groups += len(groups)
        ours = layout.groups(*axes).tolist()
        if ours != groups:
            found.different += len(groups)


def _find_groups(
    release: str, sizes: dict[str, int], name: str
) -> dict[tuple[str, ...], list[list[int]]] | None:
    if release == "0.8.0" and sizes["etp"] != sizes["tp"]:
        return None  # release 0.8.0 has no etp
    try:
        return megatron_groups(release, sizes, name)
    except REFUSALS:
        return None


def groups_table(rows: Sequence[ReleaseCounts]) -> str:
    """Format the comparison of groups as Markdown."""
    lines = [
        "| Megatron-Core | settings | names offered | groups compared | different "
        "| names it rejects | that we refuse wrongly |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.release} | {row.jobs:,} | {row.names:,} | {row.groups:,} "
        f"| {row.different} | {row.rejected} | {row.wrongly_refused} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
