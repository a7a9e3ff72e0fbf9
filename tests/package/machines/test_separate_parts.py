# SPDX-License-Identifier: BSD-3-Clause
"""A machine disconnected by failures is described with its parts."""

from __future__ import annotations

from random import Random

import pytest

from topoloom import Machine
from topoloom.machines.machine_facts import machine_facts
from topoloom.machines.separate_parts import describe_parts, separate_parts


def draw_machine(seed: int) -> Machine:
    rng = Random(seed)
    kind = rng.choice(("mesh:3x3", "mesh:7", "torus:3x4", "tree:2:3", "hyperx:2x3"))
    whole = Machine(kind)
    ends = [whole.link_ends(rng.randrange(whole.link_count)) for _ in range(4)]
    down = [f"{u}{rng.choice('->')}{v}" for u, v in ends]
    down.append(str(rng.randrange(whole.node_count)))
    return Machine(f"{kind}+down:{','.join(rng.sample(down, rng.randint(1, 5)))}")


@pytest.mark.parametrize("seed", range(60))
def test_nodes_reach_only_the_nodes_of_their_part(seed: int) -> None:
    machine = draw_machine(seed)
    parts = separate_parts(machine)
    nodes = sorted(node for part in parts for node in part)
    assert nodes == machine.nodes_up.tolist()
    part_of = {node: at for at, part in enumerate(parts) for node in part}
    for a in nodes:
        for b in nodes:
            both = machine.connected(a, b) and machine.connected(b, a)
            assert both == (part_of[a] == part_of[b])
    words = describe_parts(machine, parts)
    assert bool(words) == (len(parts) > 1) == ("parts" in machine_facts(machine))
    assert "\n" not in words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "mesh:4+down:1-2",
            "2 parts with no route between them: nodes 0-1; nodes 2-3",
        ),
        (
            "mesh:3+down:0>1",
            "2 parts with routes in one direction at most between them: "
            "nodes 1-2; node 0",
        ),
        ("torus:4+down:0-1", ""),
    ],
)
def test_parts_are_named_in_one_line(text: str, words: str) -> None:
    machine = Machine(text)
    assert describe_parts(machine, separate_parts(machine)) == words
