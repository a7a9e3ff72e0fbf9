# SPDX-License-Identifier: BSD-3-Clause
"""With several network interfaces, MPI uses those of the node's best network."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hwloc_files import format_pci_device, format_two_packages

from topoloom import Machine
from topoloom.importers.hwloc import read_hwloc
from topoloom.launch.exports.launch_formats import find_format
from topoloom.launch.host_placement import host_placement
from topoloom.nodes.network_interfaces import (
    NicNetwork,
    classify_interfaces,
    classify_network,
)

#: hwloc 2 codes of network and RDMA interfaces; the network and interfaces of each card
NET, RDMA = 2, 3
CARDS: dict[str, tuple[NicNetwork, list[tuple[str, int]]]] = {
    "InfiniBand": (NicNetwork.FABRIC, [("ib0", NET), ("mlx5_0", RDMA)]),
    "InfiniBand without IPoIB": (NicNetwork.FABRIC, [("mlx4_0", RDMA)]),
    "IPoIB alone": (NicNetwork.FABRIC, [("ibp65s0", NET)]),
    "Omni-Path": (NicNetwork.FABRIC, [("ib1", NET), ("hfi1_0", RDMA)]),
    "Slingshot": (NicNetwork.FABRIC, [("hsn0", NET)]),
    "Slingshot with cxi": (NicNetwork.FABRIC, [("hsn1", NET), ("cxi0", RDMA)]),
    "BXI": (NicNetwork.FABRIC, [("bxi0", RDMA)]),
    "RoCE": (NicNetwork.RDMA_OVER_ETHERNET, [("eno4", NET), ("bnxt_re0", RDMA)]),
    "iWARP": (NicNetwork.RDMA_OVER_ETHERNET, [("eno5", NET), ("irdma0", RDMA)]),
    "management": (NicNetwork.ETHERNET, [("eno1", NET)]),
    "virtual": (NicNetwork.ETHERNET, [("eth0", NET)]),
}
PAIRS = list(itertools.permutations(CARDS, 2))


def read_interfaces(xml: str) -> dict[str, str]:
    devices = read_hwloc(xml).node.devices
    return {device.pci[5:7]: device.kind for device in devices}


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_nics_of_the_best_network_are_chosen_in_any_package(
    first: str, second: str
) -> None:
    (one, names), (other, more) = CARDS[first], CARDS[second]
    for version in ("2", "3"):
        bits = {NET: 16, RDMA: 32}
        cards = [
            format_pci_device(
                *((n, k if version == "2" else bits[k]) for n, k in card), address=at
            )
            for card, at in ((names, "17:00.0"), (more, "98:00.0"))
        ]
        kinds = read_interfaces(format_two_packages(*cards, version=version))
        assert kinds == {
            "17": "nic" if one >= other else "ethernet",
            "98": "nic" if other >= one else "ethernet",
        }


def test_ports_without_a_lid_are_ethernet() -> None:
    card = format_pci_device(("mlx5_2", RDMA), address="17:00.0")
    info = '<info name="Port1LID" value="{}"/></object></object></object></object>'
    end = "/></object></object></object>"
    for lid, kind in (("0x0", "ethernet"), ("0xffff", "ethernet"), ("0x12", "nic")):
        ported = card.replace(end, f">{info.format(lid)}")
        other = format_pci_device(("mlx5_0", RDMA), address="98:00.0")
        assert read_interfaces(format_two_packages(ported, other)) == {
            "17": kind,
            "98": "nic",
        }


def test_port_costs_and_bindings_use_the_infiniband_nic(
    tmp_path: Path, topoloom: Any
) -> None:
    """Ethernet is in the first package, InfiniBand in the second."""
    xml = format_two_packages(
        format_pci_device(("eno1", NET)),
        format_pci_device(("ib0", NET), ("mlx5_0", RDMA), address="98:00.0"),
    )
    described = read_hwloc(xml)
    assert described.text.endswith(",port=8:0")
    machine = Machine(described.text)
    placed = host_placement(machine, [0], [0, 1, 2, 3], node=described.node)
    rows = find_format("bindings").write(placed).splitlines()[1:]
    assert [row.split()[-1] for row in rows] == ["mlx5_0"] * 4
    (tmp_path / "node.xml").write_text(xml)
    shown = topoloom("machine", "show", str(tmp_path / "node.xml")).out
    assert "ethernet eno1" in shown
    assert "mlx5_0, not the Ethernet cards" in shown


def test_only_the_best_fabric_of_a_node_is_used() -> None:
    for networks in itertools.product(NicNetwork, repeat=3):
        kinds = classify_interfaces(networks)
        pairs = zip(networks, kinds, strict=True)
        used = [network for network, kind in pairs if kind == "nic"]
        assert used == [network for network in networks if network == max(networks)]
    assert classify_interfaces([]) == []


def test_onboard_card_names_do_not_look_like_a_fabric() -> None:
    for name in ("eno1", "eth0", "enp1s0f0", "ens3", "bond0", "ibmveth0", "idrac"):
        assert classify_network([name], has_rdma=False) == NicNetwork.ETHERNET
