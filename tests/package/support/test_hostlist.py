# SPDX-License-Identifier: BSD-3-Clause
"""Slurm host lists are expanded and compressed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.support.hostlist import compress_hostlist, expand_hostlist, is_host_name


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1", ["n1"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-10]", ["n08", "n09", "n10"]),
        ("n[001-002,070]", ["n001", "n002", "n070"]),
        ("n[998-1001]", ["n998", "n999", "n1000", "n1001"]),
        ("a,b[1-2],c", ["a", "b1", "b2", "c"]),
        ("r[1-2]n[1,3]", ["r1n1", "r1n3", "r2n1", "r2n3"]),
        ("r[1-2]n[1,3]-ib", ["r1n1-ib", "r1n3-ib", "r2n1-ib", "r2n3-ib"]),
        ("tux[0-3,12,18-20]", [f"tux{i}" for i in (0, 1, 2, 3, 12, 18, 19, 20)]),
        ("n[2-2].cluster.org", ["n2.cluster.org"]),
        ("n[3,1,2]", ["n3", "n1", "n2"]),
    ],
)
def test_host_lists_keep_their_order_and_padding(text: str, hosts: list[str]) -> None:
    assert expand_hostlist(text) == hosts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n[1-3",
        "n1-3]",
        "n[[1-2]]",
        "n[]",
        "n[3-1]",
        "n[a-b]",
        "n[1-]",
        "n[-1]",
        "a,,b",
        "n[1;2]",
        "n 1",
        "n[1-99999999999]",
        "n[1-9999]m[1-9999]",
        "ü[1-2]",
    ],
)
def test_malformed_host_lists_are_refused(text: str) -> None:
    with pytest.raises(Error, match="host list"):
        expand_hostlist(text)


def expand_by_definition(text: str) -> list[str]:
    """Expand a host list by its definition: the first bracket, then the rest."""
    match = re.search(r"\[([^]]*)\]", text)
    if match is None:
        return [text]
    hosts = []
    for part in match[1].split(","):
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            word = str(number).zfill(len(first))
            hosts += expand_by_definition(
                text[: match.start()] + word + text[match.end() :]
            )
    return hosts


RANGES = st.lists(
    st.tuples(st.integers(0, 120), st.integers(0, 8), st.integers(1, 4)).map(
        lambda t: f"{t[0]:0{t[2]}d}-{t[0] + t[1]}" if t[1] else f"{t[0]:0{t[2]}d}"
    ),
    min_size=1,
    max_size=3,
).map(lambda parts: f"[{','.join(parts)}]")


@given(
    st.lists(
        st.one_of(RANGES, st.sampled_from(["n", "rack-", "a"])), min_size=1, max_size=3
    )
)
def test_any_host_list_expands_according_to_its_definition(pieces: list[str]) -> None:
    text = "h" + "x".join(pieces)
    assert expand_hostlist(text) == expand_by_definition(text)


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        ("", ""),
        ("n1", "n1"),
        ("n1 n2 n3", "n[1-3]"),
        ("n08 n09 n10", "n[08-10]"),
        ("n998 n999 n1000", "n[998-1000]"),
        ("n9 n010", "n[9,010]"),
        ("n3 n2 n2 n1", "n[3,2,2,1]"),
        ("r1n1 r1n2 r2n1 r2n2", "r1n[1-2],r2n[1-2]"),
        ("r1n1 r2n1 r3n1", "r[1-3]n1"),
        ("n1.a2.org n2.a2.org login", "n[1-2].a2.org,login"),
        ("a b", "a,b"),
    ],
)
def test_host_lists_are_compressed(hosts: str, text: str) -> None:
    assert compress_hostlist(hosts.split()) == text


def test_invalid_host_names_are_not_written() -> None:
    with pytest.raises(Error, match="'a b' is not a host name"):
        compress_hostlist(["n1", "a b"])


HOSTS = st.lists(
    st.one_of(
        st.from_regex(r"[a-c]{0,1}[0-9]{1,2}[.\-n]?[0-9]{0,2}", fullmatch=True),
        st.from_regex(r"[A-Za-z0-9_.\-]{1,30}", fullmatch=True).filter(is_host_name),
        st.integers(10**16, 10**20).map(lambda number: f"n{number}"),
    ),
    min_size=1,
    max_size=20,
)


@given(HOSTS)
def test_a_written_host_list_expands_to_its_hosts(hosts: list[str]) -> None:
    assert expand_hostlist(compress_hostlist(hosts)) == hosts


@pytest.mark.parametrize("name", ["-n1", "--map-by", "-[1-2]", ".", ".."])
def test_options_and_folders_are_no_host_names(name: str) -> None:
    assert not is_host_name(name)
    with pytest.raises(Error, match="is not a host name"):
        expand_hostlist(name)


@pytest.mark.parametrize("name", ["n-1", "n.1", "1-n", "..n", "n.."])
def test_hyphens_and_dots_inside_names_are_allowed(name: str) -> None:
    assert is_host_name(name)
