# SPDX-License-Identifier: BSD-3-Clause
"""A probe recovers the parameters of simulated machines."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from platforms import format_torus, format_tree, shuffle_hosts, write_launcher

from topoloom import load_machine
from topoloom.machines.machine_file import load_machine_and_allocation
from topoloom.model import load_model
from topoloom.probe.job.samples import load_samples

if TYPE_CHECKING:
    from tests.conftest import Command

OVERHEAD = 1e-6  # CPU overhead of `smpi.SETTINGS`, for sender and receiver
CLOSE = 0.02


def run_probe(topoloom: Command, words: list[str], *options: object) -> Any:
    done = topoloom(
        "machine", "probe", *options, "-o", "m.toml", "--json", "--", *words
    )
    assert done.status == 0, done.err
    return done.json


def host_groups(found: Any) -> set[frozenset[str]]:
    """Return the groups of the lowest level, as host names."""

    def get_smallest_groups(groups: list[Any]) -> list[list[int]]:
        if not groups or not isinstance(groups[0], list):
            return [groups]
        return [leaf for group in groups for leaf in get_smallest_groups(group)]

    names = [found["hosts"][host] for host in found["host_of"]]
    return {
        frozenset(names[r] for r in leaf)
        for leaf in get_smallest_groups(found["groups"])
    }


def group_hosts(sizes: list[int]) -> set[frozenset[str]]:
    ends = np.cumsum([0, *sizes])
    return {
        frozenset(f"h{host}" for host in range(begin, end))
        for begin, end in pairwise(ends)
    }


@pytest.mark.parametrize("sizes", [[8, 8, 8, 8], [5, 9, 4, 12]])
def test_groups_latencies_and_uplinks_are_found(
    topoloom: Command, tmp_path: Path, sizes: list[int]
) -> None:
    hosts = shuffle_hosts([f"h{host}" for host in range(sum(sizes))])
    found = run_probe(topoloom, write_launcher(tmp_path, format_tree(sizes), hosts))
    assert host_groups(found) == group_hosts(sizes)
    assert found["suspects"] == []
    near, far = found["models"]
    assert near["alone"]["lines"][0]["alpha_seconds"] == pytest.approx(
        2e-6 + 2 * OVERHEAD, rel=CLOSE
    )
    assert far["alone"]["lines"][0]["alpha_seconds"] == pytest.approx(
        6e-6 + 2 * OVERHEAD, rel=CLOSE
    )
    for level in (near, far):
        last = level["alone"]["lines"][-1]
        assert 1 / last["beta_seconds_per_byte"] == pytest.approx(10e9, rel=CLOSE)
    shown = topoloom("machine", "show", "m.toml", "--json").json["bandwidths"]
    rates = sorted(link["bytes_per_second"] for link in shown)
    assert rates[0] == pytest.approx(10e9, rel=CLOSE)
    assert rates[1:] == pytest.approx([20e9] * (len(rates) - 1), rel=0.05)


def test_a_probed_machine_can_be_used_to_place_ranks(
    topoloom: Command, tmp_path: Path
) -> None:
    """The mapper places neighbors of a scattered ring on the same switch."""
    hosts = shuffle_hosts([f"h{host}" for host in range(16)])
    run_probe(topoloom, write_launcher(tmp_path, format_tree([8, 8]), hosts), "--quick")
    given = load_machine_and_allocation("m.toml")
    assert list(given.hosts or ()) == hosts
    topoloom(
        "pattern", "generate", "ring", "--ranks", 16, "--bytes", 1000, "-o", "ring.npz"
    )
    mapped = topoloom("map", "ring.npz", "-m", "m.toml", "-o", "x.json", "--json")
    assert mapped.status == 0, mapped.err
    # Only four messages cross between the groups; all other messages stay on a switch.
    assert mapped.json["values"]["hop_bytes"] == 1000 * (14 * 2 + 2 * 4)


def test_the_links_of_a_torus_are_found(topoloom: Command, tmp_path: Path) -> None:
    extents = [4, 3, 3]
    count = int(np.prod(extents))
    hosts = shuffle_hosts([f"n{host}" for host in range(count)])
    measured = run_probe(
        topoloom, write_launcher(tmp_path, format_torus(extents), hosts)
    )
    assert [each["pairs"] for each in measured["hops"]] == [108, 234, 216, 72]
    assert [each["short_seconds"] for each in measured["hops"]] == pytest.approx(
        [3.11e-6, 4.11e-6, 5.11e-6, 6.11e-6], rel=CLOSE
    )
    assert "at 4 hops" in topoloom("machine", "show", "m.toml").out
    # The first coordinate varies fastest.
    places = list(product(*map(range, extents[::-1])))
    links = set()
    for place, axis in product(places, range(len(extents))):
        extent = extents[::-1][axis]
        other = tuple(
            (at + 1) % extent if n == axis else at for n, at in enumerate(place)
        )
        ends = [f"n{places.index(end)}" for end in (place, other)]
        links.add(frozenset(ends))
    found = load_machine_and_allocation("m.toml")
    machine = found.allocation.machine
    names = dict(zip(range(count), found.hosts or (), strict=True))
    order = {names[n]: n for n in names}
    near = {
        frozenset((a, b))
        for a in order
        for b in order
        if machine.distance(order[a], order[b]) == machine.distance(0, 0) + 1
    }
    assert near == links


def test_a_slow_host_is_named(topoloom: Command, tmp_path: Path) -> None:
    hosts = shuffle_hosts([f"h{host}" for host in range(16)])
    xml = format_tree([8, 8], bandwidths={"h5": 8e9})
    found = run_probe(topoloom, write_launcher(tmp_path, xml, hosts))
    (suspect,) = found["suspects"]
    assert (suspect["kind"], suspect["hosts"]) == ("host", ["h5"])
    assert suspect["of"] == "bandwidth"
    assert suspect["times_as_long"] == pytest.approx(1.25, rel=0.05)


@pytest.mark.parametrize("part", [2, 1.25])
def test_a_slow_cable_is_found(topoloom: Command, tmp_path: Path, part: float) -> None:
    """One of five hosts on a 300 Mbit/s switch has a slower cable."""
    rate = 300e6 / 8
    hosts = [f"h{host}" for host in range(5)]
    rates = {**dict.fromkeys(hosts, rate), "h2": rate / part}
    words = write_launcher(tmp_path, format_tree([5], 1e-4, bandwidths=rates), hosts)
    done = topoloom("machine", "probe", "-o", "m.toml", "--", *words)
    assert done.status == 0, done.err
    suspect = f"slow host h2: bandwidth {part:.2f} times as long as its like"
    assert [line for line in done.out.splitlines() if "slow" in line] == [suspect]


@pytest.mark.parametrize("sizes", [[2, 2, 2, 2], [3, 3, 2]])
def test_a_slow_host_of_a_small_group_is_named(
    topoloom: Command, tmp_path: Path, sizes: list[int]
) -> None:
    """Hosts of all groups are compared, because their links are equally fast."""
    xml = format_tree(sizes, bandwidths={"h1": 5e9})
    found = run_probe(
        topoloom, write_launcher(tmp_path, xml, [f"h{host}" for host in range(8)])
    )
    assert host_groups(found) == group_hosts(sizes)
    (suspect,) = found["suspects"]
    assert (suspect["hosts"], suspect["of"]) == (["h1"], "bandwidth")
    assert suspect["times_as_long"] == pytest.approx(2, rel=0.05)


def test_a_group_whose_hosts_are_all_slow_has_a_slow_link(
    topoloom: Command, tmp_path: Path
) -> None:
    xml = format_tree([2, 2, 2, 2], bandwidths={"h0": 5e9, "h1": 5e9})
    words = write_launcher(tmp_path, xml, [f"h{host}" for host in range(8)])
    (suspect,) = run_probe(topoloom, words)["suspects"]
    assert (suspect["kind"], suspect["hosts"]) == ("uplink", ["h0", "h1"])


def test_one_slow_host_of_four_does_not_set_the_speed_of_all(
    topoloom: Command, tmp_path: Path
) -> None:
    """Half of all pairs include the slow host."""
    words = write_launcher(
        tmp_path,
        format_tree([4], bandwidths={"h0": 1e9}),
        [f"h{host}" for host in range(4)],
    )
    found = run_probe(topoloom, words, "--quick")
    assert [slow["hosts"] for slow in found["suspects"]] == [["h0"]]
    assert found["models"][0]["bytes_per_second"] == pytest.approx(10e9, rel=CLOSE)
    assert found["models"][0]["short_seconds"] == pytest.approx(4.05e-6, rel=CLOSE)
    rates = topoloom("machine", "show", "m.toml", "--json").json["bandwidths"]
    assert [each["bytes_per_second"] for each in rates] == [
        pytest.approx(10e9, rel=CLOSE)
    ]
    # The file marks the host as slow, so a check reports it but finds nothing new.
    good = topoloom("machine", "check", "m.toml", "--", *words)
    assert good.status == 0, good.out
    assert good.out.startswith("good: 4 hosts: latency 1.00 x, bandwidth 1.00 x")
    assert "; slow there already: h0 (bandwidth 10.1" in good.out


def test_concurrent_pairs_exclude_a_slow_host(
    topoloom: Command, tmp_path: Path
) -> None:
    hosts = [f"h{host}" for host in range(8)]
    xml = format_tree([4, 4], uplink=(100e9, 2e-6), bandwidths={"h1": 2e9})
    found = run_probe(topoloom, write_launcher(tmp_path, xml, hosts), "--quick")
    (curve,) = found["channels"]
    assert curve["channels"] == 3


def test_output_of_a_launcher_is_ignored(topoloom: Command, tmp_path: Path) -> None:
    words = write_launcher(tmp_path, format_tree([4]), ["h0", "h1"])
    talks = tmp_path / "talks"
    talks.write_text('#!/bin/sh\nyes | head -c 3000000\nexec "$@"\n')
    talks.chmod(0o755)
    found = run_probe(topoloom, [str(talks), *words], "--quick", "--mpicc", "smpicc")
    assert found["hosts"] == ["h0", "h1"]


def test_hosts_behind_one_link_are_named(topoloom: Command, tmp_path: Path) -> None:
    behind = ["h1", "h4", "h6"]
    hosts = shuffle_hosts([f"h{host}" for host in range(16)])
    platform = format_tree([10, 6], trunk=(behind, 12e9))
    found = run_probe(topoloom, write_launcher(tmp_path, platform, hosts))
    assert host_groups(found) == group_hosts([10, 6])
    (link,) = found["shared_links"]
    assert sorted(link["hosts"]) == behind
    assert link["bytes_per_second"] == pytest.approx(12e9, rel=0.1)
    assert found["pairs_met"] == 1
    assert "h1, h4, h6 share a link of" in topoloom("machine", "show", "m.toml").out
    rates = topoloom("machine", "show", "m.toml", "--json").json["bandwidths"]
    assert min(
        abs(each["bytes_per_second"] - link["bytes_per_second"]) for each in rates
    ) == pytest.approx(0, abs=1e5)


def test_a_host_that_sends_slowly_is_named(topoloom: Command, tmp_path: Path) -> None:
    hosts = shuffle_hosts([f"h{host}" for host in range(12)])
    words = write_launcher(tmp_path, format_tree([12], sending={"h5": 8e9}), hosts)
    (slow,) = run_probe(topoloom, words)["suspects"]
    assert (slow["kind"], slow["hosts"], slow["of"]) == ("host", ["h5"], "bandwidth")
    assert slow["way"] == "out"
    assert slow["times_as_long"] == pytest.approx(1.25, rel=0.05)
    shown = topoloom("machine", "show", "m.toml").out
    assert "slow host h5: bandwidth 1.2" in shown
    assert "times as long as its like when it sends" in shown


def test_a_flat_machine_has_no_groups(topoloom: Command, tmp_path: Path) -> None:
    hosts = shuffle_hosts([f"h{host}" for host in range(12)])
    found = run_probe(
        topoloom, write_launcher(tmp_path, format_tree([12]), hosts), "--quick"
    )
    assert found["groups"] == []
    assert found["suspects"] == []


def test_ranks_of_one_host_are_measured(topoloom: Command, tmp_path: Path) -> None:
    hosts = [f"h{host}" for host in range(4)]
    words = write_launcher(tmp_path, format_tree([4]), hosts, per_host=3)
    found = run_probe(topoloom, words, "--quick")
    assert found["groups"] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert [level["level"] for level in found["models"]] == [
        "inside a host",
        "between hosts",
    ]
    assert load_machine("m.toml").slots_per_node == 3


def test_other_commands_accept_the_probed_machine_file(
    topoloom: Command, tmp_path: Path
) -> None:
    hosts = [f"h{host}" for host in range(8)]
    run_probe(topoloom, write_launcher(tmp_path, format_tree([4, 4]), hosts), "--quick")
    costs = load_model("m.toml").model
    assert costs.time(8) == pytest.approx(OVERHEAD, rel=0.1)
    chosen = topoloom(
        *("collective", "rank", "alltoall", "-n", 8, "--bytes", 64, "--json"),
        *("--model", "m.toml", "--machine", "m.toml"),
    )
    assert chosen.status == 0, chosen.err
    ordered = topoloom("collective", "order", "m.toml", "--json")
    assert ordered.json["group_of"] == [0, 0, 0, 0, 1, 1, 1, 1]
    shown = topoloom("machine", "show", "m.toml", "--json").json
    assert shown["groups"] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [level["level"] for level in shown["models"]] == [
        "between hosts of a group",
        "between groups of level 1",
    ]


def test_a_check_finds_hosts_that_have_become_slow(
    topoloom: Command, tmp_path: Path
) -> None:
    hosts = [f"h{host}" for host in range(12)]
    run_probe(topoloom, write_launcher(tmp_path, format_tree([6, 6]), hosts), "--quick")
    good = topoloom("machine", "check", "m.toml", "--", *write_launcher(
        tmp_path, format_tree([6, 6]), hosts[3:9]
    ))  # fmt: skip
    assert (good.status, good.err) == (0, "")
    assert good.out.startswith("good: 6 hosts: ")
    slow = format_tree([6, 6], bandwidths={"h7": 5e9})
    bad = topoloom(
        *("machine", "check", "m.toml", "--json", "--"),
        *write_launcher(tmp_path, slow, [*hosts[4:], "h0"]),
    )
    assert bad.status == 1
    (host,) = bad.json["slow"]
    assert (host["host"], host["of"]) == ("h7", "bandwidth")
    assert host["times_as_long"] == pytest.approx(2, rel=0.1)
    (part,) = bad.json["bad_parts"]
    assert part["one_of"][0] == "host h7"


def test_a_slow_host_does_not_make_its_neighbors_slow(
    topoloom: Command, tmp_path: Path
) -> None:
    hosts = [f"h{host}" for host in range(6)]
    run_probe(topoloom, write_launcher(tmp_path, format_tree([6]), hosts), "--quick")
    slow = format_tree([6], bandwidths={"h1": 5e9})
    words = write_launcher(tmp_path, slow, hosts[:3])
    done = topoloom("machine", "check", "m.toml", "--json", "--", *words)
    assert [host["host"] for host in done.json["slow"]] == ["h1"]


def test_a_measurement_overrides_the_claimed_machine(
    topoloom: Command, tmp_path: Path
) -> None:
    Path("claim.toml").write_text(
        'format = "topoloom-machine"\nversion = 1\n\n[topology]\nkind = "tree"\n'
        'levels = [4, 2]\nhosts = ["h[0-2],h4", "h3,h[5-7]"]\n'
    )
    hosts = [f"h{host}" for host in range(8)]
    words = write_launcher(tmp_path, format_tree([4, 4]), hosts)
    found = run_probe(topoloom, words, "--quick", "-m", "claim.toml")
    assert len(found["claims"]) == 3
    assert "hosts at distance 4 are described farther apart" in found["claims"][2]
    assert found["claims"][0].startswith("h3 is described beside h[5-7]; measured ")


def test_concurrent_pairs_share_no_link_of_claimed_routes(
    topoloom: Command, tmp_path: Path
) -> None:
    hosts = [f"n{host}" for host in range(16)]
    Path("claim.toml").write_text(
        'format = "topoloom-machine"\nversion = 1\n\n[topology]\nkind = "torus"\n'
        'size = [4, 4]\nhosts = "n[0-15]"\n'
    )
    words = write_launcher(tmp_path, format_torus([4, 4]), shuffle_hosts(hosts))
    found = run_probe(topoloom, words, "--quick", "-m", "claim.toml")
    assert found["claims"] == found["suspects"] == found["shared_links"] == []
    order = next(o for o in load_samples(Path("m.npz")).orders if o.how == "pairs")
    assert order.rest.count("-") == 8
    words = write_launcher(tmp_path, format_tree([4]), ["h0", "h1"])
    done = topoloom(
        "machine", "probe", "-m", "claim.toml", "-o", "x.toml", "--", *words
    )
    assert done.err == "topoloom: claim.toml does not contain the host h0\n"
