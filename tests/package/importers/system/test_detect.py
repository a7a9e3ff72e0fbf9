# SPDX-License-Identifier: BSD-3-Clause
"""Detects the machine of this process from hwloc or system files, also in jobs."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from topoloom import Error, load_machine
from topoloom.importers.system import detect
from topoloom.importers.system.cpus import read_sysfs_node
from topoloom.machines import describe_machine
from topoloom.machines.machine_file import load_machine_and_hosts
from topoloom.nodes.node_levels import NodeCores, format_levels, make_node_parts
from topoloom.nodes.node_parts import Device

LSTOPO = """#!/bin/sh
test "$*" = "--of xml" || exit 1
cat <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" cpuset="0xf">
{}
</object></topology>
END
"""
CORE = (
    '<object type="Core" cpuset="{0}"><object type="PU" os_index="{1}" cpuset="{0}"/>'
)


def write_lstopo(directory: Path, name: str, packages: list[list[int]]) -> None:
    lines = []
    for cpus in packages:
        lines.append(f'<object type="Package" cpuset="{sum(1 << c for c in cpus):#x}">')
        lines += [CORE.format(hex(1 << c), c) + "</object>" for c in cpus]
        lines.append("</object>")
    file = directory / name
    file.write_text(LSTOPO.format("\n".join(lines)))
    file.chmod(0o755)


@pytest.fixture(autouse=True)
def process_outside_jobs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make this process appear outside of jobs, with four CPUs and without hwloc."""
    for name in list(os.environ):
        if name.startswith(("SLURM_", "PBS_", "LSB_", "FLUX_", "PJM_")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(
        detect,
        "read_sysfs_node",
        lambda cpus: NodeCores([1 << cpu for cpu in cpus], []),
    )

    def find_program(name: str) -> str | None:
        return str(tmp_path / name) if (tmp_path / name).exists() else None

    monkeypatch.setattr(detect.shutil, "which", find_program)


@pytest.mark.parametrize("name", ["lstopo-no-graphics", "lstopo"])
def test_hwloc_is_used_if_installed(name: str, tmp_path: Path) -> None:
    write_lstopo(tmp_path, name, [[0, 1], [2, 3]])
    machine, hosts = load_machine_and_hosts("detect")
    assert machine.text == "torus:1+node:2:2,distance=8:16"
    assert hosts == (platform.node(),)


def test_the_detected_node_has_its_cpu_numbers(tmp_path: Path) -> None:
    write_lstopo(tmp_path, "lstopo", [[0, 2], [1, 3]])
    node = describe_machine("detect").node
    assert node.names == ("package", "node")
    assert node.cpus == ((0,), (2,), (1,), (3,))


def test_cpus_outside_the_affinity_are_no_slots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lstopo(tmp_path, "lstopo", [[0, 1], [2, 3]])
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 3})
    assert describe_machine("detect").text == "torus:1+node:2,distance=8"


@pytest.mark.parametrize(
    "script", ["exit 1", "echo '<topology/>'", "echo", r"printf '\377'"]
)
def test_system_files_are_read_if_hwloc_fails(script: str, tmp_path: Path) -> None:
    (tmp_path / "lstopo").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "lstopo").chmod(0o755)
    assert describe_machine("detect").text == "torus:1+node:4,distance=16"


def test_system_files_are_read_if_hwloc_describes_other_cpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lstopo(tmp_path, "lstopo", [[0, 1], [2, 3]])
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {8, 9, 10})
    assert describe_machine("detect").text == "torus:1+node:3,distance=16"


def test_nodes_of_a_job_without_topology_are_on_one_switch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lstopo(tmp_path, "lstopo", [[0, 1], [2, 3]])
    monkeypatch.setenv("SLURM_JOB_NODELIST", "cn[08-10]")
    described = describe_machine("detect")
    assert described.text.startswith("tree:3,bandwidth=")
    assert described.text.endswith("+node:2:2,distance=8:16:16")
    assert described.remarks
    assert described.hosts == ("cn08", "cn09", "cn10")
    machine = load_machine("detect")
    assert machine.node_count == 3
    assert machine.hops(0, 2) == 2


def test_a_job_on_one_node_is_a_single_node_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LSB_MCPU_HOSTS", "b7 4")
    described = describe_machine("detect")
    assert (described.text, described.hosts) == (
        "torus:1+node:4,distance=16",
        ("b7",),
    )


def test_an_invalid_node_list_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLURM_JOB_NODELIST", "cn[1-")
    with pytest.raises(Error, match="SLURM_JOB_NODELIST: host list"):
        describe_machine("detect")


def write_system_files(
    root: Path, packages: int, caches: int, cores: int, threads: int
) -> Path:
    """Write /sys/devices/system; the second threads of cores have the last numbers."""
    count = packages * caches * cores

    def format_cpu_list(first: int, size: int) -> str:
        """Format the CPUs of `size` cores starting at `first`, as the kernel does."""
        parts = []
        for thread in range(threads):
            low = first + thread * count
            parts.append(f"{low}-{low + size - 1}" if size > 1 else str(low))
        return ",".join(parts) + "\n"

    def write_file(name: str, text: str) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    in_package = caches * cores
    for cpu in range(count * threads):
        core = cpu % count
        package, cache = core // in_package, core // cores
        home, whole = f"cpu/cpu{cpu}", format_cpu_list(package * in_package, in_package)
        write_file(f"{home}/topology/core_cpus_list", format_cpu_list(core, 1))
        write_file(f"{home}/topology/die_cpus_list", whole)
        write_file(f"{home}/topology/package_cpus_list", whole)
        for index, (level, kind, shared) in enumerate(
            [
                ("1", "Data", format_cpu_list(core, 1)),
                ("2", "Instruction", whole),
                ("2", "Unified", format_cpu_list(core, 1)),
                ("3", "Unified", format_cpu_list(cache * cores, cores)),
            ]
        ):
            write_file(f"{home}/cache/index{index}/level", level + "\n")
            write_file(f"{home}/cache/index{index}/type", kind + "\n")
            write_file(f"{home}/cache/index{index}/shared_cpu_list", shared)
        write_file(f"node/node{package}/cpulist", whole)
    write_file("node/node9/cpulist", "\n")  # a NUMA domain without CPUs
    return root


@pytest.mark.parametrize(
    ("shape", "cpus", "text"),
    [
        ((2, 1, 4, 2), range(16), "+node:4:2,distance=2:16"),
        ((2, 4, 2, 1), range(16), "+node:2:4:2,distance=2:4:16"),
        ((1, 2, 3, 2), range(12), "+node:3:2,distance=2:4"),
        ((1, 1, 4, 1), range(4), "+node:4,distance=2"),
        # The process may use only one thread per core, one package, scattered cores, or
        # one CPU.
        ((2, 1, 4, 2), range(8, 16), "+node:4:2,distance=2:16"),
        ((2, 1, 4, 2), [0, 1, 2, 3, 8, 9], "+node:4,distance=2"),
        ((2, 1, 4, 2), [0, 1, 4, 12], "+node:2:2,distance=2:16"),
        ((2, 1, 4, 2), [5], "+node:1,distance=8"),
    ],
)
def test_system_files_give_levels_of_shared_parts(
    shape: tuple[int, int, int, int], cpus: list[int], text: str, tmp_path: Path
) -> None:
    assert (
        format_levels(
            read_sysfs_node(cpus, write_system_files(tmp_path, *shape), tmp_path)
        )
        == text
    )


def test_the_system_files_give_the_cores_near_a_device(tmp_path: Path) -> None:
    """Has a GPU, a NIC with two names, one behind virtio, a display, and a bridge."""
    classes, bus = tmp_path / "class", tmp_path / "devices"
    for kind, name, device, cpus, domain in (
        ("drm", "card0", "0000:02:00.0", "0-7", "-1"),
        ("drm", "card1", "0000:17:00.0", "4-7", "1"),
        ("drm", "renderD128", "0000:17:00.0", "4-7", "1"),
        ("net", "ib0", "0000:98:00.0", "0-3", "0"),
        ("infiniband", "mlx5_0", "0000:98:00.0", "0-3", "0"),
        ("net", "eth0", "0000:03:00.0/virtio2", "0-7", "-1"),
        ("net", "docker0", "", "", ""),
    ):
        home = classes / kind / name
        home.mkdir(parents=True)
        if device:
            (bus / device).mkdir(parents=True, exist_ok=True)
            (home / "device").symlink_to(bus / device)
            pci = bus / device.partition("/")[0]
            (pci / "local_cpulist").write_text(f"{cpus}\n")
            (pci / "numa_node").write_text(f"{domain}\n")
    node = write_system_files(tmp_path / "system", 2, 1, 4, 1)
    assert make_node_parts(read_sysfs_node(range(2, 8), node, classes)).devices == (
        Device("renderD128", "gpu", (2, 3, 4, 5), 1, "0000:17:00.0"),
        Device("mlx5_0", "nic", (0, 1), 0, "0000:98:00.0"),
        Device("eth0", "ethernet", (0, 1, 2, 3, 4, 5), None, "0000:03:00.0"),
    )


def test_files_of_old_kernels_are_read(tmp_path: Path) -> None:
    for cpu in range(4):
        home = tmp_path / "cpu" / f"cpu{cpu}" / "topology"
        home.mkdir(parents=True)
        (home / "thread_siblings_list").write_text(f"{cpu % 2},{cpu % 2 + 2}")
        (home / "core_siblings_list").write_text("0-3")
    assert (
        format_levels(read_sysfs_node(range(4), tmp_path, tmp_path))
        == "+node:2,distance=8"
    )


def test_a_system_without_files_has_one_core_per_cpu(tmp_path: Path) -> None:
    assert (
        format_levels(read_sysfs_node([0, 3, 5], tmp_path, tmp_path))
        == "+node:3,distance=16"
    )


def test_an_invalid_list_of_cpus_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "node" / "node0" / "cpulist"
    file.parent.mkdir(parents=True)
    file.write_text("0-x")
    with pytest.raises(Error, match="cpulist: '0-x' is not a range of CPUs"):
        read_sysfs_node([0], tmp_path)


def test_the_system_files_of_this_machine_are_read() -> None:
    cpus = os.sched_getaffinity(0)
    inside = read_sysfs_node(cpus)
    assert 1 <= len(inside.cores) <= len(cpus)
    assert sum(core.bit_count() for core in inside.cores) == len(cpus)
