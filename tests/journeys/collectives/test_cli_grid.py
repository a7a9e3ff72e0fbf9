# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom map --mapper tile` places process grids, `collective grid` measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

MACHINE = "torus:4x8+node:8"


@pytest.fixture
def topoloom_with_placement(topoloom: Command) -> Command:
    topoloom(
        "pattern", "generate", "stencil2d", "--grid", "16x16", "--open", "-o", "p.npz"
    )
    mapped = topoloom("map", "p.npz", "-m", MACHINE, "--mapper", "tile", "-o", "x.json")
    assert (mapped.status, mapped.err) == (0, "")
    return topoloom


def test_tiles_have_the_published_links_and_collectives_gain(
    topoloom_with_placement: Command,
) -> None:
    found = topoloom_with_placement(
        "collective", "grid", "x.json", "--grid", "16x16", "--json"
    ).json
    assert found["external_links"] == 6
    assert found["block"]["external_links"] == 9
    for name in (
        "pipelined_seconds",
        "binomial_bcast_seconds",
        "binomial_gather_seconds",
    ):
        assert 0 < found[name] < found["block"][name]
    more = topoloom_with_placement(
        "collective",
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
    assert more["binomial_bcast_seconds"] < found["binomial_bcast_seconds"]


def test_the_grid_table_shows_gains(topoloom_with_placement: Command) -> None:
    printed = topoloom_with_placement("collective", "grid", "x.json", "--grid", "16x16")
    assert (printed.status, printed.err) == (0, "")
    assert "external links" in printed.out
    assert "+33.3 %" in printed.out


def test_block_order_is_shown_without_comparison(topoloom: Command) -> None:
    topoloom("pattern", "generate", "stencil2d", "--grid", "8x8", "-o", "p.npz")
    topoloom(
        "map", "p.npz", "-m", "torus:8+node:8", "--mapper", "block", "-o", "x.json"
    )
    printed = topoloom("collective", "grid", "x.json", "--grid", "8x8")
    assert (printed.status, printed.err) == (0, "")


COLLECTIVES = {
    "pipelined": "pipelined_seconds",
    "bcast": "binomial_bcast_seconds",
    "scatter": "binomial_scatter_seconds",
    "gather": "binomial_gather_seconds",
}


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("channels", [1, 3])
def test_the_placement_of_the_fastest_tile_has_the_printed_time(
    topoloom_with_placement: Command, collective: str, channels: int
) -> None:
    words = ["collective", "grid", "--grid", "16x16", "--channels", channels, "--json"]
    search = ["--fastest-tile", collective, "-o", "y.json"]
    tiles = topoloom_with_placement(*words, "x.json", *search).json["tiles"]
    assert sorted(one["tile"] for one in tiles) == [[1, 8], [2, 4], [4, 2], [8, 1]]
    times = [one[COLLECTIVES[collective]] for one in tiles]
    assert times == pytest.approx(sorted(times))
    written = topoloom_with_placement(*words, "y.json").json
    assert all(written[name] == tiles[0][name] for name in COLLECTIVES.values())
    # Block order is the tile 1x8, so the best tile is no slower.
    assert times[0] <= written["block"][COLLECTIVES[collective]]


def test_tiles_never_lose_with_many_channels_in_the_default_reading(
    topoloom_with_placement: Command,
) -> None:
    words = ["collective", "grid", "x.json", "--grid", "16x16", "--json", "--channels"]
    counted = topoloom_with_placement(*words, 8).json
    assert counted["pipelined_seconds"] <= counted["block"]["pipelined_seconds"]
    printed = topoloom_with_placement(*words, 8, "--reading", "printed").json
    assert printed["pipelined_seconds"] > printed["block"]["pipelined_seconds"]


def test_a_non_default_model_reading_is_printed(
    topoloom_with_placement: Command,
) -> None:
    for more in ([], ["--fastest-tile", "scatter"]):
        words = ["collective", "grid", "x.json", "--grid", "16x16", *more]
        assert "reading" not in topoloom_with_placement(*words).out
        words += ["--reading", "printed"]
        assert "  reading  printed\n" in topoloom_with_placement(*words).out
        assert topoloom_with_placement(*words, "--json").json["reading"] == "printed"


def test_impossible_tiles_are_refused(topoloom: Command) -> None:
    topoloom("pattern", "generate", "stencil2d", "--grid", "5x5", "-o", "p.npz")
    topoloom("map", "p.npz", "-m", "mesh:7+node:4", "--mapper", "tile", "-o", "x.json")
    for words, what in (
        (["--fastest-tile", "scatter"], "gives nodes 1 to 4 ranks"),
        (["--fastest-tile", "all"], "expected one of pipelined, bcast"),
        (["--reading", "read"], "there are: counted, printed"),
        (["-o", "y.json"], "--fastest-tile"),
    ):
        refused = topoloom("collective", "grid", "x.json", "--grid", "5x5", *words)
        assert refused.status == 2
        assert what in refused.err
        assert refused.err.count("\n") == 1


def test_a_grid_that_does_not_fit_is_refused_with_a_suggestion(
    topoloom_with_placement: Command,
) -> None:
    refused = topoloom_with_placement("collective", "grid", "x.json", "--grid", "16x15")
    assert refused.status == 2
    assert "16x16" in refused.err
    refused = topoloom_with_placement(
        "map", "p.npz", "-m", MACHINE, "--mapper", "tile(grid=16x15)"
    )
    assert refused.status == 2
    assert "16x16" in refused.err
    for words in (["--channels", "0"], ["--bytes", "0"], ["--bandwidth", "fast"]):
        refused = topoloom_with_placement(
            "collective", "grid", "x.json", "--grid", "16x16", *words
        )
        assert refused.status == 2
        assert refused.err.count("\n") == 1


def test_ranks_without_a_grid_are_refused_with_a_hint(topoloom: Command) -> None:
    topoloom("pattern", "generate", "random-geometric", "--ranks", "32", "-o", "p.npz")
    refused = topoloom("map", "p.npz", "-m", "torus:4+node:8", "--mapper", "tile")
    assert refused.status == 2
    assert "tile(grid=" in refused.err


@pytest.mark.parametrize(
    ("machine", "speeds"),
    [
        (
            "mesh:4x4+node:4",
            "latency 1 us (assumed), 10 GB/s (assumed) between nodes, "
            "12 GB/s (assumed) inside",
        ),
        (
            "mesh:4x4,bandwidth=2GB/s,latency=1us"
            "+node:4,startup=2us,latency=3us,memory=8GB/s",
            "latency 6 us (the machine's), 2 GB/s (the machine's) between nodes, "
            "2 GB/s (the machine's) inside",
        ),
        (
            "mesh:4x4,bandwidth=2GB/s+node:4,memory=80GB/s",
            "latency 1 us (assumed), 2 GB/s (the machine's) between nodes, "
            "12 GB/s (assumed) inside",
        ),
        (
            "mesh:4x4,bandwidth=2GB/s,latency=3us+node:32",
            "latency 4 us (the machine's; 1 us of it assumed), "
            "2 GB/s (the machine's) between nodes, 6.25 GB/s (assumed) inside",
        ),
        (
            "mesh:4x4,bandwidth=2GB/s+node:4,bandwidth=1GB/s,startup=2us,memory=8GB/s",
            "latency 2 us (the machine's), 1 GB/s (the machine's) between nodes, "
            "2 GB/s (the machine's) inside",
        ),
    ],
)
def test_grid_speeds_are_read_from_the_machine(
    topoloom: Command, machine: str, speeds: str
) -> None:
    topoloom("pattern", "generate", "stencil2d", "--grid", "8x8", "-o", "p.npz")
    topoloom("map", "p.npz", "-m", machine, "--mapper", "block", "-o", "x.json")
    words = ["collective", "grid", "x.json", "--grid", "8x8"]
    assert f"  speeds  {speeds}\n" in topoloom(*words).out
    found = topoloom(*words, "--json").json
    assert found["speeds"] == speeds
    # Give all speeds as options, so that none is taken from the machine.
    latency, outer, inner = (
        word.split(" (")[0].removeprefix("latency ") for word in speeds.split(", ")
    )
    options = ["--latency", latency, "--bandwidth", outer, "--inner-bandwidth", inner]
    again = topoloom(*words, *options, "--json").json
    assert "(" not in again["speeds"]
    assert {**again, "speeds": ""} == {**found, "speeds": ""}
