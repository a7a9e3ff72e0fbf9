# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom balance` reads loads and prints a plan with its cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import topoloom as tl

if TYPE_CHECKING:
    from tests.conftest import Command

#: Ranks 2 and 3 have one task too many, rank 1 has two too few.
LOADS = [4, 2, 5, 5]


def write_loads(loads: list[Any], path: str = "loads.csv") -> None:
    Path(path).write_text("".join(f"{load}\n" for load in loads))


def test_a_plan_is_printed_with_its_measures(topoloom: Command) -> None:
    write_loads(LOADS)
    found = topoloom("balance", "loads.csv", "--method", "qwalk", "--json").json
    assert found["plan"] == [[2, 1, 1], [3, 1, 1]]
    assert found["measures"] == {
        "messages": 2,
        "tasks": 2,
        "max_receives": 2,
        "max_tasks_received": 2,
        "max_sends": 1,
        "max_tasks_sent": 1,
    }
    assert found["loads_after"] == {"min": 4, "max": 4}
    assert found["rounds"] == 1
    alias = topoloom("balance", "loads.csv", "--method", "alias", "--json").json
    assert alias["plan"] == [[2, 1, 2], [3, 2, 1]]
    assert alias["at_least"]["max_receives"] == alias["measures"]["max_receives"] == 1


def test_the_table_shows_senders_and_receivers_of_tasks(topoloom: Command) -> None:
    write_loads(LOADS)
    shown = topoloom("balance", "loads.csv", "--method", "alias")
    assert (shown.status, shown.err) == (0, "")
    assert "16 tasks on 4 ranks, by alias" in shown.out
    assert "loads after   4 to 4" in shown.out
    write_loads([0, 2] * 100)
    shown = topoloom("balance", "loads.csv", "--method", "qwalk")
    assert "80 more; --json has all" in shown.out


def test_moves_of_tasks_cost_hop_bytes_on_a_machine(topoloom: Command) -> None:
    write_loads(LOADS)
    words = ["balance", "loads.csv", "--machine", "mesh:4", "--method", "qwalk"]
    found = topoloom(*words, "--bytes", "1KiB", "--json").json
    assert found["hop_bytes"] == 1024 * (1 + 2)
    assert found["congestion_max"] == 2 * 1024
    assert topoloom(*words, "--json").json["hop_bytes"] == 3
    shown = topoloom(*words, "--bytes", "1KiB")
    assert "hop-bytes" in shown.out


def test_rank_locations_are_read_from_a_placement(topoloom: Command) -> None:
    write_loads(LOADS)
    machine = tl.load_machine("mesh:4")
    allocation = tl.Allocation.whole(machine)
    placement = tl.Placement(allocation, [0, 2, 1, 3])
    tl.save_placement("x.json", tl.PlacementFile(machine, allocation, placement))
    words = ["balance", "loads.csv", "--method", "qwalk", "--placement", "x.json"]
    assert topoloom(*words, "--json").json["hop_bytes"] == 2
    assert topoloom(*words, "--machine", "mesh:4", "--json").json["hop_bytes"] == 2
    other = topoloom(*words, "--machine", "mesh:2x2")
    assert (other.status, other.err.count("\n")) == (2, 1)
    assert "x.json is for mesh:4, not mesh:2x2" in other.err


def test_near_partners_are_chosen_on_a_machine(topoloom: Command) -> None:
    """Ranks 1 and 6 need the excess tasks of their neighbors."""
    write_loads([4, 2, 6, 4, 4, 6, 2, 4])
    words = ["balance", "loads.csv", "--machine", "mesh:8", "--json"]
    near = topoloom(*words).json
    assert near["plan"] == [[2, 1, 2], [5, 6, 2]]
    assert near["hop_bytes"] == 4
    swapped = [0, 1, 5, 3, 4, 2, 6, 7]
    machine = tl.load_machine("mesh:8")
    allocation = tl.Allocation.whole(machine)
    placement = tl.Placement(allocation, swapped)
    tl.save_placement("x.json", tl.PlacementFile(machine, allocation, placement))
    words = ["balance", "loads.csv", "--placement", "x.json", "--json"]
    assert topoloom(*words).json["plan"] == [[2, 6, 2], [5, 1, 2]]


def test_auto_tries_several_receive_limits_for_link_objectives(
    topoloom: Command,
) -> None:
    """Link loads are often lowest with a limit other than the default, two receives."""
    rng = np.random.default_rng(27)
    write_loads(rng.integers(0, 61, 125).tolist())
    words = ["balance", "loads.csv", "--machine", "torus:5x5x5", "--json", "--method"]

    def measure_congestion(method: str) -> float:
        return float(topoloom(*words, method).json["congestion_max"])

    tried = [
        measure_congestion(f"transport(receives={most})") for most in (0, 1, 2, 3, 4)
    ]
    assert measure_congestion("auto(cost=busiest-link)") <= min(tried) < tried[2]
    by_hops = topoloom(*words, "auto").json
    assert by_hops["measures"]["max_receives"] <= 2


def test_ranks_are_placed_in_launcher_order(topoloom: Command) -> None:
    """The default is the same as in `map`: spread over allocated nodes, else packed."""
    write_loads([9, 1] * 4)
    words = ["balance", "loads.csv", "--machine", "torus:4x4+node:2:2"]
    some = topoloom(*words, "--nodes", "4")
    assert "ranks          2 on each of 4 nodes" in some.out
    assert "ranks          4 on each of 2 nodes" in topoloom(*words).out
    write_loads([9, 1, 1], "few.csv")
    words[1] = "few.csv"
    assert "1 to 2 on each of 2 nodes" in topoloom(*words, "--nodes", "2").out
    assert "3 on 1 node" in topoloom(*words, "--nodes", "1").out


def test_plans_are_drawn(topoloom: Command) -> None:
    write_loads([4, 2, 6, 4, 4, 6, 2, 4])
    topoloom("balance", "loads.csv", "--figure", "line.svg")
    for machine in ("mesh:8", "torus:2x4", "fattree:4:4", "dragonfly:3x2,nodes=2"):
        words = ["balance", "loads.csv", "--machine", machine, "--figure", "on.svg"]
        done = topoloom(*words)
        assert (done.status, done.err) == (0, "")
        assert "written  on.svg" in done.out
        assert Path("on.svg").read_text() != Path("line.svg").read_text()
    write_loads([1] * 5000, "many.csv")
    refused = topoloom("balance", "many.csv", "--figure", "many.svg")
    assert refused.status == 2
    assert "a plan of 5,000 ranks is too large to draw" in refused.err
    assert not Path("many.svg").exists()


def test_the_number_of_receives_is_limited_on_request(topoloom: Command) -> None:
    write_loads([4, 4, 4, 0, 4, 4, 1, 3])
    words = ["balance", "loads.csv", "--machine", "mesh:8", "--json", "--method"]
    received = [
        topoloom(*words, f"transport(receives={most})").json["measures"]["max_receives"]
        for most in (0, 1, 2)
    ]
    assert received == [3, 1, 2]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "loads.csv is empty; give the load of each rank, one per line"),
        ([3, -4], "loads.csv:2: loads are 0 or more, not -4"),
        ([3, "1.5"], "loads.csv:2: expected the load of a rank, an integer, not '1.5'"),
        (["", "three"], "loads.csv:2: expected the load of a rank, an integer"),
        ([2**70], "loads.csv:1: loads are below 2^62, not 1180591620717411303424"),
        ([2**61, 2**61], "loads.csv:2: loads up to here add up to 2^62 or more"),
    ],
)
def test_invalid_loads_are_refused_in_one_line(
    topoloom: Command, lines: list[Any], message: str
) -> None:
    write_loads(lines)
    refused = topoloom("balance", "loads.csv")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.count("\n") == 1
    assert message in refused.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "alais"], "no balancer 'alais' (did you mean 'alias'?)"),
        (["--method", "transport"], "balancer 'transport' requires a machine; give"),
        (["--bytes", "1KiB"], "--bytes is the size of transfers on a machine"),
        (["--machine", "mesh:3"], "there are 4 ranks, but the allocation has only 3"),
        (["--tolerance", "0.02"], "--memory and --tolerance are for weighted tasks"),
        (
            ["--method", "auto(cost=busiest-link)"],
            "balancer 'auto' with a cost requires a machine; give one",
        ),
        (
            ["--nodes", "4"],
            "--machine is missing, which an allocation requires",
        ),
    ],
)
def test_invalid_options_are_refused_in_one_line(
    topoloom: Command, words: list[str], message: str
) -> None:
    write_loads(LOADS)
    refused = topoloom("balance", "loads.csv", *words)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.count("\n") == 1
    assert message in refused.err


@pytest.mark.parametrize("loads", [[7], [0], [0, 0, 0], [5, 5], ["# none", 1, "", 1]])
def test_balanced_loads_need_no_plan(topoloom: Command, loads: list[Any]) -> None:
    write_loads(loads)
    for entry in topoloom("list", "balancers", "--json").json["balancers"]:
        words = ["balance", "loads.csv", "--method", entry["name"]]
        words += ["--machine", "mesh:5"] if entry["needs"] else []
        assert topoloom(*words, "--json").json["plan"] == []
        assert topoloom(*words).status == 0


def test_python_returns_the_same_plan(topoloom: Command) -> None:
    write_loads(LOADS)
    printed = topoloom("balance", "loads.csv", "--method", "alias", "--json").json
    found = tl.tasks.balance(np.array(LOADS), method="alias")
    assert found.plan.tolist() == printed["plan"]
    assert found.ends.tolist() == [4, 4, 4, 4]
    balanced = tl.tasks.balance_loads(tl.tasks.read_loads("loads.csv"), "alias")
    assert balanced.document() == printed
