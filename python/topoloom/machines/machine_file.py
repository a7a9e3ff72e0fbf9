# SPDX-License-Identifier: BSD-3-Clause
"""Loads machines from machine text, from files, and by name from the zoo."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from topoloom._core import Error, Machine, MachineText
from topoloom.allocations.allocation_file import AllocatedHosts
from topoloom.allocations.described_allocation import described_allocation
from topoloom.importers.machine_description import (
    GivenSpeeds,
    MachineDescription,
    Selection,
)
from topoloom.machines.machine_names import DETECT, map_zoo_files
from topoloom.machines.topology_forms import section_forms
from topoloom.nodes.hosts import format_host_count, host_count
from topoloom.support.file_kinds import MACHINE, check_file_kind
from topoloom.support.files import (
    MAX_BYTES,
    exists,
    prefix_errors,
    read_text,
)
from topoloom.support.name_lookup import suggest
from topoloom.support.plain_text import check_characters
from topoloom.support.units import counted

#: Number of characters from which importers recognize a format.
_HEAD = 64 * 1024

#: Formats recognized by suffix; all other formats are recognized by content.
FORMATS = {
    "toml": ("Topoloom's description, with names and units", (".toml",)),
    "metis": ("a METIS graph, each vertex a node", (".graph", ".metis")),
}


class IncompleteFileError(Error):
    """Raised if a file lacks data of some nodes; the other nodes are usable.

    Attributes
    ----------
    lines
        The missing data, one line per item.
    """

    lines: tuple[str, ...] = ()


def load_machine(text: str | Path) -> Machine:
    """Make a machine.

    Parameters
    ----------
    text
        Machine text such as ``torus:8x8x8``, a name from `zoo`, a file, or ``detect``
        for the node or batch job of this process. A file is a TOML description, a METIS
        ``.graph`` file (each vertex is a node; edge weights multiply bandwidths), or
        has a format of `IMPORTERS`. After a name or a file, ``+node:`` replaces the
        nodes and ``+down:`` lists failures: ``frontier+node:8:8,distance=1:2``.

    Raises
    ------
    topoloom.Error
        If the text is none of these, or the description is invalid.
    OSError
        If the file cannot be read.
    """
    return load_machine_and_hosts(text)[0]


def load_machine_and_hosts(text: str | Path) -> tuple[Machine, tuple[str, ...]]:
    """Load a machine and the names of its nodes; () if unnamed."""
    machine, described = load_machine_and_description(text)
    return machine, described.hosts


def load_machine_and_allocation(text: str | Path) -> AllocatedHosts:
    """Load a machine and its allocation.

    For ``detect`` in a batch job, and for files saved from it, this is the allocation
    of the job; otherwise it is the whole machine.
    """
    return described_allocation(*load_machine_and_description(text))


def load_machine_and_description(
    text: str | Path,
    partial: bool = False,
    speeds: GivenSpeeds | None = None,
    selection: Selection | None = None,
) -> tuple[Machine, MachineDescription]:
    """Load a machine and its description.

    `speeds` replace the default speeds if a file contains none. If a file lacks data of
    some nodes, `partial` omits these nodes and lists them in ``missing`` of the
    description; without `partial`, `IncompleteFileError` is raised.
    """
    described = describe_machine(text, partial, speeds, selection)
    if described.text == str(text):
        return Machine(described.text), described
    with prefix_errors(text):
        machine = Machine(described.text, described.remarks)
        described = replace(
            described, hosts=_repeat_hosts_by_node(machine, described.hosts)
        )
        _check_switches(machine, described.switches)
        if described.allocated or described.hosts:
            described_allocation(machine, described)  # checks it
    return machine, described


def describe_machine(
    text: str | Path,
    partial: bool = False,
    speeds: GivenSpeeds | None = None,
    selection: Selection | None = None,
) -> MachineDescription:
    """Load a description without parsing machine text."""
    path, name = Path(text), str(text)
    if any(speeds or ()) or any(selection or ()):
        _require_import(path, name, any(speeds or ()))
        return _import_file(path, partial, speeds, selection)
    if name == DETECT:
        from topoloom.importers.system.detect import detect_machine

        return detect_machine()
    base = MachineText(name).network
    changes = name[len(base) :]
    if changes and base.partition(":")[0] not in section_forms() and not exists(path):
        check_characters(f"'{changes:.60}'", changes)
        described = describe_machine(base, partial)
        with prefix_errors(name):
            from topoloom.machines.machine_changes import apply_changes

            return apply_changes(described, changes)
    if path.suffix in FORMATS["toml"][1]:
        return _read_toml(path)
    kind = name.partition(":")[0]
    if kind == name and path.suffix in FORMATS["metis"][1]:
        from topoloom.machines.graph_toml import read_metis_links

        count, links = read_metis_links(path, 1.0)
        return MachineDescription(f"graph:{count}:{','.join(links)}")
    files = map_zoo_files()
    if name in files:
        return _read_toml(files[name])
    if name and kind not in section_forms() and exists(path):
        return _import_file(path, partial)
    if kind != name:
        check_characters(f"machine '{name:.60}'", name)
        return MachineDescription(name)
    if name in section_forms():
        example = section_forms()[name].example
        raise Error(f"machine '{name}' has no size; add it, as in {example}")
    if path.suffix or path.name != name:
        return _import_file(
            path, partial
        )  # raises the reason why the file cannot be read
    raise Error(
        f"no machine '{name}'{suggest(name, [*files, DETECT])}; 'topoloom list "
        "machines' lists them; or pass a text such as torus:8x8x8, or a file"
    )


def _read_toml(path: Path) -> MachineDescription:
    from topoloom.machines.machine_toml import read_machine_toml

    return read_machine_toml(path)[0]


def _require_import(path: Path, name: str, has_speeds: bool) -> None:
    """Raise an error unless the file is one of another program."""
    suffixes = [end for _, ends in FORMATS.values() for end in ends]
    if path.suffix in suffixes or name == DETECT or not exists(path):
        allowed = "of Slurm have topologies and parts to choose"
        if has_speeds:
            allowed = "without speeds can be combined with speeds"
        raise Error(f"{name:.60}: only files {allowed}")


def _import_file(
    path: Path,
    partial: bool,
    speeds: GivenSpeeds | None = None,
    selection: Selection | None = None,
) -> MachineDescription:
    from topoloom.importers.infiniband.adapters import describe_adapters
    from topoloom.importers.network_speeds import apply_given_speeds
    from topoloom.machines.import_formats import IMPORTERS

    check_file_kind(path, MACHINE)
    text = read_text(path, limit=MAX_BYTES)
    if not text.strip():
        raise Error(f"{path}: the file is empty")
    head = text[:_HEAD]
    for importer in IMPORTERS:
        if importer.recognizes(head):
            with prefix_errors(path):
                described = apply_given_speeds(
                    importer.read(text, selection), speeds or GivenSpeeds()
                )
            if described.missing and not partial:
                first, more = described.missing[0], len(described.missing) - 1
                rest = f"; and {more} more" if more else ""
                error = IncompleteFileError(
                    f"{path}: {first}{rest}; 'topoloom machine import --partial' "
                    "omits these nodes"
                )
                error.lines = described.missing
                raise error
            return described
    if adapters := describe_adapters(text):
        raise Error(f"{path}: {adapters}")
    known = ", ".join([*FORMATS, *(importer.name for importer in IMPORTERS)])
    raise Error(
        f"{path}: not a machine in a known format ({known}); "
        "see 'topoloom list formats'"
    )


def _repeat_hosts_by_node(machine: Machine, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Check the host names, and return the host name of each node."""
    if hosts and len(hosts) != host_count(machine):
        raise Error(
            f"{counted(len(hosts), 'host name')} for "
            f"{format_host_count(machine, machine.node_count)}"
        )
    if len(set(hosts)) < len(hosts):
        twice, times = Counter(hosts).most_common(1)[0]
        raise Error(
            f"host {twice} is named {times} times; each "
            f"{'node' if machine.nodes_per_host == 1 else 'host'} needs a unique name"
        )
    if machine.nodes_per_host == 1:
        return hosts
    return tuple(host for host in hosts for _ in range(machine.nodes_per_host))


def _check_switches(machine: Machine, switches: tuple[str, ...]) -> None:
    if not switches:
        return
    from topoloom.machines.link_names import list_default_vertex_names

    count = len(list_default_vertex_names(machine)) - machine.node_count
    if len(switches) != count:
        raise Error(
            f"{counted(len(switches), 'switch name')}, but the machine has {count} "
            "switches with names; only switches of trees and graphs can have names"
        )
