# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom balance` reads loads and sizes of tasks from a table, and moves tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from topoloom.tasks.balancing.task_list import read_tasks
from topoloom.tasks.balancing.weighted_tasks import balance_tasks

if TYPE_CHECKING:
    from tests.conftest import Command

HEAD = "task,owner,load,bytes"
TASKS = ["a,0,3,100", "b,0,2,10", "c,0,1,40", "d,1,2,10"]


def write_tasks(lines: list[str], head: str = HEAD) -> None:
    Path("tasks.csv").write_text("\n".join([head, *lines, ""]))


def test_the_task_with_the_fewest_bytes_per_load_moves(topoloom: Command) -> None:
    write_tasks(["# two ranks", *TASKS])
    found = topoloom("balance", "tasks.csv", "--json").json
    assert found == {
        "ranks": 2,
        "tasks": 4,
        "moves": [["b", 0, 1]],
        "load_max_over_mean": 1.0,
        "moved_bytes": 10,
        "moved_bytes_at_least": 10,
    }
    output = topoloom("balance", "tasks.csv", "--tolerance", "0.5").out
    assert "busiest rank" in output
    assert "bytes that move" in output


def test_empty_ranks_receive_tasks(topoloom: Command) -> None:
    write_tasks(TASKS)
    found = topoloom("balance", "tasks.csv", "-n", "3", "--json").json
    assert found["ranks"] == 3
    assert {to for _, _, to in found["moves"]} == {2}


def test_random_tasks_move_little_more_than_necessary(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    owners = np.minimum(*rng.integers(0, 50, (2, 5000)))
    loads, sizes = rng.exponential(1, 5000), rng.integers(1, 10**6, 5000)
    rows = zip(range(5000), owners, loads, sizes, strict=True)
    table = tmp_path / "tasks.csv"
    lines = [f"{i},{owner},{load:.6f},{size}" for i, owner, load, size in rows]
    table.write_text("\n".join([HEAD, *lines, ""]))
    found = balance_tasks(read_tasks(table), memory=10**8)
    assert found.load_over_mean <= 1.02 + 1e-9
    assert found.balance.moved_bytes <= 1.2 * found.balance.least_bytes


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a,0,1"], "tasks.csv:2: expected the 4 columns task,owner,load,bytes, not 3"),
        (["a,-1,1,1"], "tasks.csv:2: the owner of a task is an integer of 0 or more"),
        (["a,0,x,1"], "tasks.csv:2: a load is a number of 0 or more, not 'x'"),
        (["a,0,-1,1"], "tasks.csv:2: a load is a number of 0 or more, not '-1'"),
        (["a,0,1,2.5"], "tasks.csv:2: the number of bytes of a task is an integer"),
        (["a,0,1,1", "a,1,1,1"], "tasks.csv:3: task 'a' is on line 2 already"),
        ([], "tasks.csv has no tasks; give one per line below task,owner,load,bytes"),
    ],
)
def test_an_invalid_table_is_refused(
    topoloom: Command, lines: list[str], message: str
) -> None:
    write_tasks(lines)
    assert message in topoloom("balance", "tasks.csv").err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory", "50"], "task 'a' has 100 bytes, and a rank has memory for 50"),
        (["-n", "1"], "task 'd' is on rank 1, but there is 1 rank"),
        (["-n", "-3"], "-n must be 1 or more, not -3"),
        (["--method", "alias"], "but --method is for equal tasks; leave it out"),
        (
            ["--bytes", "1KiB"],
            "tasks.csv contains the bytes of each task; leave out --",
        ),
        (["--tolerance", "-1"], "--tolerance must be 0 or more, not -1"),
    ],
)
def test_incompatible_options_of_task_tables_are_refused(
    topoloom: Command, options: list[str], message: str
) -> None:
    write_tasks(TASKS)
    assert message in topoloom("balance", "tasks.csv", *options).err


def test_errors_name_tasks_as_in_the_table(topoloom: Command) -> None:
    write_tasks(["a,0,1,1", "b,1,1,1"])
    refused = topoloom("balance", "tasks.csv", "--memory", "0")
    assert "task 'a' has 1 byte, and a rank has memory for 0" in refused.err
    write_tasks(["a,0,9,3", "b,0,4,3", "c,1,3,3"])
    refused = topoloom("balance", "tasks.csv", "--memory", "5")
    assert "no rank has memory left for task 'a' of 3 bytes" in refused.err
    write_tasks(["a,0,1,1", "b,1000000000,1,1"])
    refused = topoloom("balance", "tasks.csv")
    why = "tasks.csv:3: the owner of a task is below 10,000,000, not 1000000000"
    assert why in refused.err


def test_few_large_tasks_are_packed_within_the_limit(topoloom: Command) -> None:
    loads = [("a", 0, 9), ("b", 0, 4), ("c", 0, 2), ("d", 0, 4), ("e", 0, 4)]
    loads += [("f", 0, 7), ("g", 1, 3)]
    write_tasks([f"{name},{owner},{load},1" for name, owner, load in loads])
    found = topoloom("balance", "tasks.csv", "-n", "3", "--json").json
    assert found["load_max_over_mean"] == 1.0
    assert found["moved_bytes"] == 4


def test_plans_of_unequal_tasks_are_drawn(topoloom: Command) -> None:
    write_tasks(TASKS)
    done = topoloom("balance", "tasks.csv", "--figure", "line.svg")
    assert (done.status, done.err) == (0, "")
    assert "written  line.svg" in done.out
    topoloom("balance", "tasks.csv", "-m", "mesh:2", "--figure", "mesh.svg")
    assert Path("mesh.svg").read_text() != Path("line.svg").read_text()
    assert topoloom("balance", "tasks.csv", "-n", "1").out == ""
    write_tasks(["a,0,1,1"])
    assert "1 task on 1 rank" in topoloom("balance", "tasks.csv").out
