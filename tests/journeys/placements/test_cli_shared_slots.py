# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that share slots, and efforts, on the command line."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

ROWS, COLUMNS = 24, 16
RANKS = ROWS * COLUMNS
SLOTS = 64
TREE = "tree:4:8:2,distance=1:10:100"
TORUS = "torus:4x4x4"


def make_grid_edges() -> dict[tuple[int, int], int]:
    """Map the edges (i, j), i < j, of a grid to bytes; adjacent edges differ."""
    grid = {}
    for i in range(ROWS):
        for j in range(COLUMNS):
            if i + 1 < ROWS:
                grid[i * COLUMNS + j, (i + 1) * COLUMNS + j] = 1 + (i + j) % 5
            if j + 1 < COLUMNS:
                grid[i * COLUMNS + j, i * COLUMNS + j + 1] = 1 + (i * j) % 3
    return grid


def write_mesh(loads: list[int] | None = None) -> None:
    """Write the grid in METIS format, with or without loads."""
    near: list[list[str]] = [[] for _ in range(RANKS)]
    for (i, j), weight in make_grid_edges().items():
        near[i].append(f"{j + 1} {weight}")
        near[j].append(f"{i + 1} {weight}")
    head = f"{RANKS} {len(make_grid_edges())} {'1' if loads is None else '11'}"
    rows = [" ".join(row) for row in near]
    if loads is not None:
        rows = [f"{load} {row}" for load, row in zip(loads, rows, strict=True)]
    Path("g.graph").write_text("\n".join([head, *rows]) + "\n")


def get_tree_distance(a: int, b: int) -> int:
    if a == b:
        return 0
    if a // 4 == b // 4:
        return 1
    return 10 if a // 32 == b // 32 else 100


def get_torus_distance(a: int, b: int) -> int:
    steps = [abs(a // d % 4 - b // d % 4) for d in (1, 4, 16)]
    return sum(min(step, 4 - step) for step in steps)


DISTANCE = {TREE: get_tree_distance, TORUS: get_torus_distance}


def compute_hop_bytes(machine: str, slots: list[int]) -> int:
    distance = DISTANCE[machine]
    return sum(
        2 * w * distance(slots[i], slots[j]) for (i, j), w in make_grid_edges().items()
    )


def map_grid(topoloom: Command, *words: object) -> dict[str, Any]:
    outcome = topoloom("map", "g.graph", *words, "-o", "x.json")
    assert outcome.status == 0, outcome.err
    document: dict[str, Any] = json.loads(Path("x.json").read_text())
    return document


@pytest.mark.parametrize("machine", DISTANCE)
def test_ranks_share_slots_within_the_imbalance(
    topoloom: Command, machine: str
) -> None:
    write_mesh()
    document = map_grid(
        topoloom, "--machine", machine, "--imbalance", 0.03, "--effort", "fast",
        "--seed", 1,
    )  # fmt: skip
    assert document["shared"] is True
    assert document["mapper"] == "auto(effort=fast)"
    fullest = max(Counter(document["placement"]).values())
    assert fullest <= math.floor(1.03 * math.ceil(RANKS / SLOTS))
    judged = topoloom("judge", "g.graph", "x.json", "--json").json
    assert judged["load_max"] == fullest
    assert judged["hop_bytes"] == compute_hop_bytes(machine, document["placement"])
    assert judged["hop_bytes"] < compute_hop_bytes(
        machine, [i // 6 for i in range(RANKS)]
    )
    assert judged["hop_bytes"] == document["values"]["hop_bytes"]
    shown = topoloom("judge", "g.graph", "x.json")
    assert "slot load, maximum" in shown.out


@pytest.mark.parametrize("machine", DISTANCE)
def test_placements_on_shared_slots_do_not_depend_on_threads(
    topoloom: Command, machine: str
) -> None:
    write_mesh()
    words = ["-m", machine, "--imbalance", 0.03, "--seed", 1]
    made = [map_grid(topoloom, *words, "--threads", threads) for threads in (1, 2, 3)]
    assert len({tuple(one.pop("command")) for one in made}) == 3
    assert made[0] == made[1] == made[2]


def test_more_effort_is_never_worse(topoloom: Command) -> None:
    write_mesh()
    words = ["-m", TREE, "--imbalance", 0.03]
    values = [
        map_grid(topoloom, *words, "--effort", effort)["values"]["hop_bytes"]
        for effort in ("fast", "default", "best")
    ]
    assert all(a >= b for a, b in pairwise(values)), values


def test_the_default_effort_equals_the_explicit_option(topoloom: Command) -> None:
    write_mesh()
    plain = map_grid(topoloom, "-m", TREE, "--imbalance", 0.03)
    placed = map_grid(topoloom, "-m", TREE, "--imbalance", 0.03, "--effort", "default")
    assert plain["placement"] == placed["placement"]


def test_loads_of_ranks_respect_the_imbalance(topoloom: Command) -> None:
    loads = [1 + i % 7 for i in range(RANKS)]
    write_mesh(loads)
    document = map_grid(topoloom, "-m", TREE, "--imbalance", 0.1, "--effort", "fast")
    held = Counter[int]()
    for slot, load in zip(document["placement"], loads, strict=True):
        held[slot] += load
    assert max(held.values()) <= math.floor(1.1 * math.ceil(sum(loads) / SLOTS))
    judged = topoloom("judge", "g.graph", "x.json", "--json").json
    assert judged["load_max"] == max(held.values())


def test_an_imbalance_of_0_fills_every_slot_equally(topoloom: Command) -> None:
    write_mesh()
    document = map_grid(topoloom, "-m", TORUS, "--imbalance", 0, "--effort", "fast")
    assert Counter(document["placement"]) == {
        slot: RANKS // SLOTS for slot in range(SLOTS)
    }


def test_every_slot_respects_its_capacity(topoloom: Command) -> None:
    write_mesh()
    capacities = [3 + 7 * (slot % 2) for slot in range(SLOTS)]
    Path("capacities.txt").write_text("\n".join(map(str, capacities)) + "\n")
    words = ["-m", TORUS, "--effort", "fast"]
    document = map_grid(topoloom, *words, "--capacities", "capacities.txt")
    held = Counter(document["placement"])
    assert all(held[slot] <= capacities[slot] for slot in range(SLOTS))
    judged = topoloom("judge", "g.graph", "x.json", "--json").json
    assert judged["hop_bytes"] == compute_hop_bytes(TORUS, document["placement"])


def test_the_steps_of_auto_can_be_run_separately(topoloom: Command) -> None:
    write_mesh()
    words = ["-m", TREE, "--imbalance", 0.03, "--mapper"]
    first = map_grid(topoloom, *words, "multisection")["values"]
    then = map_grid(topoloom, *words, "multisection+refine(cycles=2)")["values"]
    assert then["hop_bytes"] <= first["hop_bytes"]
    assert then["load_max"] <= math.floor(1.03 * math.ceil(RANKS / SLOTS))


def run_refused(topoloom: Command, *words: object) -> str:
    outcome = topoloom(*words)
    assert outcome.status == 2, outcome
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("topoloom: ")
    assert not Path("out").exists()
    return outcome.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "pass --imbalance 0 to let ranks share slots"),
        (["--imbalance", "-0.1"], "--imbalance must be 0 or more, not -0.1"),
        (["--imbalance", "nan"], "--imbalance must be a number"),
        (["--imbalance", "inf"], "--imbalance must be a number"),
        (["--imbalance", "3%"], "--imbalance"),
        (["--imbalance", "0", "--effort", "fats"], "fast"),
        (["--imbalance", "0", "--effort", ""], "effort"),
        (
            ["--imbalance", "0", "--mapper", "multisection", "--effort", "fast"],
            "--effort is for the mapper auto, not for 'multisection'",
        ),
        (["--imbalance", "0", "--mapper", "gge"], "'gge' gives each rank a slot"),
        (["--imbalance", "0", "--mapper", "block+swap"], "'swap' gives each rank"),
        (["--imbalance", "0", "--capacities", "six.txt"], "are mutually exclusive"),
        (["--capacities", "none.txt"], "none.txt"),
        (["--capacities", "few.txt"], "63 capacities for 64 slots"),
        (["--capacities", "small.txt"], "a load of 384 in all"),
        (["--capacities", "word.txt"], "word.txt:2: 'many' is not a number"),
        (["--capacities", "nan.txt"], "nan.txt:2: a capacity must be 0 or more"),
        (["--capacities", "negative.txt"], "negative.txt:2: a capacity must be 0"),
        (["--capacities", "empty.txt"], "empty.txt contains no capacities"),
    ],
)
def test_wrong_capacities_are_refused_in_one_line(
    topoloom: Command, words: list[str], message: str
) -> None:
    write_mesh()
    six = ["6"] * SLOTS
    for name, lines in {
        "six.txt": six,
        "few.txt": six[1:],
        "small.txt": ["5"] * SLOTS,
        "word.txt": ["6", "many", *six[2:]],
        "nan.txt": ["6", "nan", *six[2:]],
        "negative.txt": ["6", "-6", *six[2:]],
        "empty.txt": [],
    }.items():
        Path(name).write_text("".join(f"{line}\n" for line in lines))
    line = run_refused(topoloom, "map", "g.graph", "-m", TORUS, *words, "-o", "out")
    assert message in line


def test_a_rank_too_heavy_for_every_slot_is_named(topoloom: Command) -> None:
    write_mesh([500, *[1] * (RANKS - 1)])
    words = ["map", "g.graph", "-m", TORUS, "-o", "out"]
    assert "a rank has load 500" in run_refused(topoloom, *words, "--imbalance", 0)


def test_shared_slots_are_exported_where_the_launcher_can_share(
    topoloom: Command,
) -> None:
    write_mesh()
    placed = map_grid(topoloom, "-m", TORUS, "--imbalance", 0, "--effort", "fast")
    export = ["export", "x.json", "-o", "out", "--to"]
    written = topoloom(*export, "openmpi-rankfile")
    assert written.out.startswith("use it:  mpirun --oversubscribe --rankfile out ")
    assert "Open MPI 5: --map-by rankfile:file=out:oversubscribe" in written.out
    slots = placed["placement"]
    lines = [f"rank {i}=n{slot} slot=0" for i, slot in enumerate(slots)]
    assert Path("out").read_text().splitlines() == lines
    written = topoloom(*export, "slurm-hostfile")
    assert "srun -m arbitrary --overcommit -n" in written.out
    assert Path("out").read_text().split() == [f"n{slot}" for slot in slots]
    Path("out").unlink()
    for target in ("flux-taskmap", "pjm-vcoordfile", "torchrun"):
        line = run_refused(topoloom, *export, target)
        assert f"{target} cannot express ranks that share slots" in line


def test_an_imbalance_has_no_effect_with_enough_slots(
    topoloom: Command,
) -> None:
    write_mesh()
    words = ["-m", "torus:20x20", "--effort", "fast"]
    alone = map_grid(topoloom, *words)
    allowed = map_grid(topoloom, *words, "--imbalance", 0.5)
    assert allowed["placement"] == alone["placement"]
    assert "shared" not in allowed


def test_mappers_for_shared_slots_are_compared(topoloom: Command) -> None:
    write_mesh([1 + i % 3 for i in range(RANKS)])
    words = ["compare", "g.graph", "-m", TORUS, "--imbalance", "0.1"]
    found = topoloom(*words, "--work", "5000", "--json").json["results"]
    assert [it["mapper"] for it in found] == [
        "block",
        "hilbert",
        "multisection",
        "auto",
    ]
    fullest = math.floor(1.1 * math.ceil(2 * RANKS / SLOTS))
    assert all(it["load_max"] <= fullest for it in found[1:])
    assert all(it["hop_bytes"] < found[0]["hop_bytes"] for it in found[1:])
    words[-1] = "0.5"
    assert " slot load, " in topoloom(*words, "--mappers", "multisection").out
    refused = topoloom(*words, "--mappers", "gge")
    assert refused.status == 2
    assert refused.err.count("\n") == 1


def test_mapper_comparisons_ignore_the_imbalance_with_enough_slots(
    topoloom: Command,
) -> None:
    write_mesh()
    words = ["compare", "g.graph", "-m", "torus:20x20", "--mappers", "hilbert"]
    assert topoloom(*words, "--imbalance", "0.1", "--json").json["results"][0]["gap"]
    assert " gap " in topoloom(*words, "--imbalance", "0.1").out
