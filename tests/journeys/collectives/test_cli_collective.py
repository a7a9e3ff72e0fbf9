# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective` ranks, exports and places collectives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from topoloom.graphs.phases import load_phases

if TYPE_CHECKING:
    from tests.conftest import Command

TORUS = "torus:4x4,bandwidth=1GB/s+node:1,startup=1us"
ALLTOALL = ("alltoall", "-n", 16, "--bytes", 64)
RANK_ALLTOALL = ("collective", "rank", *ALLTOALL)


def list_schedule_names(document: Any) -> list[str]:
    return [one["name"] for one in document["schedules"]]


def test_schedules_can_be_ranked_without_a_machine(topoloom: Command) -> None:
    words = ["collective", "rank", "MPI_Alltoall", "-n", 1024, "--bytes", 76, "--model"]
    printed = topoloom(*words, "qsnet")
    assert (printed.status, printed.err) == (0, "")
    assert "alltoall of 76 B among 1,024 ranks\n" in printed.out
    assert "MPI's usual" in printed.out
    assert "CPU" in printed.out
    assert "congestion" not in printed.out
    found = topoloom(*words, "qsnet", "--json").json
    times = [one["predicted_seconds"] for one in found["schedules"]]
    assert times == sorted(times)
    assert list_schedule_names(found)[0] == "mesh"
    assert (found["usual"], found["machine"]) == ("bruck", None)


def test_a_model_without_cpu_times_has_no_cpu_column(
    topoloom: Command,
) -> None:
    assert "CPU" not in topoloom(*RANK_ALLTOALL, "--model", "tofu-d").out


def test_each_dependent_round_pays_the_latency(
    topoloom: Command,
) -> None:
    """Each of the ten rounds takes more than a microsecond over HDR InfiniBand."""
    words = [
        "collective",
        "rank",
        "allreduce",
        "-n",
        1024,
        "--bytes",
        8,
        "--model",
        "hdr",
    ]
    found = topoloom(*words, "--schedule", "recursive-doubling", "--json").json
    found = found["schedules"][0]
    assert (found["name"], found["rounds"]) == ("recursive-doubling", 10)
    assert 10e-6 < found["predicted_seconds"] < 15e-6


def test_schedules_with_fewer_rounds_are_ranked_first_for_small_messages(
    topoloom: Command,
) -> None:
    words = [
        "collective",
        "rank",
        "allreduce",
        "-n",
        1024,
        "--bytes",
        8,
        "--model",
        "hdr",
    ]
    found = topoloom(*words, "--json").json["schedules"][0]
    assert (found["name"], found["rounds"]) == ("recursive-doubling(radix=4)", 5)


def test_a_written_rank_order_can_be_used_by_other_commands(topoloom: Command) -> None:
    words = ["collective", "place", *ALLTOALL, "-m", TORUS]
    found = topoloom(*words, "-o", "x.json", "--json").json
    turns = [turn["seconds"] for turn in found["turns"]]
    assert turns == sorted(turns, reverse=True)
    assert found["schedules"][0]["predicted_seconds"] == turns[-1]
    again = topoloom(*RANK_ALLTOALL, "--placement", "x.json", "--json").json
    assert again["schedules"] == found["schedules"]
    printed = topoloom(*words, "-o", "y.json")
    assert "schedule 1" in printed.out
    assert "congestion" in printed.out
    first, second = (json.loads(Path(f"{name}.json").read_text()) for name in "xy")
    assert first.pop("command") != second.pop("command")
    assert first == second

    words = [*RANK_ALLTOALL, "--placement", "x.json"]
    made = topoloom(*words, "-m", TORUS)
    assert made.status == 2  # refused: --placement implies a machine
    made = topoloom(*words, "--write-graph", "p.npz")
    assert made.status == 0
    judged = topoloom("judge", "p.npz", "x.json", "--json").json
    assert judged["hop_bytes"] > 0
    phases = load_phases(Path("p.npz"))
    assert len(phases) == again["schedules"][0]["rounds"]
    exported = topoloom("export", "x.json", "--to", "openmpi-rankfile")
    assert exported.status == 0
    assert exported.out.count("rank ") == 16


def test_the_decision_table_contains_the_best_schedule(
    topoloom: Command,
) -> None:
    words = ["--model", "qsnet", "--decisions", "t.json"]
    topoloom("collective", "rank", "alltoall", "-n", 100, *words)
    table = json.loads(Path("t.json").read_text())
    assert (table["format"], table["version"]) == ("topoloom-decisions", 1)
    assert table["operation"] == "alltoall"
    lines = table["decisions"]
    assert {line["ranks"] for line in lines} == {2, 4, 8, 16, 32, 64, 100}
    fit = [line for line in lines if line["ranks"] == 100 and line["bytes"] <= 76]
    single = topoloom(
        "collective",
        "rank",
        "alltoall",
        "-n",
        100,
        "--bytes",
        76,
        "--model",
        "qsnet",
        "--json",
    ).json
    assert fit[-1]["schedule"] == list_schedule_names(single)[0]


def test_decision_tables_contain_the_degree_of_a_many_to_many(
    topoloom: Command,
) -> None:
    words = ["-n", 16, "--degree", 5, "--model", "qsnet"]
    topoloom("collective", "rank", "many-to-many", *words, "--decisions", "t.json")
    lines = json.loads(Path("t.json").read_text())["decisions"]
    assert {(line["ranks"], line["degree"]) for line in lines} == {(8, 5), (16, 5)}
    topoloom(
        "collective", "rank", "barrier", "-n", 4, *words[4:], "--decisions", "b.json"
    )
    lines = json.loads(Path("b.json").read_text())["decisions"]
    assert lines == [
        {"ranks": ranks, "bytes": 0, "schedule": "dissemination"} for ranks in (2, 4)
    ]


def test_a_matrix_sets_the_bytes_of_each_pair(topoloom: Command) -> None:
    """A matrix in which each rank sends to the next three is like --degree 3."""
    rows = [[(b - a) % 8 in (1, 2, 3) for b in range(8)] for a in range(8)]
    text = "\n".join(" ".join(str(50 * wanted) for wanted in row) for row in rows)
    Path("even.mat").write_text(text)
    Path("odd.mat").write_text(text.replace("50", "9000", 1))
    words = ["collective", "rank", "many-to-many", "-n", 8, "--model", "qsnet"]
    degree = topoloom(*words, "--degree", 3, "--bytes", 50, "--json").json
    even = topoloom(*words, "-g", "even.mat", "--json").json
    assert even["schedules"] == degree["schedules"]
    assert even["pairs"] == 24
    odd = topoloom(*words, "-g", "odd.mat", "--json").json
    slower, faster = (one["schedules"][0]["predicted_seconds"] for one in (odd, even))
    assert slower > faster
    printed = topoloom(*words, "-g", "odd.mat")
    assert printed.out.startswith("many-to-many of 9.9 KiB between 24 pairs among 8")


def test_cpu_time_does_not_exceed_the_total_time(topoloom: Command) -> None:
    words = ["collective", "rank", "alltoall", "-n", 1024, "--bytes", 16, "--model"]
    for model in ("qsnet", "myrinet", "infiniband-4x"):
        for one in topoloom(*words, model, "--json").json["schedules"]:
            assert one["cpu_seconds"] <= one["predicted_seconds"]


def test_times_and_rounds_are_drawn(topoloom: Command) -> None:
    words = ["collective", "rank", "bcast", "-n", 8, "--model", "hdr"]
    done = topoloom(*words, "--figure", "t.svg", "--over", "ranks", "--rounds", "r.svg")
    assert (done.status, done.err) == (0, "")
    for file in ("t.svg", "r.svg"):
        assert f"written  {file}" in done.out
        drawing = Path(file).read_text().rstrip()
        assert drawing.endswith("</svg>")
        assert "mathdefault" not in drawing  # labels of axes are sizes and times


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["alltoal", "-n", 8], "no collective 'alltoal' (did you mean 'alltoall'?)"),
        (["bcast", "-n", 8, "--schedule", "ring"], "no bcast schedule 'ring'"),
        (["bcast", "-n", 8, "--root", 8], "root 8 is not a rank; ranks are 0 to 7"),
        (["alltoall", "-n", 0], "-n must be 1 or more"),
        (["many-to-many", "-n", 8], "--degree is missing: many-to-many requires"),
        (["bcast", "-n", 8, "-g", "4.mat"], "-g is for many-to-many"),
        (["many-to-many", "-n", 8, "-g", "4.mat"], "has 4 ranks, not 8"),
        (
            ["many-to-many", "-n", 4, "-g", "4.mat", "--bytes", 8],
            "--bytes cannot be combined with --graph",
        ),
        (
            ["many-to-many", "-n", 4, "-g", "4.mat", "--degree", 2],
            "-g and --degree are mutually exclusive",
        ),
        (
            ["many-to-many", "-n", 4, "-g", "4.mat", "--figure", "f.svg"],
            "leaves nothing for the x-axis",
        ),
        (
            ["many-to-many", "-n", 4, "-g", "4.mat", "--decisions", "d.json"],
            "there are no decisions by size",
        ),
        (["many-to-many", "-n", 8, "--degree", 8], "there are 0 to 7"),
        (["alltoall", "-n", 8, "--degree", 2], "--degree is for many-to-many"),
        (["alltoall", "-n", 17, "-m", TORUS], "17 ranks, but the allocation has only"),
        (["alltoall", "-n", 8, "--placement", "empty.json"], "the file is empty"),
        (["alltoall", "-n", 8, "-m", "torus:4x4"], "add one, as in torus:8x8x8,band"),
        (["alltoall", "-n", 8, "--over", "ranks"], "--over is for --figure"),
        (["alltoall", "-n", 33, "--rounds", "r.svg"], "up to 32 ranks, not 33"),
        (["barrier", "-n", 8, "--figure", "f.svg"], "no figure over bytes of barrier"),
    ],
)
def test_impossible_collective_requests_are_refused_in_one_line(
    topoloom: Command, words: list[Any], message: str
) -> None:
    Path("empty.json").write_text("")
    Path("4.mat").write_text("0 1 0 0\n0 0 1 0\n0 0 0 1\n1 0 0 0\n")
    refused = topoloom("collective", "rank", *words, "--model", "hdr")
    assert refused.status == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["alltoall", "--to", "goal"], "--output is missing"),
        (["alltoall", "-o", "x"], "--to is missing"),
        (
            ["alltoall", "--to", "gaol", "-o", "x"],
            "no format 'gaol' (did you mean 'goal'?)",
        ),
        (
            ["scan", "--to", "intel-mpi", "-o", "x"],
            "intel-mpi has no algorithm of scan that matches a schedule of Topoloom;",
        ),
        (["gather", "--to", "mscclxml", "-o", "x"], "MSCCL has no gather"),
        (
            ["bcast,bcast", "--to", "mpich", "-o", "x"],
            "bcast is named twice; leave one out",
        ),
        (["bcast,sort", "--to", "mpich", "-o", "x"], "no collective 'sort'"),
        (
            ["bcast,reduce", "--to", "goal", "-o", "x"],
            "goal holds one schedule; name one",
        ),
    ],
)
def test_impossible_exports_are_refused_in_one_line(
    topoloom: Command, words: list[str], message: str
) -> None:
    refused = topoloom("collective", "export", *words, "-n", 8, "--model", "hdr")
    assert refused.status == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1
    assert not Path("x").exists()


@pytest.mark.parametrize(
    ("form", "beginning"),
    [
        ("open-mpi", "1 # functions with rules\n2 # allreduce\n"),
        ("mpich", '{\n "collective=bcast": {\n'),
        ("intel-mpi", 'export I_MPI_ADJUST_ALLREDUCE="1:0-'),
        ("goal", "num_ranks 8\n\nrank 0 {\nl1: recv 32768b from 4 tag 0\n"),
        (
            "mscclxml",
            '<algo name="halving" proto="Simple" nchannels="1" nchunksperloop',
        ),
    ],
)
def test_exported_schedules_are_written_with_usage_instructions(
    topoloom: Command, form: str, beginning: str
) -> None:
    words = ["collective", "export", "allreduce", "-n", 8, "--bytes", "64KiB"]
    words += ["--model", "hdr", "--schedule", "halving", "--to", form, "-o"]
    printed = topoloom(*words, "my file")
    assert printed.status == 0
    assert "use it" in printed.out
    assert "'my file'" in printed.out
    assert Path("my file").read_text().startswith(beginning)


def test_missing_message_costs_are_refused(topoloom: Command) -> None:
    refused = topoloom(*RANK_ALLTOALL)
    assert (refused.status, refused.out) == (2, "")
    assert "name a model (see 'topoloom list models') or a machine" in refused.err
    silent = topoloom(*RANK_ALLTOALL, "-m", "torus:4x4,bandwidth=1GB/s")
    assert (silent.status, silent.out) == (2, "")
    assert "append +node:1,startup=1us" in silent.err


def test_ranks_are_distributed_over_an_allocation_like_srun(topoloom: Command) -> None:
    machine = "torus:4x4,bandwidth=1GB/s+node:4,startup=1us"
    words = (*RANK_ALLTOALL, "-m", machine, "--nodes", 8)
    spread = topoloom(*words)
    assert "16 ranks use 2 slots of each, as srun -N 8 -n 16 does" in spread.out
    packed = topoloom(*words, "--ranks-per-node", 4)
    assert "16 ranks use 4 slots of 4 of them" in packed.out


@pytest.mark.parametrize("option", ["--nodes", "--ranks-per-node"])
def test_rank_location_options_require_a_machine(
    topoloom: Command, option: str
) -> None:
    refused = topoloom(*RANK_ALLTOALL, "--model", "hdr", option, 4)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.endswith("--machine is missing, which an allocation requires\n")


def test_output_has_the_machine_name_of_the_user_and_times_with_units(
    topoloom: Command,
) -> None:
    words = ["bcast", "-n", 2, "--bytes", 8, "-m", "frontier", "--nodes", 2]
    printed = topoloom("collective", "rank", *words)
    assert printed.out.startswith("bcast of 8 B among 2 ranks on frontier\n")
    assert " 0.08 ns" in printed.out  # over four NICs of 25 GB/s each


def test_ranks_of_one_node_send_through_memory(topoloom: Command) -> None:
    words = ("collective", "rank", "allgather", "--model", "hdr", "--json", "-m")
    machine = "fattree:4:4,bandwidth=25GB/s+node:16"
    for ranks, sends, crosses in ((1, False, False), (16, True, False), (17, 1, 1)):
        (best, *_) = topoloom(*words, machine, "-n", ranks).json["schedules"]
        assert (best["predicted_seconds"] > 0) == sends
        assert (best["congestion_seconds"] > 0) == crosses


def test_rules_of_several_collectives_are_written_to_one_file(
    topoloom: Command,
) -> None:
    words = ["collective", "export", "bcast,alltoall,MPI_Allgather", "-n", 16]
    words += ["--model", "hdr"]
    printed = topoloom(*words, "--to", "open-mpi", "-o", "rules.txt")
    assert (printed.status, printed.err) == (0, "")
    for title in ("bcast of", "alltoall of", "allgather of"):
        assert printed.out.count(title) == 1
    rules = Path("rules.txt").read_text()
    for name in ("bcast", "alltoall", "allgather", "allgatherv"):
        assert rules.count(f"# {name}\n") == 1
    document = topoloom(*words, "--to", "mpich", "-o", "rules.json", "--json").json
    also = [one["operation"] for one in document["also"]]
    assert [document["operation"], *also] == ["bcast", "alltoall", "allgather"]
