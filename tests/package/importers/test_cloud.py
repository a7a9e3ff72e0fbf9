# SPDX-License-Identifier: BSD-3-Clause
"""Instance topologies of cloud providers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from topoloom import Error, Machine
from topoloom.importers.cloud.instances import (
    read_aws_topology,
    read_google_instances,
    read_oracle_hosts,
)


def format_aws(*instances: tuple[str, str]) -> str:
    """Format AWS output for pairs (instance, "top middle bottom")."""
    entries = [
        {
            "InstanceId": name,
            "InstanceType": "p4d.24xlarge",
            "NetworkNodes": nodes.split(),
            "AvailabilityZone": "us-west-2a",
            "ZoneId": "usw2-az2",
        }
        for name, nodes in instances
    ]
    return json.dumps({"Instances": entries}, indent=4)


def format_google(*instances: tuple[str, str], nested: bool = True) -> str:
    entries: list[dict[str, Any]] = []
    for name, path in instances:
        status: dict[str, Any] = {"physicalHost": "/" + path.replace(" ", "/")}
        if nested:
            keys = ("cluster", "block", "subblock", "host")
            status["physicalHostTopology"] = dict(zip(keys, path.split(), strict=False))
        entries.append(
            {
                "kind": "compute#instance",
                "name": name,
                "resourceStatus": status,
                "status": "RUNNING",
            }
        )
    return json.dumps(entries, indent=2)


def format_oracle(*hosts: tuple[str, str], camel: bool = False) -> str:
    items = []
    for name, blocks in hosts:
        island, network, local = blocks.split()
        items.append(
            {
                "availability-domain": "Uocm:PHX-AD-1",
                "hpc-island-id": f"ocid1.hpcisland.{island}",
                "id": f"ocid1.computehost.{name}",
                "instance-id": f"ocid1.instance.{name}" if name else None,
                "local-block-id": f"ocid1.computelocalblock.{local}",
                "network-block-id": f"ocid1.computenetworkblock.{network}",
            }
        )
    if camel:
        items = [
            {
                "instanceId": item["instance-id"],
                "computeHpcIslandId": item["hpc-island-id"],
                "computeNetworkBlockId": item["network-block-id"],
                "computeLocalBlockId": item["local-block-id"],
            }
            for item in items
        ]
    return json.dumps({"data": {"items": items}}, indent=2)


AWS = format_aws(
    ("i-1", "nn-1 nn-2 nn-4"),
    ("i-2", "nn-1 nn-2 nn-4"),
    ("i-3", "nn-1 nn-2 nn-5"),
    ("i-4", "nn-1 nn-3 nn-6"),
)
GOOGLE = format_google(
    ("vm-0", "c b0 s0 h0"),
    ("vm-1", "c b1 s0 h1"),
    ("vm-2", "c b0 s0 h2"),
    ("vm-3", "c b1 s0 h3"),
)
ORACLE = format_oracle(("a", "1 1 1"), ("b", "1 1 1"), ("", "1 1 1"), ("c", "1 2 2"))


def test_the_example_of_the_ec2_guide_is_read() -> None:
    described = read_aws_topology(AWS)
    assert described.hosts == ("i-1", "i-2", "i-3", "i-4")
    assert described.text == "graph:4+6:4-5,4-6,5-7,5-8,6-9,0-7,1-7,2-8,3-9"
    machine = Machine(described.text)
    assert [machine.hops(0, b) for b in range(4)] == [0, 2, 4, 6]


def test_equal_groups_become_a_tree_in_the_order_of_its_leaves() -> None:
    described = read_aws_topology(
        format_aws(("a", "n r1"), ("b", "n r2"), ("c", "n r1"), ("d", "n r2"))
    )
    assert described.text == "tree:2:2"
    assert described.hosts == ("a", "c", "b", "d")


def test_levels_shared_by_all_are_omitted() -> None:
    assert (
        read_aws_topology(format_aws(("a", "x y z"), ("b", "x y z"))).text == "tree:2"
    )
    assert read_aws_topology(format_aws(("a", "x y z"))).text == "tree:1"


def test_several_networks_are_joined_at_the_top() -> None:
    described = read_aws_topology(format_aws(("a", "x r"), ("b", "y s")))
    assert described.text == "tree:1:1:2"
    assert Machine(described.text).hops(0, 1) == 6


def test_google_blocks_of_equal_names_are_distinct() -> None:
    described = read_google_instances(GOOGLE)
    assert described.text == "tree:2:1:2"
    assert described.hosts == ("vm-0", "vm-2", "vm-1", "vm-3")
    paths = [("vm-0", "c b0 s0 h0"), ("vm-1", "c b1 s0 h1")]
    flat, deep = (
        read_google_instances(format_google(*paths, nested=n)) for n in (False, True)
    )
    assert flat == deep


def test_google_instances_without_a_subblock_are_below_their_block() -> None:
    entries = json.loads(format_google(("a", "c b0 s h0"), ("b", "c b1 s h1")))
    for entry in entries:
        del entry["resourceStatus"]["physicalHostTopology"]["subblock"]
    assert read_google_instances(json.dumps(entries)).text == "tree:1:2"


def test_google_instances_on_one_host_are_nearest() -> None:
    described = read_google_instances(
        format_google(
            ("a", "c b s h0"), ("b", "c b s h0"), ("c", "c b s h1"), ("d", "c b s h1")
        )
    )
    assert described.text == "tree:2:2"


def test_oracle_hosts_with_instances_make_the_machine() -> None:
    described = read_oracle_hosts(ORACLE)
    assert described.hosts == tuple(f"ocid1.instance.{name}" for name in "abc")
    machine = Machine(described.text)
    assert [machine.hops(0, b) for b in range(3)] == [0, 2, 6]
    camel = format_oracle(
        ("a", "1 1 1"), ("b", "1 1 1"), ("", "1 1 1"), ("c", "1 2 2"), camel=True
    )
    assert read_oracle_hosts(camel) == described


READERS = {
    "aws": read_aws_topology,
    "google": read_google_instances,
    "oracle": read_oracle_hosts,
}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("aws", "", "line 1: not JSON: cut off"),
        ("aws", '{\n"Instances": [}', "line 2: not JSON"),
        ("aws", "[" * 100_000, "nested too deep"),
        ("aws", "[" + "9" * 5000 + "]", "line 1: "),
        ("aws", '{"Instances": []}', "line 1: the list has no instances"),
        ("aws", "[]", "line 1: the list has no instances"),
        ("aws", "[1]", "line 1: expected a list of entries"),
        ("aws", '{"Instances": [{}]}', "an entry lacks its 'InstanceId'"),
        ("aws", '{"Instances": [], "NextToken": "x"}', "one page of several"),
        (
            "aws",
            format_aws(("a", "x"), ("b", "")),
            "line 13: instance 'b' has no NetworkNodes",
        ),
        ("aws", format_aws(("a", "x"), ("a", "x")), "line 4: 'a' appears twice"),
        (
            "aws",
            format_aws(("a", "x y"), ("b", "z y")),
            "'y' above 'b' is below another",
        ),
        ("aws", AWS.replace('"nn-5"', "5"), "a network node of 'i-3' is not a name"),
        ("aws", format_aws(("a", "x " * 17)), "is below another"),
        ("google", format_google(("vm", "x " * 17), nested=False), "too many levels"),
        ("google", '[{"name": "vm"}]', "instance 'vm' has no resourceStatus"),
        ("google", '[{"physicalHost": "/a/b"}]', "an entry lacks its 'name'"),
        (
            "google",
            format_google(("vm", "c")),
            "line 4: instance 'vm' has no resourceStatus",
        ),
        ("oracle", format_oracle(("", "1 1 1")), "the list has no instances"),
        ("oracle", ORACLE.replace("local-", "x-"), "lacks its 'local-block-id'"),
    ],
)
def test_malformed_topologies_name_the_line(name: str, text: str, message: str) -> None:
    with pytest.raises(Error, match=message) as raised:
        READERS[name](text)
    assert str(raised.value).startswith("line ")


paths = st.lists(st.tuples(*[st.sampled_from("ab")] * 3), min_size=1, max_size=12)


@given(paths)
def test_hops_follow_the_nearest_common_switch(
    switch_paths: list[tuple[str, ...]],
) -> None:
    path_of = {f"h{i}": path for i, path in enumerate(switch_paths)}
    # Each instance is on a separate host, so hosts do not become switches.
    listed = [(name, " ".join((*path, name))) for name, path in path_of.items()]
    described = read_google_instances(format_google(*listed, nested=False))
    machine = Machine(described.text)
    assert sorted(described.hosts) == sorted(path_of)
    for a, one in enumerate(described.hosts):
        for b, other in enumerate(described.hosts):
            shared = 0
            while path_of[one][:shared] == path_of[other][:shared] and shared <= 3:
                shared += 1
            assert machine.hops(a, b) == (0 if a == b else 2 * (5 - shared))
