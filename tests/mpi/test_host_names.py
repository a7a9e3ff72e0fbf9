# SPDX-License-Identifier: BSD-3-Clause
"""Host names with and without domain match in all comparisons."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from built_programs import compile_program
from mpis import MPICH, PROGRAMS, need

from topoloom.launch.apply.dry_run import _is_same_host

ROOT = Path(__file__).parents[2]

#: (hosts of a file, host name of a process, matching host of the file)
CASES = [
    ("n1 n2", "n2", "n2"),
    ("n1 n2", "n2.site", "n2"),
    ("n1.a n2.a", "n2", "n2.a"),
    ("n1.a n2.a", "n2.a", "n2.a"),
    ("n1.a n2.a", "n2.b", None),
    ("n1.a.b", "n1.a", None),
    ("n1.a n1.b", "n1.b", "n1.b"),
    ("n1.a n1.b", "n1.c", None),
    ("n1.a n1.b", "n1", None),
    ("n1 n10", "n", None),
    ("10.0.0.1", "10.0.0.2", None),
]


@pytest.fixture(scope="module")
def name_finder() -> Path:
    folders = [
        ROOT / "mpi/process_map",
        ROOT / "mpi/reorder",
        ROOT / "core/topoloom/capi",
    ]
    sources = [PROGRAMS / "host_names.c"]
    names = ("cpus", "host_names", "machine_file", "bindings")
    sources += [folders[0] / f"{name}.c" for name in names]
    compiler = need(MPICH.compilers[".c"], MPICH.install)
    include = [f"-I{each}" for each in folders]
    return compile_program("host_names", [compiler, *include, *sources])


def find_local_host(
    name_finder: Path, folder: Path, hosts: list[str], name: str
) -> str:
    plan, machine = folder / "plan", folder / "machine"
    plan.write_text("".join(f"{i} {h} 0 -\n" for i, h in enumerate(hosts)))
    nodes = "".join(f"node {i} {host}\n" for i, host in enumerate(hosts))
    costs = "message - 1e-6 1e-9\nlinks - 2 0.5\ncost latency 1e-6\n"  # for others
    machine.write_text(f"machine torus:4\n{nodes}{costs}")
    words = [name_finder, plan, machine, name]
    return subprocess.run(words, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(("text", "name", "meant"), CASES)
def test_one_rule_matches_host_names(
    text: str, name: str, meant: str | None, name_finder: Path, tmp_path: Path
) -> None:
    hosts = text.split()
    node = -1 if meant is None else hosts.index(meant)
    assert (
        find_local_host(name_finder, tmp_path, hosts, name) == f"{meant or '-'} {node}"
    )
    same = [host for host in hosts if _is_same_host(host, name)]
    # An ambiguous name matches several hosts if each is compared alone.
    assert same == [meant] if meant else len(same) != 1


def test_a_host_that_matches_two_names_is_refused(
    name_finder: Path, tmp_path: Path
) -> None:
    problem = find_local_host(name_finder, tmp_path, ["n1", "n2", "n1"], "n1")
    assert problem == f"{tmp_path / 'machine'}: a host is given twice: n1"
