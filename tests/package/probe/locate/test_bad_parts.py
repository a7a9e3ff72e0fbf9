# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine check --plan` and `--measured`, with tables and NCCL dumps."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from topoloom import Error, Machine
from topoloom.graphs.traces.trace_formats import IncompleteTraceError
from topoloom.machines.machine_writers import save_machine
from topoloom.tasks.machines.bad_parts import locate_bad_parts


@pytest.fixture
def cluster_file(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.toml"
    names = [f"cn{n:02}" for n in range(16)]
    save_machine(file, Machine("fattree:4:4,up=1:2"), names)
    return file


def test_rounds_of_tables_find_a_slow_host(
    topoloom: Any, cluster_file: Path, tmp_path: Path
) -> None:
    plan_of = ("machine", "check", cluster_file, "--plan", "--json")
    table = tmp_path / "rounds.csv"
    table.write_text("a,b,GB/s\n")
    plan = topoloom(*plan_of).json["plan"]
    for _ in range(8):
        with table.open("a") as file:
            for n, (a, b) in enumerate(plan):
                rate = 4.0 if "cn06" in (a, b) else 12.0 + 0.01 * n
                file.write(f"{a},{b},{rate}\n")
        found = topoloom(*plan_of, "--measured", table).json
        if not (plan := found["plan"]):
            break
    assert [bad["one_of"][0] for bad in found["bad"]] == ["host cn06"]
    assert found["bad"][0]["times_as_long"] == pytest.approx(3, rel=0.05)
    assert found["rounds_at_most"] == 8
    message = topoloom("machine", "check", cluster_file, "--measured", table)
    assert message.status == 1
    assert message.out.startswith(
        "host cn06 or cable cn06 to level 1 switch 1: messages take"
    )
    message = topoloom("machine", "check", cluster_file, "--plan", "--measured", table)
    assert "no pair of hosts would say more" in message.out


def test_a_slow_switch_is_reported_by_name(topoloom: Any, tmp_path: Path) -> None:
    hosts = [f"cn{n}" for n in range(9)]
    leaves = ["leafA", "leafB", "leafC"]
    for switches, message in (
        ([*leaves, "top"], "switch leafB"),
        ([], "switch of level 1 group 1"),
    ):
        file = tmp_path / "tree.toml"
        save_machine(file, Machine("tree:3:3"), hosts, switches=switches)
        rows = [
            f"{a},{b},{2 if 1 in (hosts.index(a) // 3, hosts.index(b) // 3) else 1}"
            for a, b in combinations(hosts, 2)
        ]
        (tmp_path / "all.csv").write_text("\n".join(["a,b,us", *rows, ""]))
        found = topoloom("machine", "check", file, "--measured", tmp_path / "all.csv")
        assert found.out.startswith(f"{message}: messages take 2.00 times as long")


def test_a_plan_uses_only_hosts_of_the_job(topoloom: Any, cluster_file: Path) -> None:
    message = topoloom(
        "machine", "check", cluster_file, "--plan", "-a", "cn[00-03,08-09]"
    )
    first, _, *pairs = message.out.splitlines()
    assert message.status == 0
    assert first == "nothing measured so far; 6 hosts"
    named = {host for pair in pairs for host in pair.split(",")}
    assert named <= {"cn00", "cn01", "cn02", "cn03", "cn08", "cn09"}
    assert len(pairs) == 2


def test_each_gpu_is_measured_with_a_gpu_of_its_rail(
    topoloom: Any, tmp_path: Path
) -> None:
    machine = "rails:2:8:2,host=2"  # 16 hosts of 2 GPUs
    plan = topoloom("machine", "check", machine, "--plan", "--json").json["plan"]
    gpus = [gpu for pair in plan for gpu in pair]
    assert set(gpus) <= {f"host {n} GPU {g}" for n in range(16) for g in range(2)}
    assert len(set(gpus)) == len(gpus) > 16
    assert all(a[-5:] == b[-5:] for a, b in plan)

    def locate_slow_part(slow: str) -> list[list[str]]:
        table = tmp_path / "rounds.csv"
        table.write_text("a,b,GB/s\n")
        pairs = plan
        for _ in range(8):
            with table.open("a") as file:
                for a, b in pairs:
                    is_slow = slow in (a, b, a[:-6], b[:-6])
                    file.write(f"{a},{b},{20 if is_slow else 50}\n")
            pairs = locate_bad_parts(machine, [table]).document()["plan"]
            if not pairs:
                break
        return [bad.parts for bad in locate_bad_parts(machine, [table]).found.bad]

    assert locate_slow_part("host 3 GPU 1") == [
        ["NIC or cable of host 3 GPU 1 to unit 0 rail 1", "host 3 GPU 1"]
    ]
    assert locate_slow_part("host 3") == [["host 3", "what the NICs of host 3 share"]]


def test_nvlink_pairs_distinguish_gpus_from_their_nics(tmp_path: Path) -> None:
    """If the GPUs of a slow host communicate fast with each other, its NIC is slow."""

    def locate_slow_part(inside: float) -> list[list[str]]:
        pairs = [(3, 0), (3, 1), (3, 2), (0, 1), (4, 5), (2, 6), (1, 7), (6, 7)]
        rows = [
            f"host {a} GPU 1,host {b} GPU 1,{20 if 3 in (a, b) else 50}\n"
            for a, b in pairs
        ]
        others = [(3, 4), (3, 5), (1, 2), (0, 6)]
        rows += [f"host {a} GPU 0,host {b} GPU 0,50\n" for a, b in others]
        for host in range(6):
            rate = inside if host == 3 else 400
            rows.append(f"host {host} GPU 0,host {host} GPU 1,{rate}\n")
        table = tmp_path / "t.csv"
        table.write_text("".join(["a,b,GB/s\n", *rows]))
        return [b.parts for b in locate_bad_parts("rails:4:8:1", [table]).found.bad]

    assert locate_slow_part(400) == [["NIC or cable of host 3 GPU 1 to unit 0 rail 1"]]
    assert locate_slow_part(160) == [["host 3 GPU 1"]]


def test_an_empty_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(Error, match=f"{tmp_path}: has no files"):
        locate_bad_parts("tree:4:4", [tmp_path])


def test_hosts_can_be_measured_without_naming_gpus(tmp_path: Path) -> None:
    table = tmp_path / "whole.csv"
    pairs = [(0, 1), (2, 3), (3, 4), (3, 5), (6, 7), (1, 2), (4, 5)]
    rows = [f"host {a},host {b},{20 if 3 in (a, b) else 50}\n" for a, b in pairs]
    table.write_text("".join(["a,b,GB/s\n", *rows]))
    (bad,) = locate_bad_parts("rails:2:8:2,host=2", [table]).found.bad
    assert "host 3" in bad.parts[0]
    table.write_text("a,b,GB/s\nhost 1,host 2 GPU 0,50\n")
    with pytest.raises(Error, match="host 1 and host 2 GPU 0 are a host and a GPU"):
        locate_bad_parts("rails:2:8:2,host=2", [table])


def test_repeated_slow_pairs_do_not_change_the_usual_time(
    cluster_file: Path, tmp_path: Path
) -> None:
    """Plans repeat suspect pairs, but each pair counts once for the usual time."""
    fast = [("cn00", "cn01"), ("cn04", "cn05"), ("cn08", "cn09"), ("cn02", "cn07")]
    slow = [("cn06", "cn04"), ("cn06", "cn07"), ("cn05", "cn06"), ("cn06", "cn13")]
    for times in (1, 2, 9):
        table = tmp_path / "t.csv"
        rows = [f"{a},{b},12\n" for a, b in fast]
        rows += [f"{a},{b},4\n" for a, b in slow] * times
        table.write_text("".join(["a,b,GB/s\n", *rows]))
        (bad,) = locate_bad_parts(cluster_file, [table]).found.bad
        assert bad.parts[0] == "host cn06"
        assert bad.factor == pytest.approx(3, rel=0.05)


def test_plans_use_host_names_of_the_allocation(topoloom: Any, tmp_path: Path) -> None:
    check = ("machine", "check", "fattree:4:4,up=1:2", "-a", "cn[01-08]")
    pairs = topoloom(*check, "--plan", "--json").json["plan"]
    named = {host for pair in pairs for host in pair}
    assert named <= {f"cn{n:02}" for n in range(1, 9)}
    table = tmp_path / "rounds.csv"
    rows = [f"{a},{b},12.5\n" for a, b in pairs]
    table.write_text("".join(["a,b,GB/s\n", *rows]))
    message = topoloom(*check, "--measured", table)
    assert message.out.startswith(f"nothing bad found by {len(rows)} measurements; 8")


def format_dumps(
    groups: Sequence[Sequence[str]], slow: str, factor: float, repeat_count: int = 3
) -> list[str]:
    """Write the files of the Inspector, one per rank, in host order."""
    lines = []
    for name, hosts in enumerate(groups):
        for place, host in enumerate(hosts):
            for number in range(1, repeat_count + 1):
                took = 1000 * (factor if slow in hosts else 1)
                took += 500 if place and number == 2 else number  # these ranks wait
                body = {
                    "coll": "AllReduce",
                    "coll_sn": number,
                    "coll_msg_size_bytes": 1 << 26,
                    "coll_exec_time_us": took,
                    "coll_timing_source": "kernel_gpu",
                }
                header = {"id": f"0x{name}", "rank": place, "n_ranks": len(hosts)}
                about = {"hostname": host, "pid": 100 + place}
                lines.append(
                    json.dumps({"header": header, "metadata": about, "coll_perf": body})
                )
    return lines


def test_nccl_dumps_locate_the_common_host_of_slow_communicators(
    cluster_file: Path, tmp_path: Path
) -> None:
    def get_host_name(n: int) -> str:
        return f"cn{n:02}"

    # Tensor and data parallel groups are the rows and columns of 4 x 4 hosts.
    rows = [[get_host_name(4 * i + j) for j in range(4)] for i in range(4)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    diagonals = [[rows[i][(i + j) % 4] for i in range(4)] for j in range(4)]
    folder = tmp_path / "nccl"
    folder.mkdir()
    lines = format_dumps([*rows, *columns, *diagonals], "cn09", 2.5)
    half = len(lines) // 2
    (folder / "a.log").write_text("\n".join(lines[:half]) + "\n")
    with gzip.open(folder / "b.log.gz", "wt") as file:
        file.write("\n".join(lines[half:]) + "\n")
    found = locate_bad_parts(cluster_file, [folder]).found
    assert found.bad[0].parts[0] == "host cn09"
    assert found.bad[0].factor == pytest.approx(2.5, rel=0.05)
    healthy = locate_bad_parts(
        cluster_file, [_write_log(tmp_path, format_dumps(rows, "", 1))]
    )
    assert healthy.found.bad == []


def _write_log(folder: Path, lines: Sequence[str]) -> Path:
    file = folder / "written.log"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_insufficient_dumps_are_reported(cluster_file: Path, tmp_path: Path) -> None:
    pairs = [["cn00", "cn01"], ["cn02", "cn03"]]
    found = locate_bad_parts(
        cluster_file, [_write_log(tmp_path, format_dumps(pairs, "cn00", 9))]
    )
    assert found.found.tests == 0
    assert "fewer than 3 others that do the same" in found.doubts[0]
    without = format_dumps([*pairs, ["cn04", "cn05"]], "", 1)[3:]
    file = _write_log(tmp_path, without)
    with pytest.raises(
        IncompleteTraceError, match="communicator 0x0 lacks 1 of 2 ranks"
    ):
        locate_bad_parts(cluster_file, [file])
    found = locate_bad_parts(cluster_file, [file], partial=True)
    assert found.doubts[0] == "communicator 0x0 lacks 1 of 2 ranks"
    timeless = [
        line.replace("exec_time", "time") for line in format_dumps(pairs, "", 1)
    ]
    with pytest.raises(Error, match="no operation has lines of all ranks and a time"):
        locate_bad_parts(cluster_file, [_write_log(tmp_path, timeless)])
    with pytest.raises(Error, match=r"written.log:1: host xx is not one"):
        locate_bad_parts(
            cluster_file, [_write_log(tmp_path, format_dumps([["xx", "cn01"]], "", 1))]
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: the first line must be a,b,UNIT"),
        ("a,b,furlongs\n", ":1: the first line must be a,b,UNIT"),
        ("a,b,GB/s\ncn00,cn01\n", ":2: has 2 columns instead of 3"),
        ("a,b,GB/s\ncn00,cn99,1\n", ":2: 'cn99' is not a host of the machine"),
        ("a,b,GB/s\n\ncn00,cn00,1\n", ":3: cn00 is measured with itself"),
        ("a,b,us\ncn00,cn01,-1\n", ":2: '-1' is not a number above 0"),
        ("a,b,us\ncn00,cn01,nan\n", ":2: 'nan' is not a number above 0"),
    ],
)
def test_tables_that_cannot_be_read_are_refused(
    cluster_file: Path, tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(Error, match="t.csv" + message.replace("(", r"\(")):
        locate_bad_parts(cluster_file, [file])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plan"], "MACHINE is missing"),
        (["tree:4:4", "--plan", "-m", "tree:4"], "from 'tree:4:4'; leave -m out"),
        (["tree:4:4", "--plan", "--", "srun"], "leave -- LAUNCHER out"),
        (["tree:4:4", "--plan", "--quick"], "leave --quick out"),
        (["tree:4:4", "--measured", "none.csv"], "none.csv"),
        (["m.toml", "--partial", "--", "srun"], "--partial is for files of"),
        (["m.toml"], "no launcher is given; add it after --"),
    ],
)
def test_wrong_options_of_checks_are_refused(
    topoloom: Any, words: list[str], message: str
) -> None:
    found = topoloom("machine", "check", *words)
    assert found.status == 2
    assert message in found.err
