# SPDX-License-Identifier: BSD-3-Clause
"""Placement of experts on GPUs: measures, results and errors."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings, strategies as st

from topoloom import Allocation, Error, Machine
from topoloom._core import measure_experts, place_experts
from topoloom.tasks import (
    ExpertRouting,
    find_engine,
    place_on_gpus,
    read_routing,
)

if TYPE_CHECKING:
    from tests.conftest import Command

RAILS = "rails:2:4:1"  # 4 domains of 2 GPUs


def count_expected_visits(
    experts_of_slot: Any, nodes: Any, choices: Any, slots: int, nearest: bool
) -> float:
    """Try every source with every choice of replicas."""
    total = 0.0
    where: dict[int, list[int]] = {}
    for slot, expert in enumerate(experts_of_slot):
        where.setdefault(int(expert), []).append(int(nodes[slot // slots]))
    for token, home in product(choices, nodes):
        options = []
        for expert in token:
            at = where[int(expert)]
            options.append([home] if nearest and home in at else at)
        counts = [len(set(one) - {home}) for one in product(*options)]
        total += sum(counts) / len(counts)
    return total / len(choices) / len(nodes)


@pytest.mark.parametrize("nearest", [False, True])
def test_visits_equal_an_enumeration_of_all_choices(nearest: bool) -> None:
    random = np.random.default_rng(3)
    nodes = [0, 0, 1, 1, 2]
    for _ in range(20):
        held = np.concatenate([random.permutation(7), random.integers(7, size=3)])
        random.shuffle(held)
        choices = np.stack([random.permutation(7)[:3] for _ in range(4)])
        found = measure_experts(
            np.ones((1, 7)), np.array(nodes), held[None], choices, nearest=nearest
        )
        assert found[0, 0] == pytest.approx(
            count_expected_visits(held, nodes, choices, 2, nearest)
        )


@pytest.mark.parametrize("nearest", [False, True])
def test_every_expert_is_placed_and_no_gpu_exceeds_the_slack(nearest: bool) -> None:
    random = np.random.default_rng(4)
    loads = np.exp(random.standard_normal((3, 24)))
    nodes = np.repeat(np.arange(4), 2)
    choices = np.stack([random.permutation(24)[:4] for _ in range(3 * 60)])
    even, best = place_experts(loads, nodes, 4, choices, nearest=nearest, slack=0.02)
    for row in (*even, *best):
        assert set(row.tolist()) == set(range(24))
        assert all(len(set(gpu)) == 4 for gpu in row.reshape(8, 4).tolist())
    before = measure_experts(loads, nodes, even)
    after = measure_experts(loads, nodes, best, nearest=nearest)
    kept = (best != even).any(axis=1)
    assert (after[kept, 1] <= 1.02 * before[kept, 1] * (1 + 1e-6)).all()


@settings(max_examples=10, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.05, 0.3]), st.integers(3, 4))
def test_groups_with_replicas_respect_the_load_and_save_visits(
    seed: int, slack: float, slots: int
) -> None:
    """The loads of groups are random, and so is how much must move to other nodes."""
    random = np.random.default_rng(seed)
    group = random.choice(4, size=120, p=random.dirichlet([4] * 4))
    chosen = np.argsort(random.random((120, 6)), axis=1)[:, :3]
    choices = 6 * group[:, None] + chosen
    loads = np.bincount(choices[::2].ravel(), minlength=24)[None].astype(float)
    nodes = np.repeat(np.arange(4), 2)
    even, best = place_experts(loads, nodes, slots, choices, slack=slack)
    assert set(best[0].tolist()) == set(range(24))
    assert all(len(set(gpu)) == slots for gpu in best.reshape(8, slots).tolist())
    before = measure_experts(loads, nodes, even, choices[1::2])[0]
    after = measure_experts(loads, nodes, best, choices[1::2])[0]
    assert after[0] <= before[0]
    assert after[1] <= before[1] * (1 + slack) * (1 + 1e-6)


def test_experts_chosen_by_the_same_tokens_are_placed_on_one_node() -> None:
    """Each token chooses experts of one of four groups, which are numbered randomly."""
    random = np.random.default_rng(5)
    groups = random.permutation(16).reshape(4, 4)
    choices = np.stack(
        [groups[i // 2 % 4][random.permutation(4)[:3]] for i in range(400)]
    )
    loads = np.ones((1, 16))
    nodes = np.repeat(np.arange(4), 2)
    _, best = place_experts(loads, nodes, 2, choices)
    together = {frozenset(one) for one in best.reshape(4, 4).tolist()}
    assert together == {frozenset(one) for one in groups.tolist()}


def test_small_jobs_are_placed_optimally() -> None:
    from ai.expert_optimum import compare_optimum

    assert all(one.optimal == one.jobs for one in compare_optimum(2))


def make_routing() -> ExpertRouting:
    loads = np.zeros((3, 16))
    loads[1:] = np.arange(16) + 1
    return ExpertRouting(loads)


def make_allocation() -> Allocation:
    return Allocation.whole(Machine(RAILS))


def test_an_nvlink_domain_is_a_node() -> None:
    placed = place_on_gpus(make_routing(), make_allocation(), 8, 8, nearest=True)
    assert placed.nodes.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    cost = placed.cost(placed.best)
    fewest = placed.visits_at_double_load
    assert fewest - 1e-9 <= cost.visits <= placed.cost(placed.by_load).visits


def test_files_for_all_engines_have_the_same_placement() -> None:
    placed = place_on_gpus(make_routing(), make_allocation(), 8, 8)
    best = placed.best
    sglang = json.loads(placed.text(find_engine("sglang")))
    assert sglang == {"physical_to_logical_map": best.tolist()}
    assert json.loads(placed.text(find_engine("vllm"))) == best[1:].tolist()
    trtllm = yaml.safe_load(placed.text(find_engine("trtllm")))
    assert trtllm["num_slots"] == 24
    assert trtllm["layer_updates_per_iter"] == 0
    assert trtllm["initial_global_assignments"] == {
        layer: best[layer].tolist() for layer in (1, 2)
    }
    ascend = json.loads(placed.text(find_engine("vllm-ascend")))
    assert ascend["moe_layer_count"] == 2
    lists = [
        [device["device_expert"] for device in layer["device_list"]]
        for layer in ascend["layer_list"]
    ]
    assert lists == best[1:].reshape(2, 8, 3).tolist()


def test_all_formats_of_loads_give_the_same_result(tmp_path: Path) -> None:
    loads = make_routing().loads
    np.savetxt(tmp_path / "a.csv", loads, delimiter=",")
    np.savetxt(tmp_path / "a.txt", loads)
    (tmp_path / "b.json").write_text(
        json.dumps({"logical_count": [loads.tolist()] * 2})
    )
    np.savez(tmp_path / "c.npz", loads=loads)
    for name, times in (("a.csv", 1), ("a.txt", 1), ("b.json", 2), ("c.npz", 1)):
        assert (read_routing(tmp_path / name).loads == times * loads).all()
    ids = np.array([[[-1, -1], [-1, -1], [-1, -1]], [[0, 1], [1, 2], [-1, -1]]])
    np.savez(tmp_path / "d.npz", topk_ids=ids)
    found = read_routing(tmp_path / "d.npz")
    assert found.loads.tolist() == [[0, 0, 0], [1, 2, 1]]
    assert found.layers.tolist() == [1]
    assert found.topk_ids is not None
    assert found.topk_ids.shape == (2, 2, 2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1,2\n3\n", "2: 1 expert, but 2 before"),
        ("1,x\n", "1: expected the loads of a layer's experts: numbers, separated by"),
        ("1,-2\n", "layer 0, expert 1 has the load -2; loads are finite numbers of"),
        ("1,2\n3,nan\n", "layer 1, expert 1 has the load nan"),
        ("1,2\n1e308,1e308\n", "loads of layer 1 exceed a 64-bit float in sum"),
        ("0,0\n", "no layer has a load"),
        ("", "has no layers"),
    ],
)
def test_invalid_tables_are_refused(tmp_path: Path, text: str, line: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(Error, match=line):
        read_routing(path)


def test_slot_counts_that_gpus_do_not_divide_are_refused() -> None:
    with pytest.raises(Error, match="0 or 8 redundant ones would"):
        place_on_gpus(make_routing(), make_allocation(), 8, 3)
    with pytest.raises(Error, match=r"27 slots on each of 8 GPUs; .* at most 112 are"):
        place_on_gpus(make_routing(), make_allocation(), 8, 200)
    with pytest.raises(Error, match="experts on 16 GPUs require one slot each"):
        place_on_gpus(make_routing(), make_allocation(), 16)


def test_the_command_writes_files_and_explains_a_missing_gain(
    topoloom: Command, tmp_path: Path
) -> None:
    np.savetxt(tmp_path / "a.csv", make_routing().loads, delimiter=",")
    words = ("ai", "experts", tmp_path / "a.csv", "-m", RAILS, "--ep", "8")
    shown = topoloom(*map(str, words))
    assert shown.status == 0
    assert "without tokens, all placements send as much" in shown.out
    output = tmp_path / "e.json"
    written = topoloom(*map(str, words), "--engine", "sglang", "-o", str(output))
    assert f"--init-expert-location {output}" in written.out
    assert len(json.loads(output.read_text())["physical_to_logical_map"]) == 3
    refused = topoloom(*map(str, words), "--engine", "sglng")
    assert (refused.status, refused.out) == (2, "")
    assert "sglang" in refused.err


def write_rules(path: Path, topics: int, twice: bool = False) -> str:
    """Write tokens, each of which chooses 4 of the 16 experts within one topic."""
    random = np.random.default_rng(6)
    of_topic = 16 // topics
    ids = np.empty((1, 400, 4), np.int64)
    for layer in ids:
        for token in layer:
            first = of_topic * random.integers(topics)
            token[:] = first + random.permutation(of_topic)[:4]
    if twice:
        ids[0, :10, 1] = ids[0, :10, 0]
    np.savez(path, topk_ids=ids)
    return str(path)


def draw_hidden_groups(path: Path, first_group_weight: float = 1.0) -> ExpertRouting:
    """Draw tokens that choose 4 of a group's 8 experts, with different frequencies.

    `first_group_weight`: weight of the first group; a larger one makes its node busier.
    """
    random = np.random.default_rng(8)
    groups = random.permutation(32).reshape(4, 8)
    weight = np.exp(0.5 * random.standard_normal((4, 8)))
    share = np.array([first_group_weight, 1, 1, 1]) / (first_group_weight + 3)
    of_token = random.choice(4, size=1000, p=share)
    score = np.log(weight)[of_token] + random.gumbel(size=(1000, 8))
    chosen = np.argsort(-score, axis=1)[:, :4]
    np.savez(path, topk_ids=[groups[of_token[:, None], chosen]])
    return read_routing(path)


def test_a_slack_is_chosen_if_it_pays(tmp_path: Path) -> None:
    """With slack, a group with 10 % more load than the mean can stay on one node."""
    found = draw_hidden_groups(tmp_path / "t.npz", first_group_weight=1.15)
    tight = place_on_gpus(found, make_allocation(), 8, 16, slack=0.01)
    chosen = place_on_gpus(found, make_allocation(), 8, 16)
    assert tight.tried == ()
    assert [one.slack for one in chosen.tried] == [0.01, 0.05, 0.1, 0.2]
    assert chosen.tried[0].step == 1
    assert chosen.slack == min(chosen.tried, key=lambda one: one.step).slack > 0.01
    # There are four nodes, so a quarter of the tokens already starts on the right one.
    assert chosen.cost(chosen.best).visits == pytest.approx(0.75)
    assert tight.cost(tight.best).visits > 0.9
    first, cost = chosen.tried[0], tight.cost(tight.best)
    assert (cost.visits, cost.load) == (first.visits, first.load)


def test_a_slack_without_gain_is_not_used() -> None:
    random = np.random.default_rng(9)
    ids = np.argsort(random.random((1, 200, 16)), axis=2)[:, :, :4]
    loads = np.array([np.bincount(ids.ravel())], float)
    found = ExpertRouting(loads, ids, is_counted=True)
    assert place_on_gpus(found, make_allocation(), 8, 8).slack == 0.01
    assert place_on_gpus(make_routing(), make_allocation(), 8, 8).tried == ()


def test_the_command_shows_the_gain_of_a_slack(
    topoloom: Command, tmp_path: Path
) -> None:
    draw_hidden_groups(tmp_path / "t.npz", first_group_weight=1.15)
    words = (tmp_path / "t.npz", "-m", RAILS, "--ep", "8", "--redundant", "16")
    shown = topoloom(
        "ai", "experts", *words, "--engine", "sglang", "-o", tmp_path / "e.json"
    )
    assert shown.status == 0
    assert "--slack" in shown.out
    assert "all have experts" in shown.out
    given = topoloom("ai", "experts", *words, "--slack", "0.05")
    assert "--slack" not in given.out
    refused = topoloom(
        "ai", "experts", *words, "--engine", "sglang", "-o", tmp_path / "e.txt"
    )
    assert refused.status == 2
    assert "reads only files with the suffix .json" in refused.err
    assert not (tmp_path / "e.txt").exists()


def test_loads_and_visits_are_measured_with_the_same_tokens(tmp_path: Path) -> None:
    """Odd tokens choose other experts than even tokens, so a search needs both."""
    ids = np.zeros((1, 200, 2), np.int64)
    ids[:, 0::2] = [0, 1]
    ids[:, 1::2] = [2, 3]
    np.savez(tmp_path / "t.npz", topk_ids=ids)
    found = read_routing(tmp_path / "t.npz")
    assert found.search_loads.tolist() == [[100, 100, 0, 0]]
    assert found.evaluation_loads.tolist() == [[0, 0, 100, 100]]
    placed = place_on_gpus(found, Allocation.whole(Machine("rails:1:4:1")), 2)
    held = placed.best.reshape(2, 2).tolist()
    assert {frozenset(gpu) for gpu in held} != {frozenset((0, 1)), frozenset((2, 3))}
    of_gpu = [sum(100.0 for expert in gpu if expert > 1) for gpu in held]
    assert placed.cost(placed.best).load == pytest.approx(max(of_gpu) / 100)


def test_the_search_uses_recorded_loads(tmp_path: Path) -> None:
    ids = np.array([[[0, 1], [1, 2], [0, 2]]])
    np.savez(tmp_path / "t.npz", topk_ids=ids, loads=[[5.0, 6, 7]])
    found = read_routing(tmp_path / "t.npz")
    assert found.search_loads.tolist() == [[5, 6, 7]]
    assert found.evaluation_loads.tolist() == [[0, 1, 1]]


def test_the_command_names_the_limiting_factor(
    topoloom: Command, tmp_path: Path
) -> None:
    words = ("-m", RAILS, "--ep", "8")
    # Placing all experts of a topic on one node doubles the load of its GPUs.
    topical = np.tile([0, 1, 2, 3], (300, 1))
    others = np.random.default_rng(7).integers(4, 16, size=(150, 4))
    ids = np.stack([np.concatenate([topical, others])])
    np.savez(tmp_path / "hot.npz", topk_ids=ids)
    hot = topoloom("ai", "experts", tmp_path / "hot.npz", *words, "--slack", "0")
    assert "the busiest GPU has no room; with twice its load, --slack 1" in hot.out
    even = topoloom("ai", "experts", write_rules(tmp_path / "even.npz", 1), *words)
    assert "tokens choose experts with too little in common" in even.out
    twice = topoloom(
        "ai", "experts", write_rules(tmp_path / "twice.npz", 4, twice=True), *words
    )
    assert "10 tokens choose an expert again; each choice is load" in twice.out
    both = topoloom(
        "ai", "experts", tmp_path / "even.npz", *words, "--engine", "vllm", "--json"
    )
    assert both.status == 2
    assert "write the engine's file with -o" in both.err
