# SPDX-License-Identifier: BSD-3-Clause
"""Messages on a machine's exported platform take the probed times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mpis import SIMGRID, need
from platforms import PLAIN, format_tree, write_launcher

if TYPE_CHECKING:
    from tests.conftest import Command

#: Latencies and bandwidths change above 2 and 64 KiB; overheads are constant.
FACTORS = {
    "smpi/send-is-detached-thresh": str(1 << 30),
    "smpi/lat-factor": "0:1;2065:2.2;65553:5",
    "smpi/bw-factor": "0:0.7;2065:1;65553:0.8",
    "smpi/or": "0:4e-7:0",
}


def run_probe(topoloom: Command, file: str, words: list[str]) -> Any:
    done = topoloom("machine", "probe", "-o", file, "--json", "--", *words)
    assert done.status == 0, done.err
    return done.json["models"]


def test_messages_of_every_level_and_size_take_as_long_on_the_export(
    topoloom: Command, tmp_path: Path
) -> None:
    hosts = [f"h{host}" for host in range(8)]
    words = write_launcher(tmp_path, format_tree([4, 4]), hosts, per_host=2)
    words = [word for word in words if "factor" not in word and "smpi/or" not in word]
    words += [f"--cfg={name}:{value}" for name, value in FACTORS.items()]
    planted = run_probe(topoloom, "m.toml", words)
    assert topoloom("machine", "export", "m.toml", "-o", "m.xml").status == 0

    names = [f"node-{host}.topoloom\n" for host in range(8) for _ in range(2)]
    Path("names").write_text("".join(names))
    measured = ("smpi/lat-factor", "smpi/bw-factor", "smpi/os", "smpi/or", "smpi/ois")
    settings = {k: v for k, v in PLAIN.items() if k not in measured}
    exported = run_probe(
        topoloom,
        "again.toml",
        [
            need(SIMGRID.mpirun, SIMGRID.install),
            *("-np", "16", "-platform", "m.xml", "-hostfile", "names"),
            *(f"--cfg={name}:{value}" for name, value in settings.items()),
            "--log=root.thresh:error",
        ],
    )
    assert [level["level"] for level in exported] == [
        "inside a host",
        "between hosts of a group",
        "between groups of level 1",
    ]
    for level, again in zip(planted, exported, strict=True):
        assert again["alone"]["sizes"] == level["alone"]["sizes"]
        assert again["alone"]["measured_seconds"] == pytest.approx(
            level["alone"]["measured_seconds"], rel=0.05
        ), level["level"]
