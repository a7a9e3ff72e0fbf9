# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom map --mapper tile`, and `topoloom grid`: process grids on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

MACHINE = "torus:4x8+node:8"


@pytest.fixture
def placed(topoloom: Command) -> Command:
    topoloom("pattern", "stencil2d", "--grid", "16x16", "--open", "-o", "p.npz")
    mapped = topoloom("map", "p.npz", "-m", MACHINE, "--mapper", "tile", "-o", "x.json")
    assert (mapped.status, mapped.err) == (0, "")
    return topoloom


def test_tiles_have_the_published_links_and_collectives_gain(placed: Command) -> None:
    found = placed("grid", "x.json", "--grid", "16x16", "--json").json
    assert found["external_links"] == 6
    assert found["block"]["external_links"] == 9
    for name in ("pipelined_s", "binomial_broadcast_s", "binomial_gather_s"):
        assert 0 < found[name] < found["block"][name]
    more = placed(
        "grid",
        "x.json",
        "--grid",
        "16x16",
        "--channels",
        4,
        "--bytes",
        "1MiB",
        "--json",
    ).json
    assert more["binomial_broadcast_s"] < found["binomial_broadcast_s"]


def test_people_get_a_table_with_gains(placed: Command) -> None:
    printed = placed("grid", "x.json", "--grid", "16x16")
    assert (printed.status, printed.err) == (0, "")
    assert "external links" in printed.out
    assert "+33.3 %" in printed.out


def test_block_order_is_shown_alone(topoloom: Command) -> None:
    topoloom("pattern", "stencil2d", "--grid", "8x8", "-o", "p.npz")
    topoloom(
        "map", "p.npz", "-m", "torus:8+node:8", "--mapper", "block", "-o", "x.json"
    )
    printed = topoloom("grid", "x.json", "--grid", "8x8")
    assert (printed.status, printed.err) == (0, "")


def test_a_grid_that_does_not_fit_is_refused_with_one_that_does(
    placed: Command,
) -> None:
    refused = placed("grid", "x.json", "--grid", "16x15")
    assert refused.status == 2
    assert "nearest that has is 16x16" in refused.err
    refused = placed("map", "p.npz", "-m", MACHINE, "--mapper", "tile(grid=16x15)")
    assert refused.status == 2
    assert "nearest that has is 16x16" in refused.err
    for words in (["--channels", "0"], ["--bytes", "0"], ["--bandwidth", "fast"]):
        refused = placed("grid", "x.json", "--grid", "16x16", *words)
        assert refused.status == 2
        assert refused.err.count("\n") == 1


def test_ranks_without_a_grid_are_told_how_to_name_one(topoloom: Command) -> None:
    topoloom("pattern", "random-geometric", "--ranks", "32", "-o", "p.npz")
    refused = topoloom("map", "p.npz", "-m", "torus:4+node:8", "--mapper", "tile")
    assert refused.status == 2
    assert "tile(grid=" in refused.err


@pytest.mark.parametrize(
    ("machine", "speeds"),
    [
        (
            "mesh:4x4+node:4",
            "latency 1 us (assumed), 10 GB/s (assumed) between nodes, "
            "50 GB/s (assumed) inside",
        ),
        (
            "mesh:4x4,bandwidth=2GB/s,latency=1us"
            "+node:4,startup=2us,latency=3us,memory=8GB/s",
            "latency 6 us (the machine's), 2 GB/s (the machine's) between nodes, "
            "8 GB/s (the machine's) inside",
        ),
        (
            "mesh:4x4,bandwidth=2GB/s+node:4,bandwidth=1GB/s,startup=2us,memory=8GB/s",
            "latency 2 us (the machine's), 1 GB/s (the machine's) between nodes, "
            "8 GB/s (the machine's) inside",
        ),
    ],
)
def test_a_grid_is_as_fast_as_its_machine(
    topoloom: Command, machine: str, speeds: str
) -> None:
    topoloom("pattern", "stencil2d", "--grid", "8x8", "-o", "p.npz")
    topoloom("map", "p.npz", "-m", machine, "--mapper", "block", "-o", "x.json")
    words = ["grid", "x.json", "--grid", "8x8"]
    assert f"  speeds  {speeds}\n" in topoloom(*words).out
    found = topoloom(*words, "--json").json
    assert found["speeds"] == speeds
    # The same in options: nothing is left to the machine.
    latency, outer, inner = (
        word.split(" (")[0].removeprefix("latency ") for word in speeds.split(", ")
    )
    options = ["--latency", latency, "--bandwidth", outer, "--inner-bandwidth", inner]
    again = topoloom(*words, *options, "--json").json
    assert "(" not in again["speeds"]
    assert {**again, "speeds": ""} == {**found, "speeds": ""}
