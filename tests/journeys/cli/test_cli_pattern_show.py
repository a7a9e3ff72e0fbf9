# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom pattern show` sums up a graph and draws its matrix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

PROGRAM = """\
HloModule jit_step, num_partitions=4

ENTRY %main (p: f32[1024]) -> f32[1024] {
  ROOT %a = f32[1024]{0} all-reduce(%p), channel_id=1, replica_groups=[1,4]<=[4], \
use_global_device_ids=true, to_apply=%add
}
"""


def test_bytes_per_rank_and_heaviest_pairs_are_shown(topoloom: Command) -> None:
    Path("m.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer general\n3 3 3\n"
        "1 2 100\n1 3 2048\n3 1 50\n"
    )
    shown = topoloom("pattern", "show", "m.mtx", "--json").json
    assert shown["sent_per_rank"] == {"min": 0, "mean": 2198 / 3, "max": 2148}
    assert shown["received_per_rank"] == {"min": 50, "mean": 2198 / 3, "max": 2048}
    pairs = [(p["source"], p["target"], p["bytes"]) for p in shown["heaviest_pairs"]]
    assert pairs == [(0, 2, 2048), (0, 1, 100), (2, 0, 50)]
    printed = topoloom("pattern", "show", "m.mtx", "--figure", "m.svg").out
    assert "sent per rank      0 B to 2.1 KiB, 732.7 B on average" in printed
    assert Path("m.svg").read_text().count("<svg") == 1


@pytest.mark.parametrize(
    ("collectives", "said"),
    [
        ("expand", "1 allreduce; also in the edges"),
        ("keep", "1 allreduce; not in the edges"),
        ("drop", "none stored"),
    ],
)
def test_stored_collectives_are_shown(
    topoloom: Command, collectives: str, said: str
) -> None:
    Path("step.hlo").write_text(PROGRAM)
    words = ("--collectives", collectives, "-o", "p.npz")
    topoloom("pattern", "import", "step.hlo", *words)
    assert f"collectives        {said}\n" in topoloom("pattern", "show", "p.npz").out


def test_a_trace_is_shown_as_its_import(topoloom: Command) -> None:
    Path("step.hlo").write_text(PROGRAM)
    topoloom("pattern", "import", "step.hlo", "-o", "p.npz")
    shown = topoloom("pattern", "show", "step.hlo", "--json").json
    assert (
        shown["ranks"] == topoloom("pattern", "show", "p.npz", "--json").json["ranks"]
    )
