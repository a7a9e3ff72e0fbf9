# SPDX-License-Identifier: BSD-3-Clause
"""Host names are passed from the machine description to the launcher file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

MACHINE = """format = "topoloom-machine"
version = 1
[topology]
kind = "torus"
size = [2, 4]
hosts = "cn[11-18]"
"""


def write_machine_and_pattern(topoloom: Command) -> None:
    Path("m.toml").write_text(MACHINE)
    assert (
        topoloom("pattern", "generate", "ring", "--ranks", 4, "-o", "p.npz").status == 0
    )


def test_a_rewritten_machine_keeps_its_host_names(topoloom: Command) -> None:
    write_machine_and_pattern(topoloom)
    assert topoloom("machine", "export", "m.toml", "-o", "again.toml").status == 0
    for file in ("m.toml", "again.toml"):
        shown = topoloom("machine", "show", file, "--json").json
        assert shown["hosts"] == "cn[11-18]"


def test_an_exported_placement_has_the_host_names_of_the_machine(
    topoloom: Command,
) -> None:
    write_machine_and_pattern(topoloom)
    for words, names in (
        ([], ["cn11", "cn12", "cn13", "cn14"]),
        (["--allocation", "cn[15-18]"], ["cn15", "cn16", "cn17", "cn18"]),
    ):
        mapped = topoloom(
            "map", "p.npz", "-m", "m.toml", *words, "--mapper", "block", "-o", "x.json"
        )
        assert mapped.status == 0, mapped.err
        text = topoloom("export", "x.json", "--to", "slurm-hostfile").out
        assert text.split() == names
    for to, name, use in (
        ("slurm-hostfile", "h.txt", "SLURM_HOSTFILE=h.txt srun"),
        ("json", "FILE.json", 'open("FILE.json")'),
    ):
        assert use in topoloom("export", "x.json", "--to", to, "-o", name).out


def test_a_host_that_the_machine_lacks_is_named(topoloom: Command) -> None:
    write_machine_and_pattern(topoloom)
    outcome = topoloom(
        "map", "p.npz", "-m", "m.toml", "--allocation", "cn[18-19]", "-o", "x.json"
    )
    assert outcome.status == 2
    assert "the machine has no host cn19" in outcome.err


def test_a_generated_allocation_names_its_hosts(topoloom: Command) -> None:
    write_machine_and_pattern(topoloom)
    made = topoloom("allocate", "-m", "m.toml", "-N", 4, "-o", "a.txt")
    assert made.status == 0, made.err
    lines = Path("a.txt").read_text().splitlines()[2:]
    assert all(line.startswith("cn1") for line in lines)
    mapped = topoloom(
        "map", "p.npz", "-m", "m.toml", "--allocation", "a.txt", "-o", "x.json"
    )
    assert mapped.status == 0, mapped.err


def test_map_inside_a_job_needs_no_machine_options(
    topoloom: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FLUX_URI", "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_CPUS_PER_NODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLURM_JOB_NODELIST", "cn[1-4]")
    assert (
        topoloom("pattern", "generate", "ring", "--ranks", 4, "-o", "p.npz").status == 0
    )
    shown = topoloom("machine", "detect", "-o", "here.toml", "--json").json
    assert (shown["nodes"], shown["hosts"]) == (4, "cn[1-4]")
    for machine in ("detect", "here.toml"):
        mapped = topoloom(
            "map", "p.npz", "-m", machine, "--mapper", "block", "-o", "x.json"
        )
        assert mapped.status == 0, mapped.err
        assert "cn1" in topoloom("export", "x.json", "--to", "slurm-hostfile").out


#: 4 of the 12 nodes of a Fugaku cell have host names
CELL = "".join(f"h{i} 0 0 0 {i % 2} 0 {i // 2}\n" for i in range(4))


def test_coordinates_without_a_host_are_never_allocated(topoloom: Command) -> None:
    Path("cell.txt").write_text(CELL)
    assert (
        topoloom("pattern", "generate", "ring", "--ranks", 4, "-o", "p.npz").status == 0
    )
    assert (
        topoloom("machine", "show", "cell.txt", "--json").json["hosts"] == "h[0,2,1,3]"
    )
    assert topoloom("machine", "export", "cell.txt", "-o", "cell.toml").status == 0
    for machine in ("cell.txt", "cell.toml"):
        for words in ([], ["--nodes", 4]):
            mapped = topoloom("map", "p.npz", "-m", machine, *words, "-o", "x.json")
            assert mapped.status == 0, mapped.err
            text = topoloom("export", "x.json", "--to", "slurm-hostfile").out
            assert sorted(text.split()) == ["h0", "h1", "h2", "h3"]


def test_more_nodes_than_hosts_cannot_be_generated(topoloom: Command) -> None:
    Path("cell.txt").write_text(CELL)
    outcome = topoloom("allocate", "-m", "cell.txt", "-N", 5, "-o", "a.txt")
    assert outcome.status == 2
    assert (
        "cannot allocate 5 nodes: 4 of the machine's nodes have a host" in outcome.err
    )
