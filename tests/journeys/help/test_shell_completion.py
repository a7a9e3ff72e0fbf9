# SPDX-License-Identifier: BSD-3-Clause
"""The shell completes commands, options, and values with a fixed set of names."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.shell_completion import get_completion_class

from topoloom.cli.app import app, command_names, find_command
from topoloom.cli.completion_scripts import register_completions
from topoloom.graphs.graph_file import FORMATS as GRAPHS
from topoloom.graphs.traces.trace_formats import FORMATS as TRACES

if TYPE_CHECKING:
    from tests.conftest import Command

#: Metavars of numbers, quantities and other values that no list contains.
FREE = {
    *("N", "D", "K", "P", "X", "N|A-B,C", "RANK", "RANKS", "HOST", "HOSTS"),
    "-- OPTIONS",
    *("SIZE", "SIZE,...", "BYTES", "TIME", "RATE", "SHARE", "FLITS", "LOAD,..."),
    *("AxBxC", "RANK=SLOT,...", "TOPOLOGY", "PART", "PROGRAM", "RUN", "TEXT"),
    "REGEX",
}
Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Complete:
    """Return what bash inserts in place of its last word, as ``type,value``."""
    monkeypatch.chdir(tmp_path)
    register_completions()
    bash = get_completion_class("bash")
    assert bash is not None

    def complete_line(line: str) -> list[str]:
        monkeypatch.setenv("COMP_LINE", f"topoloom {line}")
        monkeypatch.setenv("COMP_WORDBREAKS", " \t\n\"'><=;|&(:")
        return bash(app, {}, "topoloom", "").complete().splitlines()

    return complete_line


@pytest.mark.parametrize("name", command_names())
def test_every_value_with_a_fixed_set_of_names_is_completed(name: str) -> None:
    command = find_command(name)
    context = click.Context(command)
    for parameter in command.params:
        if not getattr(parameter, "is_flag", False) and parameter.metavar not in FREE:
            assert parameter.shell_complete(context, ""), parameter.opts


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("ma", ["map", "machine"]),
        ("machine sh", ["show"]),
        ("map p.npz --alloc", ["--allocation"]),
        ("list map", ["mappers"]),
        ("map p.npz --machine ho", ["hopper"]),
        ("map p.npz --machine=ho", ["hopper"]),
        ("machine draw ho", ["hopper"]),
        ("map p.npz -m torus:8x8,band", ["8x8,bandwidth="]),
        ("map p.npz -m 'torus:8x8,band", ["torus:8x8,bandwidth="]),
        ("map p.npz -m fattree:4:4,routing=s-", ["s-mod-k"]),
        ("map p.npz -m frontier+no", ["frontier+node:"]),
        ("map p.npz -m frontier+node:8,sta", ["8,startup="]),
        ("map p.npz --mapper gge+sw", ["gge+swap"]),
        ("map p.npz --mapper 'mahd+swap(re", ["mahd+swap(reach="]),
        ("map p.npz --mapper 'auto(effort=b", ["auto(effort=best"]),
        (
            "compare p.npz --mappers 'swap(reach=3),multis",
            ["swap(reach=3),multisection"],
        ),
        ("map p.npz --objective ti", ["time"]),
        (
            "map p.npz --objective 'weighted(time=1,cong",
            ["weighted(time=1,congestion=", "weighted(time=1,congestion-soft="],
        ),
        ("export x.json --to fl", ["flux-taskmap"]),
        ("export x.json --bind ", ["core", "pu"]),
        (
            "collective rank bcast --schedule 'binomial,chain(s",
            ["binomial,chain(segment="],
        ),
        ("collective export alltoall,bc", ["alltoall,bcast"]),
        ("machine sweep mesh:4x4 --injection 'on-off(p", ["on-off(peak="]),
        ("ai axes --mesh tp=8,d", ["8,dp="]),
    ],
)
def test_values_are_completed_inside_lists_chains_and_options(
    complete: Complete, line: str, found: list[str]
) -> None:
    assert complete(line) == [f"plain,{value}" for value in found]


def test_formats_of_graphs_are_those_that_can_be_imported(complete: Complete) -> None:
    found = complete("pattern import trace --format ")
    assert found == [f"plain,{name}" for name in (*GRAPHS, *TRACES)]


def test_files_are_completed_unless_a_name_matches(complete: Complete) -> None:
    assert complete("map p") == ["file,p"]
    assert complete("map p.npz -m data/clu") == ["file,data/clu"]
    assert complete("joint p.npz -o ") == ["dir,"]
    Path("tofu.toml").touch()
    assert complete("machine show tof") == ["plain,tofu.toml"]


def test_bash_inserts_the_completions() -> None:
    lines = [
        "machine sh",
        "map p.npz -m torus:8x8,band",
        "compare p.npz --mappers a,gg",
    ]
    script = 'eval "$(topoloom --show-completion bash)"; compopt() { echo "$@"; }\n'
    for line in lines:
        call = f"COMP_LINE='topoloom {line}' COMP_POINT={9 + len(line)} COMPREPLY=()"
        script += f'{call}; _topoloom_completion topoloom; echo "${{COMPREPLY[@]}}"\n'
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    shown = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    words = ["show", "-o nospace", "8x8,bandwidth=", "a,gge"]
    assert shown.stdout.splitlines() == words, shown.stderr


def test_bash_completes_with_the_variables_of_click(
    topoloom: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_TOPOLOOM_COMPLETE", "bash_complete")
    refused = topoloom()
    assert refused.status == 2
    assert "requires COMP_WORDS and COMP_CWORD" in refused.err
    monkeypatch.setenv("COMP_WORDS", "topoloom machine sh")
    monkeypatch.setenv("COMP_CWORD", "x")
    assert topoloom().err == "topoloom: COMP_CWORD must be an integer, not 'x'\n"
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit):
        topoloom()


def test_an_unknown_shell_is_refused(
    topoloom: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_TOPOLOOM_COMPLETE", "foo_complete")
    refused = topoloom()
    assert refused.status == 2
    assert "must be one of bash_complete, zsh_complete, fish_complete" in refused.err
