# SPDX-License-Identifier: BSD-3-Clause
"""Reads scontrol's output about a running job and its nodes."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.importers.slurm.job_machine import describe_by_cpu_counts
from topoloom.importers.slurm.scontrol_job import JobNode, parse_cpu_counts, read_job
from topoloom.importers.slurm.scontrol_nodes import NodeShape, read_node_shapes
from topoloom.importers.slurm.topology_conf import (
    read_network_of_hosts,
    read_slurm_conf,
)
from topoloom.nodes.node_levels import NodeCores, format_levels

#: Output of Slurm 22.05 without lines unrelated to nodes.
RECORD = """\
JobId={number} {kind}JobName={name}
   UserId=root(0) GroupId=root(0) MCS_label=N/A
   JobState={state} Reason=None Dependency=(null)
   ReqNodeList=(null) ExcNodeList=n9
   NodeList={nodes}
   BatchHost=n5
   NumNodes=3 NumCPUs=5 NumTasks=5 CPUs/Task={cpus} ReqB:S:C:T=0:0:*:*
   Socks/Node=* NtasksPerN:B:S:C={tasks}:0:*:* CoreSpec=*
   JOB_GRES=(null)
{given}   Command=(null)
   WorkDir=/scratch

"""
GIVEN = "Nodes=n5 CPU_IDs=0-1,4 Mem=0 GRES=\nNodes=n[6-7] CPU_IDs=0 Mem=0 GRES="


def format_record(
    number: int = 7,
    nodes: str = "n[5-7]",
    given: str = GIVEN,
    kind: str = "",
    name: str = "interactive",
    state: str = "RUNNING",
    cpus: str = "1",
    tasks: int = 0,
) -> str:
    lines = "".join(f"     {line}\n" for line in given.splitlines())
    return RECORD.format(
        number=number,
        nodes=nodes,
        given=lines,
        kind=kind,
        name=name,
        state=state,
        cpus=cpus,
        tasks=tasks,
    )


def test_the_cpus_of_each_node_are_read() -> None:
    assert read_job(format_record(), "7") == [
        JobNode("n5", (0, 1, 4)),
        JobNode("n6", (0,)),
        JobNode("n7", (0,)),
    ]


def test_requests_per_task_and_node_are_read() -> None:
    node = read_job(format_record(cpus="4", tasks=2), "7")[0]
    assert (node.tasks, node.cpus_per_task) == (2, 4)
    node = read_job(format_record(cpus="N/A"), "7")[0]
    assert (node.tasks, node.cpus_per_task) == (0, 1)


def test_a_job_name_that_looks_like_output_is_ignored() -> None:
    name = "x NodeList=n1 JobState=FAILED Nodes=n1 CPU_IDs=7"
    assert read_job(format_record(name=name), "7") == read_job(format_record(), "7")


def test_without_cpus_in_the_output_whole_nodes_are_allocated() -> None:
    assert read_job(format_record(given=""), "7")[0] == JobNode("n5", None)


def test_a_job_array_gives_the_task_with_the_given_number() -> None:
    kind = "ArrayJobId=7 ArrayTaskId={} "
    text = format_record(8, "n1", kind=kind.format(1)) + format_record(
        7, "n2", kind=kind.format(2)
    )
    assert [node.host for node in read_job(text, "7")] == ["n2"]
    assert [node.host for node in read_job(text, "8")] == ["n1"]


def test_components_of_a_job_are_joined() -> None:
    text = format_record(
        7, "n8", "Nodes=n8 CPU_IDs=0 Mem=0", "HetJobId=7 HetJobOffset=0 "
    )
    text += format_record(8, "n[1,8]", "Nodes=n[1,8] CPU_IDs=1 Mem=0", "HetJobId=7 ")
    assert read_job(text, "7") == [JobNode("n8", (0, 1)), JobNode("n1", (1,))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            format_record(state="TIMEOUT"),
            r"job 7 has ended \(TIMEOUT\); start a job, or leave",
        ),
        (
            format_record(nodes="(null)", state="PENDING"),
            "job 7 has no nodes; start a job",
        ),
        (
            format_record(given="Nodes=n5 CPU_IDs=0-99999999 Mem"),
            "CPU_IDs: '0-99999999' is no",
        ),
        (
            format_record(given="Nodes=n5 CPU_IDs=3-1- Mem"),
            "CPU_IDs: '3-1-' is not a list",
        ),
        (format_record(nodes="n[5-"), "brackets do not match"),
        ("", "job 7 has no nodes"),
    ],
)
def test_an_unusable_job_is_an_error(text: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        read_job(text, "7")


@given(st.text(max_size=300))
def test_any_scontrol_output_gives_nodes_or_an_error(text: str) -> None:
    with contextlib.suppress(Error):
        assert read_job("JobId=7 " + text, "7")


NODE = (
    "NodeName={} Arch=x86_64 CoresPerSocket={}  CPUAlloc=0 CPUEfctv=8 CPUTot={} "
    "CPULoad=0.24 Sockets={} Boards=1 State=MIXED ThreadsPerCore={} TmpDisk=0 \n"
)


@pytest.mark.parametrize(
    ("numbers", "shape"),
    [
        ((4, 8, 2, 1), NodeShape(2, 4)),
        ((4, 16, 2, 2), NodeShape(2, 4, 2, 2)),
        ((4, 8, 2, 2), NodeShape(2, 4, 2, 1)),
        # Only CPUs=8 was configured, so the 8 reported sockets are not real.
        ((1, 8, 8, 1), NodeShape(1, 8)),
    ],
)
def test_sockets_and_cores_are_read(
    numbers: tuple[int, int, int, int], shape: NodeShape
) -> None:
    text = NODE.format("n1", *numbers) + NODE.format("n2", 1, 1, 1, 1)
    assert read_node_shapes(text) == {"n1": shape, "n2": NodeShape(1, 1)}
    assert read_node_shapes("Node n1 not found\n") == {}


def test_cores_of_a_socket_are_near_each_other() -> None:
    assert format_levels(NodeShape(2, 4).inside()) == "+node:4:2,distance=8:16"
    assert format_levels(NodeShape(1, 4).inside()) == "+node:4,distance=8"
    assert format_levels(NodeShape(2, 1).inside()) == "+node:2,distance=16"


def test_cpu_count_lists_are_read() -> None:
    assert parse_cpu_counts("3,1(x2),12") == [3, 1, 1, 12]


@pytest.mark.parametrize(
    "text", ["", "3,", "0", "x", "1(x)", "1(x9999999)", "2(x2", "-1", "²"]
)
def test_an_invalid_cpu_count_list_is_an_error(text: str) -> None:
    with pytest.raises(Error, match="is not a list of counts"):
        parse_cpu_counts(text)


@pytest.mark.parametrize(
    ("cores", "cpus", "text", "slots"),
    [
        # Nodes of two cores: all are allocated, or a part, or more than this process
        # may use.
        ([1, 2], [2, 2], "tree:2+node:2,distance=16:16", [(), ()]),
        ([1, 2], [2, 1], "tree:2+node:2,distance=16:16", [(), (0,)]),
        ([1], [4, 2], "tree:2+node:4,distance=8:16", [(), (0, 1)]),
        # CPUs are threads, so three CPUs are on two cores.
        ([3, 12], [4, 3, 1], "tree:3+node:2,distance=16:16", [(), (), (0,)]),
    ],
)
def test_cpu_counts_give_slots(
    cores: list[int], cpus: list[int], text: str, slots: list[tuple[int, ...]]
) -> None:
    hosts = tuple(f"n{i}" for i in range(len(cpus)))
    described = describe_by_cpu_counts(hosts, cpus, NodeCores(cores, []))
    assert described.text == text
    assert [node.slots for node in described.allocated] == slots


TWO = "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=top Switches="


def test_the_network_of_the_job_is_read_among_several() -> None:
    text = TWO + "a,b\nSwitchName=island Nodes=n[5-7]"
    assert read_network_of_hosts(text, ["n4", "n1"]) == read_slurm_conf(TWO + "a,b")
    part = read_network_of_hosts(text, ["n6"])
    assert part is not None
    assert (part.text, part.hosts) == ("tree:3", ("n5", "n6", "n7"))
    assert read_network_of_hosts(text, ["n1", "n6"]) is None
    assert read_network_of_hosts(text, ["n8"]) is None
    with pytest.raises(Error, match="line 3: switch top has the child c"):
        read_network_of_hosts(TWO + "a,c", ["n1"])


def test_blocks_and_rings_are_read_as_networks() -> None:
    blocks = "BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n[3-4]\nBlockSizes=2"
    assert read_network_of_hosts(blocks, ["n1", "n4"]) == read_slurm_conf(blocks)
    assert read_network_of_hosts(blocks, ["n5"]) is None
    rings = "RingName=a Nodes=n[1-4]\nRingName=b Nodes=m[1-5]"
    part = read_network_of_hosts(rings, ["m2"])
    assert part is not None
    assert (part.text, part.hosts[0]) == ("torus:5", "m1")
