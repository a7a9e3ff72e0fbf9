# SPDX-License-Identifier: BSD-3-Clause
"""GPUs of one host from RCCL, rocm-smi, amd-smi and nvidia-smi."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from topoloom import Error, Machine
from topoloom.importers.cloud.amd_smi import read_amd_topology
from topoloom.importers.cloud.nccl import read_nccl_topology
from topoloom.importers.cloud.nvidia_smi import read_nvidia_topology
from topoloom.machines.import_formats import IMPORTERS
from topoloom.support.parameter_error import ParameterError


def list_gpu_rates(machine: Machine, gpus: int) -> dict[tuple[int, int], float]:
    """Map pairs of GPUs that are one link apart to its bytes/s."""
    rates = {}
    for a in range(gpus):
        for b in range(gpus):
            route = machine.route(a, b) if a != b else []
            if len(route) == 1:
                rates[a, b] = machine.bandwidth(route[0][0])
    return rates


def format_rccl(
    gpus: int, links: dict[tuple[int, int], int], gcn: str = "gfx942", more: str = ""
) -> str:
    """Format RCCL's topology of GPUs at two CPUs."""
    cpus = ["", ""]
    for gpu in range(gpus):
        xgmi = "".join(
            f'<xgmi target="0000:{other:02x}:00.0" count="{count}" tclass="0x120000"/>'
            for pair, count in links.items()
            if gpu in pair
            for other in pair
            if other != gpu
        )
        cpus[2 * gpu // gpus] += (
            f'<pci busid="0000:{gpu:02x}:00.0" class="0x120000" '
            'link_speed="32.0 GT/s PCIe" link_width="16">'
            f'<gpu dev="{gpu}" sm="304" gcn="{gcn}" rank="{gpu}" gdr="1">'
            f"{xgmi}{more}</gpu></pci>"
        )
    parts = "".join(
        f'<cpu numaid="{i}" arch="x86_64">{c}</cpu>' for i, c in enumerate(cpus)
    )
    return f'<system version="2">{parts}</system>'


MESH = dict.fromkeys(combinations(range(8), 2), 1)
#: Two dies of a package have four links, neighbors one.
DIES = {(0, 1): 4, (2, 3): 4, (1, 2): 1, (0, 3): 1}


@pytest.mark.parametrize(
    ("gcn", "rate"),
    [("906", 46e9), ("908", 46e9), ("gfx90a", 50e9), ("942", 64e9), ("gfx950", 76.8e9)],
)
def test_xgmi_of_a_full_mesh_is_a_link_of_each_pair(gcn: str, rate: float) -> None:
    described = read_nccl_topology(format_rccl(8, MESH, gcn))
    assert described.remarks == ()
    rates = list_gpu_rates(Machine(described.text), 8)
    assert rates == {(a, b): rate for a in range(8) for b in range(8) if a != b}


def test_several_links_between_two_dies_add_up() -> None:
    described = read_nccl_topology(format_rccl(4, DIES, "910"))
    rates = list_gpu_rates(Machine(described.text), 4)
    both = {pair[::-1]: count for pair, count in DIES.items()} | DIES
    assert rates == {pair: count * 50e9 for pair, count in both.items()}


def test_what_gpus_have_besides_links_is_counted() -> None:
    more = '<c2c bw="10" count="1"/><xgmi target="0000:ff:00.0" count="1" tclass="0"/>'
    described = read_nccl_topology(format_rccl(8, MESH, "gfx1", more))
    assert described.remarks == (
        "8 xGMI links to devices that are no GPUs of the file ignored",
        "8 elements <c2c> of GPUs ignored",
        "assumed: xGMI links of 50 GB/s per direction, that of MI250X, for 8 GPUs of "
        "unknown architecture",
    )


def test_the_rate_of_xgmi_can_be_given() -> None:
    (importer,) = (one for one in IMPORTERS if one.name == "nccl")
    assert "xgmi" in importer.selects
    described = read_nccl_topology(format_rccl(8, MESH, "gfx1"), xgmi=5e9)
    assert set(list_gpu_rates(Machine(described.text), 8).values()) == {5e9}
    assert described.remarks == ()
    with pytest.raises(ParameterError, match="requires GPUs with xGMI"):
        read_nccl_topology(format_rccl(8, {}), xgmi=5e9)


def test_only_versions_of_nccl_and_rccl_are_read() -> None:
    with pytest.raises(Error, match="version 3, but 1 and 2 are read"):
        read_nccl_topology(format_rccl(8, MESH).replace('version="2"', 'version="3"'))


def format_table(title: str, names: list[str], cell: dict[tuple[int, int], str]) -> str:
    rows = [" ".join([" " * 7, *names])]
    for a, name in enumerate(names):
        cells = [cell.get((a, b)) or cell.get((b, a), "0") for b in range(len(names))]
        rows.append("   ".join([name, *cells]))
    return f"{title}\n" + "\n".join(rows) + "\n\n"


def format_rocm_smi(
    kinds: dict[tuple[int, int], str],
    weights: dict[tuple[int, int], str],
    count: int = 4,
    sockets: int = 2,
) -> str:
    names = [f"GPU{gpu}" for gpu in range(count)]
    hops = {pair: "1" if kind == "XGMI" else "2" for pair, kind in kinds.items()}
    numa = "".join(
        f"GPU[{gpu}]\t\t: (Topology) Numa Node: {sockets * gpu // count}\n"
        for gpu in range(count)
    )
    return (
        format_table("===== Weight between two GPUs =====", names, weights)
        + format_table("===== Hops between two GPUs =====", names, hops)
        + format_table("===== Link Type between two GPUs =====", names, kinds)
        + f"====== Numa Nodes ======\n{numa}==== End of ROCm SMI Log ====\n"
    )


def test_the_tables_of_rocm_smi_are_links() -> None:
    pairs = list(combinations(range(4), 2))
    kinds = dict.fromkeys(pairs, "XGMI")
    weights = {pair: "15" if pair in DIES else "30" for pair in pairs}
    text = format_rocm_smi(kinds, weights)
    assert [one.name for one in IMPORTERS if one.recognizes(text)] == ["amd-smi"]
    described = read_amd_topology(text)
    rates = list_gpu_rates(Machine(described.text), 4)
    assert {pair for pair in rates if pair[0] < pair[1]} == set(DIES)
    assert set(rates.values()) == {50e9}
    assert any("4 xGMI links without a bandwidth" in each for each in described.remarks)
    given = read_amd_topology(text, xgmi=7e9)
    assert set(list_gpu_rates(Machine(given.text), 4).values()) == {7e9}


@pytest.mark.parametrize(
    ("count", "sockets", "rate", "what"),
    [
        (4, 4, 128e9, "two links of MI300A"),
        (4, 2, 50e9, "one link of MI250X"),
        (8, 2, 64e9, "one link of MI300X"),
    ],
)
def test_rates_of_a_full_mesh_follow_the_shape_of_the_host(
    count: int, sockets: int, rate: float, what: str
) -> None:
    """Four MI300A of a host are a NUMA node each, joined by two links of 64 GB/s."""
    kinds = dict.fromkeys(combinations(range(count), 2), "XGMI")
    weights = dict.fromkeys(kinds, "15")
    text = format_rocm_smi(kinds, weights, count, sockets)
    described = read_amd_topology(text)
    rates = list_gpu_rates(Machine(described.text), count)
    assert set(rates.values()) == {rate}
    assert any(f"that of {what}, for" in each for each in described.remarks)


def test_the_tables_of_amd_smi_have_bandwidths() -> None:
    names = [f"0000:{gpu:02x}:00.0" for gpu in range(4)]
    bandwidths = {pair: f"50000-{count * 50000}" for pair, count in DIES.items()}
    text = format_table(
        "LINK TYPE TABLE:",
        names,
        dict.fromkeys(DIES, "XGMI") | {(0, 2): "PCIE", (1, 3): "PCIE"},
    )
    text += format_table("NUMA BW TABLE:", names, bandwidths)
    described = read_amd_topology(text)
    rates = list_gpu_rates(Machine(described.text), 4)
    assert {pair: rates[pair] for pair in DIES} == {
        p: n * 50e9 for p, n in DIES.items()
    }
    with pytest.raises(ParameterError, match="the file has bandwidths"):
        read_amd_topology(text, xgmi=7e9)


def test_gpus_on_pcie_are_levels() -> None:
    kinds = dict.fromkeys(combinations(range(4), 2), "PCIE")
    described = read_amd_topology(format_rocm_smi(kinds, dict.fromkeys(kinds, "40")))
    assert described.text == "torus:1+node:2:2,distance=3:5"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("GPU3   XGMI", "GPU3   PCIE"), "line 20: GPU3 has 'PCIE' to GPU0"),
        (("XGMI", "CXL"), "line 17: link type 'CXL' is not XGMI or PCIE"),
        (("Link Type", "Other"), "there is no table of link types"),
        (
            ("GPU3   XGMI", "GPU7   XGMI"),
            "line 20: expected the row of GPU3, found 'GPU7'",
        ),
        (("   XGMI\nGPU2", "\nGPU2"), "line 18: GPU1 has 3 cells, not 4"),
    ],
)
def test_damaged_tables_are_refused_with_the_line(
    change: tuple[str, str], message: str
) -> None:
    kinds = dict.fromkeys(combinations(range(4), 2), "XGMI")
    text = format_rocm_smi(kinds, dict.fromkeys(kinds, "15"))
    assert change[0] in text
    with pytest.raises(Error, match=message):
        read_amd_topology(text.replace(*change))


def format_nvidia(
    cells: dict[tuple[int, int], str], gpus: int, nics: int = 0, other: str = "SYS"
) -> str:
    names = [f"GPU{i}" for i in range(gpus)] + [f"NIC{i}" for i in range(nics)]
    lines = ["\t" + "\t".join([*names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for a, name in enumerate(names):
        row = [
            " X " if a == b else cells.get((min(a, b), max(a, b)), other)
            for b in range(len(names))
        ]
        more = [f"{8 * a}-{8 * a + 7}", str(2 * a // gpus), "N/A"] if a < gpus else []
        lines.append("\t".join([name, *row, *more]))
    legend = "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n"
    return "\n".join(lines) + "\n" + legend


def test_gpus_of_nvswitch_are_one_level() -> None:
    cells = dict.fromkeys(combinations(range(8), 2), "NV18")
    text = format_nvidia(cells, 8, nics=2)
    assert [one.name for one in IMPORTERS if one.recognizes(text)] == ["nvidia-smi"]
    described = read_nvidia_topology(text)
    assert described.text == "torus:1+node:8,distance=1"
    assert described.remarks == ("left out: 2 NICs",)
    underlined = text.replace("\tGPU0\t", "\t\x1b[4mGPU0\t", 1)
    assert read_nvidia_topology(underlined).text == described.text


def test_pcie_and_nvlink_pairs_are_levels() -> None:
    cells = {(0, 1): "NV4", (2, 3): "NV4"}
    text = read_nvidia_topology(format_nvidia(cells, 4)).text
    assert text == "torus:1+node:2:2,distance=1:5"
    cells = {(0, 1): "PIX", (2, 3): "PXB"}
    text = read_nvidia_topology(format_nvidia(cells, 4, other="NODE")).text
    assert text == "torus:1+node:2:2,distance=2:3"
    assert read_nvidia_topology(format_nvidia({}, 1)).text == "torus:1"


def test_unequal_nvlinks_are_links() -> None:
    ring = {(min(a, b), max(a, b)): "NV1" for a, b in pairwise([0, 1, 2, 3, 0])}
    ring[0, 1] = "NV2"
    described = read_nvidia_topology(format_nvidia(ring, 4))
    rates = list_gpu_rates(Machine(described.text), 4)
    assert rates[0, 1] == 50e9
    assert rates[1, 2] == 25e9
    assert len(rates) == 8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("NV18", "QV18"), "'QV18' is none of X, NV#, PIX"),
        (
            ("GPU0\t X \tNV18", "GPU0\t X \tNV17"),
            "GPU1 has 'NV18' to GPU0, which has 'NV17' back",
        ),
        (("\nGPU1", "\nGPU9"), "expected the row of GPU1, found 'GPU9'"),
    ],
)
def test_damaged_tables_of_nvidia_are_refused(
    change: tuple[str, str], message: str
) -> None:
    text = format_nvidia({(0, 1): "NV18"}, 2)
    with pytest.raises(Error, match=message):
        read_nvidia_topology(text.replace(*change))
