# SPDX-License-Identifier: BSD-3-Clause
"""Commands and files of launchers that are not installed, read as their manuals say.

These are Flux, HPE's PALS, IBM's jsrun, Fujitsu's PJM and Intel MPI, each with ranks of
one or several cores, one or two hardware threads, unequal nodes and shared slots.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from hybrid.cases import Case, draw_cases

from topoloom import Error
from topoloom.launch.exports.launch_formats import (
    bind_hybrid_ranks,
    find_format,
    require_binding_support,
    require_sharing_support,
)
from topoloom.support.number_ranges import expand_ranges
from topoloom.tasks.launch_placement import load_host_placement

HOSTS = ("ha", "hb", "hc")
CASES = draw_cases(60, seed=3)


def export_all(target: str, folder: Path) -> Iterator[tuple[Case, str, list[str]]]:
    """Export the drawn cases; skip those that the format refuses."""
    entry, written = find_format(target), 0
    for case in CASES:
        case.save(folder / "x.json", HOSTS)
        placed = load_host_placement(folder / "x.json", None, 1, case.bind)
        placed = bind_hybrid_ranks(entry, placed)
        try:
            require_binding_support(entry, placed)
            require_sharing_support(entry, placed)
            text = entry.write(placed)
        except Error:
            continue
        written += 1
        usage = entry.format_usage_command(placed)
        _check_threads(case, usage)
        yield case, text, shlex.split(usage)
    assert written >= 10


def _check_threads(case: Case, usage: str) -> None:
    threads = re.findall(r"OMP_NUM_THREADS[= ](\d+)", usage)
    assert set(threads) == ({str(case.cores)} if case.cores > 1 else set())
    assert not ("OMP_PLACES" in usage and case.shares_cores())


def count_ranks(case: Case) -> list[int]:
    """Count the ranks on each host that has some."""
    counts = [sum(host == at for at, _ in case.places) for host in range(len(HOSTS))]
    return [count for count in counts if count]


def check_lists(case: Case, lists: list[str], by_slot: bool) -> None:
    """Check CPU lists of the i-th rank of each host, by rank or by slot."""
    cpus = [expand_ranges(listed, 1000) for listed in lists]
    for host in range(len(HOSTS)):
        ranks = [rank for rank, (at, _) in enumerate(case.places) if at == host]
        if by_slot:
            ranks.sort(key=lambda rank: case.places[rank][1])
        for rank, listed in zip(ranks, cpus, strict=False):
            assert sorted(listed) == case.list_cpus(rank)


def get_value(words: list[str], option: str) -> str:
    """Return the value behind an option."""
    return words[words.index(option) + 1]


def test_flux_binds_the_tasks_of_whole_nodes_to_lists_of_cpus(tmp_path: Path) -> None:
    for case, _, words in export_all("flux-taskmap", tmp_path):
        assert get_value(words, "-n") == str(len(case.places))
        if case.cores > 1:
            assert get_value(words, "-c") == str(case.cores)  # cores, not threads
        affinity = get_value(words, "-o") if "-o" in words else ""
        if affinity.startswith("cpu-affinity=map:"):
            assert "-x" in words
            check_lists(case, affinity.partition(":")[2].split(";"), by_slot=False)
        else:
            assert affinity == ("cpu-affinity=per-task" if case.cores > 1 else "")


def test_pals_binds_the_ranks_of_a_node_in_the_order_of_slots(tmp_path: Path) -> None:
    for case, _, words in export_all("mpich-rank-order", tmp_path):
        pals = words[words.index("(PALS:") :]
        assert get_value(pals, "--ppn") == str(max(count_ranks(case)))
        if case.cores == 1:
            assert "--cpu-bind" not in pals
            continue
        how = get_value(pals, "--cpu-bind")
        if how == "depth":
            assert get_value(pals, "-d") == str(case.cores)
        else:
            assert case.knows_cpus
            check_lists(case, how.removeprefix("list:").split(":"), by_slot=True)


def test_jsrun_gets_a_resource_set_with_all_cpus_of_each_rank(tmp_path: Path) -> None:
    for case, text, words in export_all("jsrun-erf", tmp_path):
        assert words[-4:] == ["jsrun", "--erf_input", "FILE", "./app"]
        sets = re.findall(r"rank: (\d+): { host: (\d+); cpu: {([0-9,]+)}", text)
        for number, host, cpus in sets:
            rank = int(number)
            assert int(host) == case.places[rank][0] + 1
            assert sorted(map(int, cpus.split(","))) == case.list_cpus(rank)
        assert len(sets) == len(case.places)


def test_pjm_starts_as_many_processes_on_a_node_as_the_file_names(
    tmp_path: Path,
) -> None:
    for case, text, words in export_all("pjm-vcoordfile", tmp_path):
        assert text.split() == [f"({host})" for host, _ in case.places]
        (most,) = re.findall(r"max-proc-per-node=(\d+)", " ".join(words))
        assert int(most) == max(count_ranks(case))
        assert "OMP_PLACES=cores" not in words


def read_binding(line: str) -> list[list[int] | None]:
    """Read the CPUs of each rank of ``host:2 binding=map=[3,c]``; None if unbound."""
    host, _, bound = line.partition(" binding=map=")
    count = int(host.partition(":")[2])
    if not bound:
        return [None] * count
    entries = bound.strip("[]").split(",")
    assert len(entries) == count
    if "[" not in bound:
        return [[int(cpu)] for cpu in entries]
    masks = [int(mask, 16) for mask in entries]
    return [[cpu for cpu in range(64) if mask >> cpu & 1] for mask in masks]


def test_intel_mpi_gets_masks_or_domains_of_hardware_threads(tmp_path: Path) -> None:
    for case, text, words in export_all("intel-machinefile", tmp_path):
        if "I_MPI_PIN_DOMAIN" in words:
            assert not case.knows_cpus
            domain = get_value(words, "I_MPI_PIN_DOMAIN")
            assert domain == f"{case.cores}:compact"
        bound = [cpus for line in text.splitlines() for cpus in read_binding(line)]
        for rank, cpus in enumerate(bound):
            assert cpus is None or cpus == case.list_cpus(rank)
        assert len(bound) == len(case.places)
        is_listed = case.knows_cpus and (case.cores > 1 or case.bind is not None)
        assert (None in bound) != is_listed
