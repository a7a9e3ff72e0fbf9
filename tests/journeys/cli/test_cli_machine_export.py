# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine export` invents no bandwidths, and reports what a file omits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topoloom import load_machine
from topoloom.machines.machine_writers import find_losses

if TYPE_CHECKING:
    from tests.conftest import Command

UNKNOWN = ["torus:4x4", "mesh:3x3", "tree:4:2", "hyperx:3x3", "graph:2:0-1"]
KNOWN = [f"{text},bandwidth=2GB/s" for text in UNKNOWN]
RATE = 12.5e9


@pytest.mark.parametrize("machine", [*UNKNOWN, *KNOWN])
def test_json_has_no_bandwidth_if_the_machine_has_none(
    topoloom: Command, machine: str
) -> None:
    facts = topoloom("machine", "show", machine, "--json").json
    is_known = machine in KNOWN
    for each in facts["bandwidths"]:
        assert each["bytes_per_second"] == (2e9 if is_known else None)
        assert ("relative" in each) != is_known
    assert facts["bisection"]["unit"] == ("B/s" if is_known else "links")


@pytest.mark.parametrize("machine", [*UNKNOWN, *KNOWN])
def test_simgrid_exports_report_the_assumed_rate(
    topoloom: Command, machine: str
) -> None:
    outcome = topoloom("machine", "export", machine, "-o", "m.xml")
    assert outcome.status == 0
    text = Path("m.xml").read_text()
    remark = "assumed: links of 12.5 GB/s (100 Gbit/s); the machine gives no bandwidths"
    assert (f"<!-- {remark} -->" in text) == (machine in UNKNOWN)
    assert (f"topoloom: m.xml: {remark}\n" in outcome.err) == (machine in UNKNOWN)
    rates = {float(rate) for rate in re.findall(r'(?:bw|bandwidth)="(\S+)Bps"', text)}
    without_limit = {1e18}  # bandwidth of links that model only latency
    assert rates - without_limit == {RATE if machine in UNKNOWN else 2e9}


def test_exports_name_their_omissions(
    topoloom: Command,
) -> None:
    machine = "torus:4x4,bandwidth=1GB/s,latency=1us+node:2"
    lines = {
        "m.graph": "latencies, node levels, routes",
        "m.tgt": "bandwidths, latencies",
    }
    for name, lost in lines.items():
        text = machine.removesuffix("+node:2") if name == "m.tgt" else machine
        outcome = topoloom("machine", "export", text, "-o", name)
        line = f"topoloom: {name} omits {lost}; a .toml file preserves all data\n"
        assert outcome.err == line
    assert topoloom("machine", "export", machine, "-o", "m.toml").err == ""
    assert (
        topoloom("machine", "export", "torus:4x4,bandwidth=1GB/s", "-o", "m.xml").err
        == ""
    )
    names = find_losses("m.xml", load_machine("torus:2"), ["a", "b"])
    assert names[0] == "m.xml omits host names; a .toml file preserves all data"


@pytest.mark.parametrize("name", ["p.graph", "p.mtx", "p.metis", "p"])
def test_patterns_are_written_as_npz_only(topoloom: Command, name: str) -> None:
    """Other formats would lose numbers of messages, directions or phases."""
    outcome = topoloom("pattern", "generate", "ring", "-n", 4, "-o", name)
    assert outcome.status == 2
    assert f"{name}: communication graphs are written as .npz" in outcome.err
    assert "message counts" in outcome.err
    assert not Path(name).exists()
