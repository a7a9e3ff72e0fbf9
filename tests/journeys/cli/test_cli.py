# SPDX-License-Identifier: BSD-3-Clause
"""Typical uses of all commands, each also with --json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

MEASURES = {
    "hop_bytes",
    "hops_per_byte",
    "dilation_average",
    "dilation_max",
    "traffic_average",
    "congestion_max",
    "inter_node_bytes",
    "inter_node_max",
}


def write_stencil(topoloom: Command, grid: str = "4x4x4") -> None:
    made = topoloom(
        "pattern",
        "generate",
        "stencil3d",
        "--grid",
        grid,
        "--bytes",
        1024,
        "-o",
        "p.npz",
    )
    assert made.status == 0, made.err


def test_a_stencil_is_written_and_summarized(topoloom: Command) -> None:
    outcome = topoloom(
        "pattern",
        "generate",
        "stencil3d",
        "--grid",
        "8x8x8",
        "--bytes",
        "1024",
        "-o",
        "p.npz",
    )
    assert outcome.status == 0
    assert outcome.err == ""
    assert "512" in outcome.out
    assert "3,072" in outcome.out
    shown = topoloom("pattern", "show", "p.npz", "--json").json
    assert shown["ranks"] == 512
    assert shown["edges"] == 3072
    assert shown["bytes"] == 3072 * 1024
    assert shown["heaviest_pairs"][0]["bytes"] == 1024
    assert shown["sent_per_rank"] == {"min": 6144, "mean": 6144.0, "max": 6144}


@pytest.mark.parametrize(
    ("words", "ranks", "edges"),
    [
        (["stencil2d", "--grid", "4x4"], 16, 64),
        (["stencil2d", "--grid", "4x4", "--open"], 16, 48),
        (["stencil27", "--grid", "3x3x3"], 27, 27 * 26),
        (["stencil", "--grid", "3x3x3x3"], 81, 81 * 8),
        (["ring", "--ranks", "5"], 5, 5),
        (["recursive-doubling", "--ranks", "8"], 8, 24),
        (["bruck", "--ranks", "8"], 8, 24),
        (["binomial", "--ranks", "8"], 8, 7),
        (["alltoall", "--ranks", "6"], 6, 30),
    ],
)
def test_every_pattern_has_the_number_of_edges_counted_by_hand(
    topoloom: Command, words: list[str], ranks: int, edges: int
) -> None:
    made = topoloom("pattern", "generate", *words, "--bytes", "1KiB", "--json").json
    assert (made["ranks"], made["edges"]) == (ranks, edges)


def test_a_random_pattern_depends_only_on_its_seed(topoloom: Command) -> None:
    words = [
        "pattern",
        "generate",
        "random-geometric",
        "--ranks",
        100,
        "--average-degree",
        6,
        "--seed",
    ]
    assert topoloom(*words, 3, "--json").out == topoloom(*words, 3, "--json").out
    assert topoloom(*words, 3, "--json").out != topoloom(*words, 4, "--json").out


def test_a_placement_records_its_inputs(topoloom: Command) -> None:
    write_stencil(topoloom)
    outcome = topoloom(
        "map", "p.npz", "--machine", "torus:4x4x4", "--mapper", "gge+swap", "--seed", 1,
        "-o", "x.json",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert "written" in outcome.out
    document = json.loads(Path("x.json").read_text())
    assert document["format"] == "topoloom-placement"
    assert document["machine"] == "torus:4x4x4"
    assert document["allocation"]["nodes"] == list(range(64))
    assert sorted(document["placement"]) == list(range(64))
    assert document["mapper"] == "gge+swap"
    assert document["seed"] == 1
    assert document["work"] >= 0
    assert document["topoloom"]
    assert set(document["values"]) == MEASURES


def test_a_judgement_in_json_has_the_specified_keys(topoloom: Command) -> None:
    write_stencil(topoloom)
    topoloom(
        "map", "p.npz", "--machine", "torus:4x4x4", "--mapper", "block", "-o", "x.json"
    )
    judged = topoloom("judge", "p.npz", "x.json", "--json").json
    assert set(judged) >= MEASURES
    # In grid order on a torus of the same shape, every message crosses one link.
    assert judged["hop_bytes"] == 64 * 6 * 1024
    assert judged["hops_per_byte"] == 1
    assert judged["dilation_average"] == 1
    assert judged["dilation_max"] == 1
    assert judged["congestion_max"] == 1024
    assert judged["inter_node_bytes"] == 64 * 6 * 1024
    assert judged["inter_node_max"] == 6 * 1024
    assert len(judged["hottest_links"]) == 10
    document = json.loads(Path("x.json").read_text())
    assert document["values"]["hop_bytes"] == judged["hop_bytes"]


def test_judge_without_a_placement_uses_the_launcher_order(topoloom: Command) -> None:
    write_stencil(topoloom)
    judged = topoloom("judge", "p.npz", "--machine", "torus:4x4x4", "--json").json
    assert judged["mapper"] == "block"
    assert judged["hops_per_byte"] == 1
    shown = topoloom("judge", "p.npz", "--machine", "torus:4x4x4")
    assert "hop-bytes" in shown.out
    assert "hottest links" in shown.out


def test_a_comparison_names_the_launcher_order_and_marks_the_best(
    topoloom: Command,
) -> None:
    write_stencil(topoloom)
    topoloom("allocate", "--machine", "torus:6x6x6", "--nodes", 64, "-o", "a.txt")
    words = ["compare", "p.npz", "--machine", "torus:6x6x6", "--allocation", "a.txt"]
    mappers = "block,random,hilbert,gge,mahd,mahd+swap"
    shown = topoloom(*words, "--mappers", mappers)
    assert shown.status == 0, shown.err
    assert "block (default)" in shown.out
    assert shown.out.count("best") == 1
    table = topoloom(*words, "--mappers", mappers, "--json").json
    assert [row["mapper"] for row in table["results"]] == mappers.split(",")
    best = min(table["results"], key=lambda row: row["hop_bytes"])
    assert best["mapper"] == table["best"] == "mahd+swap"
    block = table["results"][0]
    assert block["gain_percent"] == 0
    for row in table["results"]:
        gain = 100 * (block["hop_bytes"] - row["hop_bytes"]) / block["hop_bytes"]
        assert row["gain_percent"] == pytest.approx(gain)
        assert set(row) >= MEASURES


def test_the_launcher_order_is_always_compared(topoloom: Command) -> None:
    write_stencil(topoloom)
    table = topoloom(
        "compare", "p.npz", "-m", "torus:4x4x4", "--mappers", "gge", "--json"
    )
    assert [row["mapper"] for row in table.json["results"]] == ["block", "gge"]


def test_an_allocation_can_be_generated_by_map(topoloom: Command) -> None:
    write_stencil(topoloom)
    words = ["--nodes", 64, "--fragments", 9, "--seed", 1]
    machine = ["--machine", "torus:8x8x8"]
    assert topoloom("map", "p.npz", *machine, *words, "-o", "x.json").status == 0
    nodes = json.loads(Path("x.json").read_text())["allocation"]["nodes"]
    made = topoloom(
        "allocate", *machine, "--nodes", 64, "--fragments", 9, "--seed", 1, "--json"
    ).json
    assert nodes == made["nodes"]
    assert len(set(nodes)) == 64
    assert topoloom("judge", "p.npz", *machine, *words, "--json").json["nodes"] == 64
    assert (
        topoloom("compare", "p.npz", *machine, *words, "--mappers", "gge").status == 0
    )


def test_a_placement_keeps_host_names(topoloom: Command) -> None:
    write_stencil(topoloom)
    topoloom("map", "p.npz", "-m", "torus:8x8", "-a", "n[00-63]", "-o", "x.json")
    document = json.loads(Path("x.json").read_text())
    assert document["allocation"]["hosts"] == [f"n{i:02d}" for i in range(64)]


def test_equal_seeds_give_equal_placements_for_any_number_of_threads(
    topoloom: Command,
) -> None:
    write_stencil(topoloom)
    words = ["map", "p.npz", "-m", "torus:9x9", "--mapper", "random+swap", "--json"]
    one, two = (topoloom(*words, "--threads", n).json for n in (1, 2))
    assert one.pop("command") != two.pop("command")
    assert one == two
    assert topoloom(*words, "--seed", 2).json["placement"] != one["placement"]


def test_budgets_in_work_and_time_are_respected(topoloom: Command) -> None:
    write_stencil(topoloom, "8x8x8")
    words = ["map", "p.npz", "-m", "torus:8x8x8", "--mapper", "random+swap", "--json"]
    full = topoloom(*words).json
    little = topoloom(*words, "--work", 1000).json
    assert little["work"] < full["work"]
    assert little["values"]["hop_bytes"] >= full["values"]["hop_bytes"]
    assert little == topoloom(*words, "--work", 1000).json
    assert topoloom(*words, "--time", "10s").status == 0


def test_machines_are_shown_and_described(topoloom: Command) -> None:
    shown = topoloom("machine", "show", "torus:8x8x8", "--json").json
    assert shown["nodes"] == 512
    assert shown["links"] == 512 * 6
    assert shown["shape"] == [8, 8, 8]
    assert shown["diameter"] == 12
    topoloom("machine", "export", "torus:8x8x8", "-o", "m.toml")
    again = topoloom("machine", "show", "m.toml", "--json").json
    assert again == {"name": "8x8x8 torus", **shown}
    for machine in ("mesh:4x4", "tree:4:8:2,distance=1:10:100", "hopper"):
        outcome = topoloom("machine", "show", machine)
        assert outcome.status == 0, outcome.err
        assert "nodes" in outcome.out


def test_machines_are_exported_and_read_back(topoloom: Command) -> None:
    for name in ("m.tgt", "m.xml", "m.graph"):
        written = topoloom("machine", "export", "torus:4x3", "-o", name)
        assert written.status == 0, written.err
        assert topoloom("machine", "show", name, "--json").json["nodes"] == 12
    refused = topoloom("machine", "export", "torus:4x3", "-o", "m.txt")
    assert refused.status == 2
    assert refused.err.count("\n") == 1


KINDS = [
    "mappers",
    "plans",
    "balancers",
    "schedules",
    "patterns",
    "bus-assignments",
    "topologies",
    "machines",
    "models",
    "switches",
    "traffic-patterns",
    "injections",
    "formats",
    "exports",
]


@pytest.mark.parametrize("kind", KINDS)
def test_lists_name_every_entry(topoloom: Command, kind: str) -> None:
    entries = topoloom("list", kind, "--json").json[kind.replace("-", "_")]
    shown = topoloom("list", kind)
    assert shown.status == 0
    for entry in entries:
        assert entry["summary"]
        assert entry["name"] in shown.out


def test_list_without_an_argument_prints_all_kinds(topoloom: Command) -> None:
    keys = [kind.replace("-", "_") for kind in KINDS]
    assert list(topoloom("list", "--json").json) == keys


def test_graphs_are_read_from_every_format(topoloom: Command) -> None:
    Path("m.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 7\n"
    )
    Path("g.graph").write_text("2 1 1\n2 7\n1 7\n")
    Path("d.txt").write_text("0 7\n0 0\n")
    Path("o.prof").write_text("E\t0\t1\t7 bytes\t1 msgs sent\n")
    for file in ("m.mtx", "g.graph", "d.txt", "o.prof"):
        imported = topoloom("pattern", "import", file, "-o", "g.npz", "--json")
        assert imported.status == 0, imported.err
        assert imported.json["ranks"] == 2
        with np.load("g.npz") as archive:
            assert archive["data"][0] == 7
        assert topoloom("map", file, "-m", "torus:2").status == 0


def test_map_reports_if_the_launcher_order_is_better(topoloom: Command) -> None:
    topoloom("pattern", "generate", "stencil2d", "--grid", "8x8", "-o", "p.npz")
    done = topoloom("map", "p.npz", "-m", "torus:8x8", "--mapper", "random")
    assert done.status == 0
    expected = "the launcher's order has fewer hop-bytes; leave out --mapper"
    assert expected in done.err
