# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of tokens on their way to experts and back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from topoloom import Error
from topoloom.frameworks import MegatronJob
from topoloom.frameworks.expert_exchange import estimate_visits
from topoloom.frameworks.model_config import read_model_config
from topoloom.frameworks.training_step import parse_step

#: Elements of the tokens of a step in all layers with experts, of 8 sequences.
DEEPSEEK = "deepseek-v3,batches=8"
ELEMENTS = 8 * 4096 * 7168 * (61 + 1 - 3)


def count_expert_bytes(text: str, ep: int) -> int:
    job = MegatronJob(dp=256, ep=ep)
    return next(one.bytes for one in parse_step(text).traffic(job) if one.name == "ep")


@pytest.mark.parametrize("ep", [8, 64, 256])
def test_an_alltoall_sends_a_token_to_each_of_its_experts(ep: int) -> None:
    forward_and_backward = 2 * (2 + 2) * ELEMENTS * 8
    assert count_expert_bytes(DEEPSEEK, ep) == forward_and_backward * (ep - 1) // ep
    in_fp8 = count_expert_bytes(f"{DEEPSEEK},dispatch=fp8", ep)
    with_scales = 1 + 4 / 128 + 2
    assert in_fp8 == pytest.approx(
        forward_and_backward * (ep - 1) / ep * with_scales / 4
    )


def test_deepep_sends_a_token_once_to_each_node() -> None:
    """Routers of DeepSeek-V3 choose 4 of 8 groups, hence 4 of 8 nodes."""
    found = count_expert_bytes(f"{DEEPSEEK},dispatcher=deepep,dispatch=fp8", 64)
    to_other_nodes = 4 * 7 / 8 * 2 * (1 + 4 / 128 + 2) * ELEMENTS
    assert found * 56 / 63 == pytest.approx(to_other_nodes)
    assert count_expert_bytes(DEEPSEEK, 64) / found == pytest.approx(2.64, abs=0.005)


@pytest.mark.parametrize("visits", [0.5, 2.25, 7])
def test_measured_visits_replace_the_estimate(visits: float) -> None:
    text = f"{DEEPSEEK},dispatcher=deepep,visits={visits}"
    to_other_nodes = visits * 2 * (2 + 2) * ELEMENTS
    assert count_expert_bytes(text, 64) * 56 / 63 == pytest.approx(to_other_nodes)


@pytest.mark.parametrize(
    ("nodes", "groups", "chosen"), [(8, 0, 0), (4, 0, 0), (4, 8, 2), (2, 8, 2)]
)
def test_estimated_visits_equal_those_of_drawn_tokens(
    nodes: int, groups: int, chosen: int
) -> None:
    """Without a limit, 8 nodes of drawn experts; else all nodes of drawn groups."""
    random = np.random.default_rng(1)
    if groups:
        drawn = random.permuted(np.tile(np.arange(groups), (20_000, 1)), axis=1)
        places = drawn[:, :chosen] * nodes // groups
    else:
        places = random.integers(nodes, size=(20_000, 8))
    visited = np.zeros((len(places), nodes), bool)
    np.put_along_axis(visited, places, True, axis=1)
    text = f"deepseek-v3,expert_groups={groups},active_groups={chosen}"
    expected = visited[:, 1:].sum(1).mean()  # tokens of node 0
    assert estimate_visits(parse_step(text).model, nodes) == pytest.approx(
        expected, rel=0.02
    )


def test_inside_a_node_deepep_sends_a_token_once_to_each_gpu() -> None:
    found = count_expert_bytes(f"{DEEPSEEK},dispatcher=deepep", 8)
    gpus = 7 * (1 - (7 / 8) ** 8)
    assert found == pytest.approx(gpus * 2 * (2 + 2) * ELEMENTS)


def test_groups_of_experts_are_read_from_the_configuration(tmp_path: Path) -> None:
    config = {
        **{"num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4},
        **{"vocab_size": 100, "intermediate_size": 32, "n_routed_experts": 16},
        **{"num_experts_per_tok": 2, "n_group": 4, "topk_group": 2},
    }
    file = tmp_path / "config.json"
    for chosen, expected in ((2, (4, 2)), (4, (0, 0))):
        file.write_text(json.dumps({**config, "topk_group": chosen}), encoding="utf-8")
        model = read_model_config(file)
        assert (model.expert_groups, model.active_groups) == expected


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("dispatcher=deep", "no dispatcher 'deep'"),
        ("visits=3", "visits requires dispatcher=deepep"),
        ("node=4", "node requires dispatcher=deepep"),
        ("dispatcher=deepep,node=0", "node must be an integer of 1 or more, not '0'"),
        ("dispatcher=deepep,visits=x", "visits must be a number such as 3.5, not 'x'"),
        ("combine=int8", "combine must be one of fp32, bf16, fp16, fp8, not 'int8'"),
        ("dispatcher=deepep,visits=7.5", "visits is 7.5, but a token has 8 experts on"),
    ],
)
def test_an_impossible_exchange_is_refused(keys: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        count_expert_bytes(f"{DEEPSEEK},{keys}", 64)


def test_a_dense_model_has_no_exchange() -> None:
    with pytest.raises(Error, match="dispatch requires a model with experts"):
        parse_step("llama-3.1-70b,dispatch=fp8")
