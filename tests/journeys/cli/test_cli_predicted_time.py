# SPDX-License-Identifier: BSD-3-Clause
"""Predicted time on the command line: as the default objective, and as printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

TOLD = "torus:4x4,bandwidth=1GB/s+node:1,startup=0.5us,latency=0.5us"


@pytest.fixture(autouse=True)
def _write_pattern(topoloom: Command) -> None:
    topoloom(
        "pattern",
        "generate",
        "stencil2d",
        "--grid",
        "4x4",
        "--bytes",
        "1MB",
        "-o",
        "p.npz",
    )


def list_row_titles(printed: str) -> list[str]:
    """Return the row titles of the first table."""
    lines = [line.strip() for line in printed.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("──")) + 1
    rows = lines[start : lines.index("", start)]
    return [row.split("   ")[0] for row in rows]


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        ("torus:4x4", "hop-bytes: the machine gives no bandwidths"),
        (TOLD, "time: bandwidth-bound: links, NICs and memory are 100 % of"),
        ("frontier", "time: bandwidth-bound: links, NICs and memory are 9"),
    ],
)
@pytest.mark.parametrize("command", ["map", "compare"])
def test_a_line_names_the_chosen_objective_and_the_reason(
    topoloom: Command, command: str, machine: str, message: str
) -> None:
    words = [command, "p.npz", "-m", machine, "--nodes", 16, "--work", 10_000]
    if command == "compare":
        words += ["--mappers", "hilbert"]
    assert f"  {message}" in topoloom(*words).out
    assert message.startswith(topoloom(*words, "--json").json["objective"])
    named = topoloom(*words, "--objective", "hop-bytes").out
    assert "  objective  " not in named


def test_short_messages_are_placed_for_time_and_called_latency_bound(
    topoloom: Command,
) -> None:
    topoloom(
        "pattern", "generate", "stencil2d", "--grid", "4x4", "--bytes", 8, "-o", "s.npz"
    )
    printed = topoloom("map", "s.npz", "-m", TOLD).out
    # A rank sends 4 messages of 1 us each. 8 bytes take 8 ns on a link, and no link has
    # more than 4 messages.
    assert "  objective  time: latency-bound: startup and latency are" in printed


def test_the_predicted_time_equals_its_definition(topoloom: Command) -> None:
    """Each rank sends 1 MB in each of 4 directions over separate links."""
    found = topoloom("map", "p.npz", "-m", TOLD, "--json").json["values"]
    startup, route, transfer = 0.5e-6, 0.5e-6, 1e-3
    latest_sender = 4 * startup + route
    assert found["predicted_seconds"] == pytest.approx(latest_sender + transfer)
    assert next(iter(found)) == "predicted_seconds"
    assert found["inter_node_bytes"] == 64_000_000
    assert found["inter_node_max"] == 4_000_000


def test_tables_start_with_predicted_time_and_end_with_inter_node_bytes(
    topoloom: Command,
) -> None:
    topoloom("map", "p.npz", "-m", TOLD, "-o", "x.json")
    for words in (["map", "p.npz", "-m", TOLD], ["judge", "p.npz", "x.json"]):
        rows = list_row_titles(topoloom(*words).out)
        assert rows[0] == "predicted time"
        assert rows[-2:] == ["inter-node bytes", "busiest node"]
    untimed = list_row_titles(topoloom("map", "p.npz", "-m", "torus:4x4").out)
    assert untimed[0] == "hop-bytes"


@pytest.mark.parametrize(
    ("machine", "expected_bytes"), [("torus:4", 3000), ("rails:2:2:1", 2000)]
)
def test_the_busiest_node_counts_bytes_in_both_directions(
    topoloom: Command, machine: str, expected_bytes: int
) -> None:
    """In rail clusters a node is a GPU; two GPUs share a host."""
    Path("gather.mat").write_text("0 0 0 0\n" + "1000 0 0 0\n" * 3)
    judged = topoloom("judge", "gather.mat", "-m", machine, "--json").json
    assert judged["inter_node_max"] == expected_bytes


def test_increased_measures_are_marked(topoloom: Command) -> None:
    words = ["p.npz", "-m", "torus:2x2+node:4"]
    mapped = topoloom("map", *words, "--mapper", "random").out
    block = topoloom("judge", *words, "--json").json
    random = topoloom("map", *words, "--mapper", "random", "--json").json["values"]
    for row, name in (
        ("inter-node bytes", "inter_node_bytes"),
        ("busiest node", "inter_node_max"),
        ("dilation, maximum", "dilation_max"),
    ):
        line = next(line for line in mapped.splitlines() if row in line)
        assert ("(more)" in line) is (random[name] > block[name])
    assert random["inter_node_bytes"] > block["inter_node_bytes"]
    assert " ▲ " in topoloom("compare", *words, "--mappers", "random").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "torus:4x4", "--objective", "time"], "time needs bandwidths, and"),
        (["-m", "torus:4x4,bandwidth.x=5GB/s"], "give the bandwidth of all links"),
        (["-m", "tree:4:4,bandwidth=5GB/s:0"], "bandwidth"),
        (["-m", "torus:4x4,cards=0"], "cards"),
        (["-m", "frontier+node:8,memory=fast"], "memory"),
    ],
)
@pytest.mark.parametrize("command", ["map", "compare"])
def test_a_machine_without_times_is_refused_in_one_line(
    topoloom: Command, command: str, words: list[str], message: str
) -> None:
    refused = topoloom(command, "p.npz", *words)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.count("\n") == 1
    assert message in refused.err


def test_assumptions_about_a_machine_are_reported(topoloom: Command) -> None:
    machine = "torus:2x2,bandwidth=1GB/s+node:4"
    topoloom("map", "p.npz", "-m", machine, "-o", "x.json")
    for words in (
        ["map", "p.npz", "-m", machine],
        ["judge", "p.npz", "x.json"],
        ["compare", "p.npz", "-m", machine, "--mappers", "hilbert"],
        ["machine", "show", machine],
    ):
        printed = topoloom(*words).out
        assert printed.count("assumed: ") == 3
        assert "a message over the network takes its sender 0.5 us" in printed
        assert "read 200 GB/s from its memory" in printed
    assert len(topoloom("machine", "show", machine, "--json").json["remarks"]) == 3
    assert "assumed" not in topoloom("map", "p.npz", "-m", TOLD).out
    topoloom("report", "x.json", "-o", "r.html")
    assert (
        "a message inside a node takes its sender 0.3 us" in Path("r.html").read_text()
    )


def test_nodes_of_an_included_machine_can_be_replaced(topoloom: Command) -> None:
    topoloom("pattern", "generate", "stencil3d", "--grid", "4x4x4", "-o", "c.npz")
    words = ["c.npz", "-m", "frontier+node:8", "--nodes", 8, "--json"]
    found = topoloom("map", *words).json
    assert len({slot // 8 for slot in found["placement"]}) == 8
    # With two lines of 4 ranks or 2 x 2 x 2 ranks on a node, half of the bytes are
    # intra-node.
    assert found["values"]["inter_node_bytes"] == 64 * 6 * 1024 / 2
    words = [*words[:-3], "--work", 10_000, "--json", "--nodes", 16]
    spread = topoloom("map", *words).json
    assert len({slot // 8 for slot in spread["placement"]}) == 16
    packed = topoloom("map", *words, "--ranks-per-node", 8).json
    assert len({slot // 8 for slot in packed["placement"]}) == 8


def test_using_more_nodes_than_block_is_reported(topoloom: Command) -> None:
    words = ["p.npz", "-m", "torus:4x4,bandwidth=1GB/s+node:4", "--objective", "time"]
    used = {slot // 4 for slot in topoloom("map", *words, "--json").json["placement"]}
    line = f"  nodes    {len(used)}, where block fills 4; --allocation says which"
    assert len(used) > 4
    assert line in topoloom("map", *words).out
    assert "  nodes  " not in topoloom("map", *words, "--nodes", 4).out


def test_a_job_without_an_allocation_stays_on_few_nodes(topoloom: Command) -> None:
    words = ["p.npz", "-m", "torus:4x4,bandwidth=1GB/s+node:4"]
    assert "objective  hop-bytes: no nodes are allocated" in topoloom("map", *words).out
    slots = topoloom("map", *words, "--json").json["placement"]
    assert len({slot // 4 for slot in slots}) == 4


def test_nodes_of_a_router_are_two_hops_or_none_apart(topoloom: Command) -> None:
    topoloom("pattern", "generate", "ring", "-n", 2, "--bytes", 1000, "-o", "r.npz")
    hops = [
        topoloom("judge", "r.npz", "-m", machine, "--json").json["dilation_max"]
        for machine in ("torus:4x4,nodes=2", "torus:4x4,nodes=2,hosts=free")
    ]
    assert hops == [2, 0]
