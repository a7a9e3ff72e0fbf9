# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a batch job, as listed by each scheduler."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.importers.system.node_lists import (
    list_job_hosts,
    parse_host_counts,
    parse_host_lines,
)


def write_tool(directory: Path, name: str, script: str) -> None:
    file = directory / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("variable", "value", "hosts"),
    [
        ("SLURM_JOB_NODELIST", "cn[08-10],login", ("cn08", "cn09", "cn10", "login")),
        ("LSB_MCPU_HOSTS", "b 1 a 42 c 42", ("b", "a", "c")),
        ("LSB_HOSTS", "b b a a c", ("b", "a", "c")),
    ],
)
def test_a_variable_names_the_nodes(
    variable: str, value: str, hosts: tuple[str, ...]
) -> None:
    assert list_job_hosts({variable: value, "HOME": "here"}) == hosts


@pytest.mark.parametrize("variable", ["PBS_NODEFILE", "PJM_O_NODEINF"])
def test_a_file_names_a_node_once_per_slot(variable: str, tmp_path: Path) -> None:
    file = tmp_path / "nodes"
    file.write_text("n2.site\nn2.site\nn10.site\n\nn1.site\nn2.site\n")
    assert list_job_hosts({variable: str(file)}) == ("n2.site", "n10.site", "n1.site")


def test_flux_lists_the_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    inside = {"FLUX_URI": "local:///x", "SLURM_JOB_NODELIST": "other"}
    write_tool(tmp_path, "flux", 'echo "$1 $2" >&2; echo "fl[1-3,7]"')
    assert list_job_hosts(inside) == ("fl1", "fl2", "fl3", "fl7")
    write_tool(tmp_path, "flux", "echo no broker >&2; exit 1")
    with pytest.raises(Error, match=r"FLUX_URI: 'flux hostlist local' failed: no bro"):
        list_job_hosts(inside)
    (tmp_path / "flux").unlink()
    with pytest.raises(Error, match=r"FLUX_URI: 'flux hostlist local' failed: .*flux"):
        list_job_hosts(inside)


def test_outside_of_a_job_there_are_no_nodes() -> None:
    assert list_job_hosts({}) == ()
    assert list_job_hosts({"SLURM_JOB_NODELIST": ""}) == ()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("SLURM_JOB_NODELIST", "n[1-", "SLURM_JOB_NODELIST: host list"),
        (
            "LSB_MCPU_HOSTS",
            "a 1 b",
            "LSB_MCPU_HOSTS: 'a 1 b' is not a list of hosts, each with",
        ),
        ("LSB_MCPU_HOSTS", "a b", "is not a list of hosts, each with a number"),
        ("LSB_HOSTS", " ", "LSB_HOSTS: names no host"),
        ("LSB_HOSTS", "a b!", "LSB_HOSTS:2: 'b!' is not a host name"),
        ("PBS_NODEFILE", "none", "PBS_NODEFILE: none: No such file"),
    ],
)
def test_a_variable_with_a_missing_file_is_named(
    variable: str, value: str, message: str
) -> None:
    with pytest.raises(Error) as caught:
        list_job_hosts({variable: value})
    assert message in str(caught.value)


def test_a_bad_line_of_a_node_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "nodes"
    file.write_text("n1\nn 2\n")
    with pytest.raises(Error, match=r"PBS_NODEFILE: .*nodes:2: 'n 2' is not a host"):
        list_job_hosts({"PBS_NODEFILE": str(file)})


@given(st.text(max_size=80))
def test_any_text_gives_hosts_or_an_error(text: str) -> None:
    for read in (parse_host_lines, parse_host_counts):
        try:
            assert all(read(text))
        except Error as error:
            assert "is not" in str(error)  # noqa: PT017
