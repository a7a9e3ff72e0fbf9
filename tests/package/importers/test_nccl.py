# SPDX-License-Identifier: BSD-3-Clause
"""Machines from NCCL topology files."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error, Machine
from topoloom.importers.cloud.nccl import (
    read_nccl_topology,
)
from topoloom.machines.import_formats import IMPORTERS

(IMPORTER,) = (one for one in IMPORTERS if one.name == "nccl")


def format_gpu(device: int, nvlinks: str = "", sm: int = 90) -> str:
    """Format a GPU at bus 0000:1<device>:00.0; nvlinks: "TARGET*COUNT ..."."""
    links = ""
    for word in nvlinks.split():
        target, _, count = word.partition("*")
        kind = "0x030200" if target.startswith("0000:1") else "0x068000"
        links += f'<nvlink target="{target}" count="{count}" tclass="{kind}"/>\n'
    return (
        f'<pci busid="0000:1{device}:00.0" class="0x030200" vendor="0x10de" '
        'device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">\n'
        f'<gpu dev="{device}" sm="{sm}" rank="{device}" gdr="1">\n'
        f"{links}</gpu>\n</pci>\n"
    )


NIC = (
    '<pci busid="0000:82:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" '
    'link_width="16"><nic><net name="mlx5_0" dev="0" speed="400000" port="1" '
    'latency="0.000000" guid="0xa8" maxconn="131072" gdr="1"/></nic></pci>\n'
)


def format_switch(*inside: str, bus: str = "0000:45:00.0") -> str:
    return (
        f'<pci busid="{bus}" class="0x060400" vendor="0x1000" device="0xc030" '
        f'link_speed="16.0 GT/s PCIe" link_width="16">\n{"".join(inside)}</pci>\n'
    )


def format_system(*cpus: str) -> str:
    parts = "".join(
        f'<cpu host_hash="0x16fe" numaid="{i}" affinity="00ff,00ffffff" '
        f'arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="207">\n'
        f"{cpu}</cpu>\n"
        for i, cpu in enumerate(cpus)
    )
    return f'<system version="1">\n{parts}</system>\n'


def format_nvswitch_gpu(device: int) -> str:
    return format_gpu(
        device, "0000:07:00.0*5 0000:06:00.0*5 0000:05:00.0*4 0000:08:00.0*4"
    )


def format_ring_gpu(device: int) -> str:
    """Four GPUs in a ring of NVLinks, as on some workstations."""
    left, right = (device - 1) % 4, (device + 1) % 4
    return format_gpu(device, f"0000:1{left}:00.0*2 0000:1{right}:00.0*2", 80)


HGX = format_system(
    "".join(format_switch(format_nvswitch_gpu(i), NIC) for i in range(4)),
    "".join(format_switch(format_nvswitch_gpu(i), NIC) for i in range(4, 8)),
)
PCI_ONLY = format_system(
    format_switch(format_gpu(0), format_gpu(1))
    + format_switch(format_gpu(2), format_gpu(3), NIC),
    format_switch(format_gpu(4), format_gpu(5))
    + format_switch(format_gpu(6), format_gpu(7))
    + NIC,
)
BRIDGES = format_system(
    format_gpu(0, "0000:11:00.0*4") + format_gpu(1, "0000:10:00.0*4"),
    format_gpu(2, "0000:13:00.0*4") + format_gpu(3, "0000:12:00.0*4"),
)
RING = format_system(
    format_switch(format_ring_gpu(0), format_ring_gpu(1)),
    format_switch(format_ring_gpu(2), format_ring_gpu(3)),
)
LOPSIDED = format_system(format_gpu(0) + format_gpu(1), format_gpu(2))

LEVELS = [
    (HGX, "torus:1+node:8,distance=1"),
    (PCI_ONLY, "torus:1+node:2:2:2,distance=2:3:5"),
    (BRIDGES, "torus:1+node:2:2,distance=1:5"),
    (format_system(format_gpu(0) + format_gpu(1)), "torus:1+node:2,distance=3"),
    (format_system(format_gpu(0), format_gpu(1)), "torus:1+node:2,distance=5"),
    (format_system(format_gpu(3)), "torus:1"),
]


@pytest.mark.parametrize(("topology", "text"), LEVELS)
def test_equal_groups_become_levels(topology: str, text: str) -> None:
    assert IMPORTER.recognizes(topology)
    described = read_nccl_topology(topology)
    assert described.text == text
    assert Machine(text).node_count == 1


def test_nvlink_rings_become_graphs_with_bandwidths() -> None:
    described = read_nccl_topology(RING)
    assert described.hosts == ("gpu0", "gpu1", "gpu2", "gpu3")
    machine = Machine(described.text)
    rates = {
        machine.link_ends(link): machine.bandwidth(link)
        for link in range(machine.link_count)
    }
    # Vertices are the GPUs, then CPU 0 and its switch, then CPU 1 and its switch.
    assert machine.node_count == 4
    assert rates[0, 1] == rates[3, 0] == 2 * 25e9
    assert (0, 2) not in rates
    assert rates[0, 5] == rates[2, 7] == round(32e9 / 8 * 16 * 128 / 130)
    assert rates[4, 5] == round(16e9 / 8 * 16 * 128 / 130)
    assert rates[4, 6] == 20e9
    assert machine.hops(0, 2) == 2


def test_groups_of_different_sizes_become_a_graph() -> None:
    described = read_nccl_topology(LOPSIDED)
    assert described.text.startswith("graph:3+2:0-3@63015384615B/s,")
    assert Machine(described.text).hops(0, 2) == 3


def test_a_gpu_off_the_nvswitches_is_farther_away() -> None:
    cpu = (
        format_nvswitch_gpu(0)
        + format_nvswitch_gpu(1)
        + format_nvswitch_gpu(2)
        + format_gpu(3)
    )
    machine = Machine(read_nccl_topology(format_system(cpu)).text)
    ends = [machine.link_ends(link) for link, _ in machine.route(0, 1)]
    assert ends == [(0, 4), (4, 1)]  # vertex 4 is the NVSwitch
    assert [machine.bandwidth(link) for link, _ in machine.route(0, 1)] == [
        18 * 25e9
    ] * 2
    assert [machine.link_ends(link)[0] for link, _ in machine.route(0, 3)] == [0, 5]


def test_newer_gpus_have_faster_nvlinks() -> None:
    slow = format_system(
        format_gpu(0, "0000:11:00.0*1", 60) + format_gpu(1), format_gpu(2)
    )
    fast = format_system(
        format_gpu(0, "0000:11:00.0*1", 100) + format_gpu(1), format_gpu(2)
    )
    assert "0-1@20000000000B/s" in read_nccl_topology(slow).text
    assert "0-1@50000000000B/s" in read_nccl_topology(fast).text


def test_links_hidden_from_a_virtual_machine_are_assumed_as_in_nccl() -> None:
    text = LOPSIDED.replace('link_width="16"', 'link_width="0"').replace(
        "32.0 GT/s PCIe", ""
    )
    found = read_nccl_topology(text)
    assert "0-3@15753846154B/s" in found.text
    (remark,) = found.remarks
    assert remark.startswith("assumed: 8 GT/s and 16 lanes where ")
    unknown = LOPSIDED.replace("32.0 GT/s PCIe", "Unknown")
    assert read_nccl_topology(unknown).text == found.text
    assert not read_nccl_topology(LOPSIDED).remarks


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        ("<graphs version='1'/>", "line 1: the document is a <graphs>"),
        ("<system/>", "line 1: <system> lacks its 'version'"),
        ("<system version='3'/>", "line 1: version 3, but 1 and 2 are read"),
        (format_system(), "line 1: there is no <gpu>"),
        (format_system(NIC), "there is no <gpu>"),
        (
            format_system(format_gpu(0) + format_gpu(0)),
            "line 8: the GPU with dev 0 appears twice",
        ),
        (
            format_system(format_gpu(0, "0000:11:00.0*x") + format_gpu(1)),
            "line 5: count=.* integer",
        ),
        (BRIDGES.replace('target="0000:11:00.0"', ""), "lacks its 'target'"),
        (LOPSIDED.replace('link_width="16"', 'link_width="x"'), "not an integer"),
        (LOPSIDED.replace('link_width="16"', 'link_width="65"'), "more than 64 lanes"),
        *(
            (
                LOPSIDED.replace("32.0 GT/s", speed),
                f'link_speed="{speed}.* is not the speed',
            )
            for speed in ("nan GT/s", "-5 GT/s", "1e400 GT/s", "fast")
        ),
        (LOPSIDED.replace("0x16fe", "0x1", 1), "describes several hosts"),
        (
            "<!DOCTYPE a [<!ENTITY b 'c'>]><system/>",
            "line 1: the DOCTYPE declares entit",
        ),
    ],
)
def test_malformed_topologies_name_the_line(topology: str, message: str) -> None:
    with pytest.raises(Error, match=message) as raised:
        read_nccl_topology(topology)
    assert str(raised.value).startswith("line ")


def test_only_nccl_topologies_are_recognized() -> None:
    assert not IMPORTER.recognizes('<platform version="4.1"/>')


def test_gpus_may_be_pci_devices_only() -> None:
    """Azure and Amazon publish such files: two GPUs behind one PCI switch."""
    file = Path(__file__).parent / "data" / "nccl_pcigpu.xml"
    described = read_nccl_topology(file.read_text())
    assert described.text == "torus:1+node:2,distance=2"
    (remark,) = described.remarks
    assert remark.startswith("assumed: 2 GPUs without <gpu> and NVLinks")
    # Beside <gpu>, they are hidden from the job.
    mixed = read_nccl_topology(
        file.read_text().replace("</cpu>", f"{format_gpu(0)}{format_gpu(1)}</cpu>")
    )
    assert mixed.text.startswith("torus:1+node:2,")
    assert mixed.remarks == ("2 PCI devices of class 0x0302 without <gpu> left out",)


def test_a_link_of_a_gpu_to_itself_is_ignored() -> None:
    gpus = format_gpu(0, "0000:10:00.0*2 0000:11:00.0*4") + format_gpu(1)
    described = read_nccl_topology(format_system(gpus))
    assert (
        described.text
        == read_nccl_topology(
            format_system(format_gpu(0, "0000:11:00.0*4") + format_gpu(1))
        ).text
    )
    assert described.remarks == ("1 NVLink from a GPU to itself ignored",)
