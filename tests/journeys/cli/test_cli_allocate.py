# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom allocate` chooses nodes, describes allocations and draws them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

MACHINE = "torus:8x8x8"


def write_busy_machine(topoloom: Command) -> None:
    """Write free.txt, the free nodes of a busy machine, and a pattern."""
    made = topoloom("allocate", "-m", MACHINE, "-N", 200, "--fragments", 6, "--json")
    free = sorted(set(range(512)) - set(made.json["nodes"]))
    Path("free.txt").write_text("".join(f"{node}\n" for node in free))
    made = topoloom(
        "pattern", "generate", "stencil3d", "--grid", "4x4x4", "--bytes", 1024,
        "--open", "-o", "p.npz",
    )  # fmt: skip
    assert made.status == 0


@pytest.mark.parametrize(
    ("nodes", "fragments", "title"),
    [
        (1, 1, "1 node in 1 fragment"),
        (3, 3, "3 nodes in 3 fragments"),
        (40, 4, "40 nodes in 4 fragments"),
    ],
)
def test_the_number_of_fragments_is_at_most_the_number_of_nodes(
    topoloom: Command, nodes: int, fragments: int, title: str
) -> None:
    made = topoloom("allocate", "-m", MACHINE, "-N", nodes, "-o", "a.txt", "--json")
    assert made.status == 0, made.err
    assert made.json["fragments"] == fragments
    assert Path("a.txt").read_text().startswith(f"# {title}, seed 1\n")


@pytest.mark.parametrize(("nodes", "fragments"), [(8, 1), (17, 2), (200, 4)])
def test_nodes_of_a_router_stay_in_one_fragment_by_default(
    topoloom: Command, nodes: int, fragments: int
) -> None:
    words = ["allocate", "-m", "torus:4x4x4,nodes=16", "-N", nodes, "--json"]
    assert topoloom(*words).json["fragments"] == fragments
    refused = topoloom(*words, "--fragments", nodes)
    assert refused.status == 2
    assert f"ask for 1 to {-(-nodes // 16)}" in refused.err


def test_nodes_are_chosen_for_a_pattern_and_used(topoloom: Command) -> None:
    write_busy_machine(topoloom)
    words = ["allocate", "-m", MACHINE, "--choose", "free.txt", "-N", 64]
    chosen = topoloom(
        *words,
        "--effort",
        "fast",
        "--graph",
        "p.npz",
        "-o",
        "n.txt",
        "--write-placement",
        "x.json",
        "--json",
    )
    assert chosen.status == 0, chosen.err
    found = chosen.json
    free = {int(line) for line in Path("free.txt").read_text().split()}
    assert set(found["nodes"]) <= free
    assert len(found["nodes"]) == 64
    assert found["hop_bytes_chosen"] < found["hop_bytes_first"]
    assert found["hop_bytes_chosen"] < found["hop_bytes_random"]
    # The written placement has the printed hop-bytes on the written nodes.
    judged = topoloom("judge", "p.npz", "x.json", "--json").json
    assert judged["hop_bytes"] == found["hop_bytes_chosen"]
    shown = topoloom("allocate", "-m", MACHINE, "--allocation", "n.txt", "--json").json
    assert shown["nodes"] == found["nodes"]
    assert shown["components"] == found["components"]
    first = Path("first.txt")
    first.write_text("".join(Path("free.txt").read_text().splitlines(True)[:64]))
    mapped = [
        topoloom(
            "map",
            "p.npz",
            "-m",
            MACHINE,
            "--allocation",
            a,
            "--effort",
            "fast",
            "--json",
        ).json
        for a in ("n.txt", "first.txt")
    ]
    assert mapped[0]["values"]["hop_bytes"] < mapped[1]["values"]["hop_bytes"]


def test_without_a_node_count_enough_nodes_for_the_pattern_are_chosen(
    topoloom: Command,
) -> None:
    write_busy_machine(topoloom)
    outcome = topoloom(
        "allocate", "-m", MACHINE + "+node:4", "--choose", "free.txt",
        "--graph", "p.npz", "--effort", "fast", "--json",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert len(outcome.json["nodes"]) == 16
    assert outcome.json["slots"] == 64


def test_without_a_pattern_the_closest_nodes_are_chosen(topoloom: Command) -> None:
    write_busy_machine(topoloom)
    words = ["allocate", "-m", MACHINE, "--choose", "free.txt", "-N", 40]
    found = topoloom(*words, "--json").json
    assert found["average_distance_chosen"] < found["average_distance_first"]
    assert found["average_distance_chosen"] == found["average_distance"]
    printed = topoloom(*words)
    assert printed.status == 0
    assert "the first free ones" in printed.out


def test_chosen_nodes_keep_the_names_of_free_nodes(topoloom: Command) -> None:
    topoloom("pattern", "generate", "ring", "--ranks", 3, "--bytes", 8, "-o", "p.npz")
    Path("named.txt").write_text("login1 17\nfar 4 4 4\nlogin2 18\nlogin3 19\n")
    for words in (["-N", 3], ["--graph", "p.npz", "--write-placement", "x.json"]):
        chosen = topoloom(
            "allocate", "-m", MACHINE, "--choose", "named.txt", *words, "-o", "n.txt"
        )
        assert chosen.status == 0, chosen.err
        lines = Path("n.txt").read_text().splitlines()[2:]
        assert lines == ["login1 0 2 1", "login2 0 2 2", "login3 0 2 3"]
    text = topoloom("export", "x.json", "--to", "slurm-hostfile").out
    assert sorted(text.split()) == ["login1", "login2", "login3"]


def test_a_node_choice_respects_its_time_limit(topoloom: Command) -> None:
    write_busy_machine(topoloom)
    outcome = topoloom(
        "allocate", "-m", MACHINE, "--choose", "free.txt", "-N", 64,
        "--graph", "p.npz", "--time", "300ms", "--json",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert outcome.json["hop_bytes_chosen"] <= outcome.json["hop_bytes_first"]


def test_links_shared_with_other_jobs_are_counted(topoloom: Command) -> None:
    Path("mine.txt").write_text("1\n4\n")
    # On a line, the job on nodes 2-3 uses one of this job's three cables, the job on
    # 6-7 none.
    Path("jobs.txt").write_text("JOBID NODELIST\n10 n[2-3]\n11 n[6-7]\n12 n[1,4]\n")
    words = [
        "allocate",
        "-m",
        "mesh:8",
        "--allocation",
        "mine.txt",
        "--jobs",
        "jobs.txt",
    ]
    shown = topoloom(*words, "--json").json
    assert shown["other_jobs"] == 2  # job 12 is this job
    assert shown["sharing"] == [
        {"job": "10", "links": 2, "share": pytest.approx(1 / 3)}
    ]
    assert shown["links_shared"] == 2
    assert shown["shared_share"] == pytest.approx(1 / 3)
    assert shown["links_foreign"] == 6
    assert shown["foreign_share"] == 1
    assert "with 1 of 2 other jobs" in topoloom(*words).out


@pytest.mark.parametrize(
    ("machine", "ending"),
    [
        (MACHINE, "svg"),
        ("mesh:9x12,nodes=2", "svg"),
        ("torus:64", "svg"),
        ("torus:64", "png"),
        ("torus:3x4x2x5", "svg"),
        ("tree:4:8:2", "svg"),
        ("graph:1", "svg"),
    ],
)
def test_an_allocation_is_drawn_on_every_machine(
    topoloom: Command, machine: str, ending: str
) -> None:
    nodes = 1 if machine == "graph:1" else 30
    file = f"a.{ending}"
    outcome = topoloom(
        "allocate", "-m", machine, "-N", nodes, "--fragments", min(nodes, 9),
        "--figure", file, "--json",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    data = Path(file).read_bytes()
    assert len(data) > 2000
    assert data.startswith(b"\x89PNG" if ending == "png" else b"<?xml")


def test_connected_components_have_different_colors(topoloom: Command) -> None:
    from matplotlib.image import imread

    topoloom("pattern", "generate", "ring", "--ranks", 2, "-o", "p.npz")
    Path("two.txt").write_text("0\n1\n40\n41\n")
    for nodes, name in (("n[0-3]", "one.png"), ("two.txt", "two.png")):
        done = topoloom("allocate", "-m", "mesh:8x8", "-a", nodes, "--figure", name)
        assert done.status == 0, done.err
    blue = np.array([0x00, 0x72, 0xB2]) / 255
    red = np.array([0xD5, 0x5E, 0x00]) / 255

    def contains_color(name: str, color: np.ndarray) -> bool:
        return bool((np.abs(imread(name)[..., :3] - color).max(-1) < 0.01).any())

    assert [contains_color("one.png", blue), contains_color("one.png", red)] == [
        True,
        False,
    ]
    assert [contains_color("two.png", blue), contains_color("two.png", red)] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--nodes is missing; set it"),
        (["--graph", "p.npz", "-N", 4], "are for --choose"),
        (["-N", 4, "--time", "1s"], "are for --choose"),
        (
            ["-N", 4, "--write-placement", "x.json"],
            "--write-placement requires --graph",
        ),
        (["--allocation", "n[1-3]", "-N", 3], "leave out --choose and -N"),
        (["--choose", "n[1-9]"], "--nodes is missing"),
        (["--choose", "n[1-9]", "-N", 10], "cannot choose 10 of 9 nodes"),
        (["--choose", "n[1-9]", "-N", 0], "-N must be 1 or more, not 0"),
        (["--choose", "n[1-9]", "-N", 3, "--work", 5], "require --graph"),
        (["--choose", "n[1-9]", "--graph", "p.npz"], "cannot choose 64 of 9 nodes"),
        (["--choose", "n[1-9]", "-N", 9, "--graph", "p.npz"], "choose 64 or more"),
        (["--choose", "gone.txt", "-N", 9], "gone.txt"),
        (["-N", 4, "--jobs", "gone.txt"], "gone.txt"),
        (["-N", 4, "--figure", "a.gif"], "figures are .svg, .png, .pdf"),
    ],
)
def test_impossible_node_choices_are_refused_in_one_line(
    topoloom: Command, words: list[object], message: str
) -> None:
    topoloom(
        "pattern",
        "generate",
        "stencil3d",
        "--grid",
        "4x4x4",
        "--bytes",
        8,
        "-o",
        "p.npz",
    )
    outcome = topoloom("allocate", "-m", MACHINE, *words)
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


def test_hosts_are_chosen_and_ordered_for_a_mesh(topoloom: Command) -> None:
    Path("free.txt").write_text("n[0-5]\nn[8-9]\nn[16-17]\n")
    words = ["allocate", "-m", "tree:8:8:4", "--choose", "free.txt"]
    made = topoloom(*words, "--mesh", "dp=5,pp=2", "--traffic", "dp=1GB", "-o", "a.txt")
    assert made.status == 0, made.err
    assert "segments  6 + 2 + 2 hosts in 3 leaf groups" in made.out
    shown = topoloom(*words, "--mesh", "dp=5,pp=2", "--json").json
    assert shown["spreads"]["chosen"]["all"] == shown["spread_at_least"]["all"]
    assert len(shown["nodes"]) == 10
    again = topoloom("allocate", "-m", "tree:8:8:4", "-a", "a.txt", "--json").json
    assert sorted(again["nodes"]) == [0, 1, 2, 3, 4, 5, 8, 9, 16, 17]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--traffic", "dp=1GB"], "--traffic requires --mesh"),
        (["--mesh", "dp=4", "-N", "4"], "--mesh determines the number of nodes"),
        (["--mesh", "dp=99"], "the mesh needs 99 hosts, but 16 are free"),
        (["--mesh", "dp=1"], "every group of the mesh fits in one host"),
        (["--mesh", "dp=4", "--write-placement", "x.json"], "--mesh places ranks"),
        (["--mesh", "dp=4", "--time", "5s"], "--graph, --effort, --time and --work"),
    ],
)
def test_options_incompatible_with_a_mesh_are_named(
    topoloom: Command, words: list[str], message: str
) -> None:
    refused = topoloom("allocate", "-m", "tree:4:4", *words)
    assert refused.status == 2
    assert message in refused.err
