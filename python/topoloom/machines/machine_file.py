# SPDX-License-Identifier: BSD-3-Clause
"""Machines by short text, description file, or name from the zoo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from topoloom._core import Error, Machine, NetworkModel
from topoloom.allocations.allocation_file import AllocatedHosts
from topoloom.allocations.described_allocation import described_allocation
from topoloom.importers.described import AllocatedNode, Described
from topoloom.importers.networks import Speeds, with_given_speeds
from topoloom.machines.link_names import vertex_words
from topoloom.machines.machine_changes import changed, split_changes
from topoloom.machines.machine_names import DETECT, zoo_files
from topoloom.machines.topology_forms import section_forms
from topoloom.nodes.hosts import counted_hosts, host_count
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.support.files import (
    MAX_BYTES,
    exists,
    prefix_errors,
    read_text,
    write_text,
)
from topoloom.support.nearest import suggest
from topoloom.support.plain_text import check_characters
from topoloom.support.units import counted

#: The characters that importers look at to recognize a format.
_HEAD = 64 * 1024

#: what is read by its suffix; all else is recognized by what is in it
FORMATS = {
    "toml": ("Topoloom's description, with names and units", (".toml",)),
    "metis": ("a METIS graph, each vertex a node", (".graph", ".metis")),
}


def _write_scotch(machine: Machine, model: NetworkModel | None) -> str:
    from topoloom.importers.scotch import write_scotch_target

    return write_scotch_target(machine)


def _write_simgrid(machine: Machine, model: NetworkModel | None) -> str:
    from topoloom.importers.simgrid.clusters import write_simgrid_platform

    return write_simgrid_platform(machine, model)


def _write_metis(machine: Machine, model: NetworkModel | None) -> str:
    from topoloom.importers.metis import write_metis_machine

    return write_metis_machine(machine)


#: Writes a machine, and what messages cost on it, if the format has words for that.
Write = Callable[[Machine, NetworkModel | None], str]

#: name -> the suffix by which machines are written so, and what writes them
WRITERS: dict[str, tuple[str, Write]] = {
    "scotch": (".tgt", _write_scotch),
    "simgrid": (".xml", _write_simgrid),
    "metis": (".graph", _write_metis),
}


class LackingError(Error):
    """Something is missing in a file; what there is can be used.

    Attributes
    ----------
    lines
        What is missing, in words.
    """

    lines: tuple[str, ...] = ()


def load_machine(text: str | Path) -> Machine:
    """Make a machine.

    Parameters
    ----------
    text
        A short text such as ``torus:8x8x8``, the path of a TOML description, of a
        METIS ``.graph`` file (every vertex a node; an edge weight multiplies the
        link's bandwidth) or of a file in one of `importers.IMPORTERS`' formats, a
        name from `zoo`, or ``detect``: the node or batch job that this process is in
        (`load_machine_and_allocation` also returns which part of it the job was given).
        ``+node:`` after a name or a file puts other nodes into it, and ``+down:``
        says what failed: ``frontier+node:8:8,distance=1:2``.

    Raises
    ------
    topoloom.Error
        If it is none of these, or the description is wrong.
    OSError
        If the file cannot be read.
    """
    return load_machine_and_hosts(text)[0]


def load_machine_and_hosts(text: str | Path) -> tuple[Machine, tuple[str, ...]]:
    """Make a machine as `load_machine`, with its nodes' names; () if they have none."""
    machine, described = load_described(text)
    return machine, described.hosts


def load_machine_and_allocation(text: str | Path) -> AllocatedHosts:
    """Make a machine as `load_machine`, with the allocation that belongs to it.

    That is what a batch job was given, if `text` is ``detect`` in the job or a file
    that was written so, and the whole machine else.
    """
    return described_allocation(*load_described(text))


def load_described(
    text: str | Path, partial: bool = False, speeds: Speeds | None = None
) -> tuple[Machine, Described]:
    """Make a machine as `load_machine`, with the description that it was made of.

    `speeds` are for files without them, in place of what is assumed.

    Raises
    ------
    LackingError
        Unless `partial`, for a file that lacks something of some nodes; otherwise these
        are left out, and ``lacking`` of the description names them.
    """
    described = describe_machine(text, partial, speeds)
    if described.text == str(text):
        return Machine(described.text), described
    with prefix_errors(text):
        machine = Machine(described.text, described.remarks)
        described = replace(described, hosts=_by_node(machine, described.hosts))
        _check_switches(machine, described.switches)
        if described.allocated or described.hosts:
            described_allocation(machine, described)  # refuses what is not there
    return machine, described


def describe_machine(
    text: str | Path, partial: bool = False, speeds: Speeds | None = None
) -> Described:
    """Find the short text and the host names that `load_machine` makes a machine of.

    Takes and raises what `load_described` does, but a short text is not read here.
    """
    path, name = Path(text), str(text)
    if speeds is not None and any(speeds):
        suffixes = [end for _, ends in FORMATS.values() for end in ends]
        if path.suffix in suffixes or name == DETECT or not exists(path):
            raise Error(f"{name:.60}: speeds are given for files without them only")
        return _import(path, partial, speeds)
    if name == DETECT:
        from topoloom.importers.system.detect import detect_machine

        return detect_machine()
    base, changes = split_changes(name)
    if changes and base.partition(":")[0] not in section_forms() and not exists(path):
        check_characters(f"'{changes:.60}'", changes)
        described = describe_machine(base, partial)
        with prefix_errors(name):
            return changed(described, changes)
    if path.suffix in FORMATS["toml"][1]:
        return _read_toml(path)
    kind = name.partition(":")[0]
    if kind == name and path.suffix in FORMATS["metis"][1]:
        from topoloom.machines.graph_toml import metis_links

        count, links = metis_links(path, 1.0)
        return Described(f"graph:{count}:{','.join(links)}")
    files = zoo_files()
    if name in files:
        return _read_toml(files[name])
    if name and kind not in section_forms() and exists(path):
        return _import(path, partial, Speeds())
    if kind != name:
        check_characters(f"machine '{name:.60}'", name)
        return Described(name)
    if name in section_forms():
        example = section_forms()[name].example
        raise Error(f"machine '{name}' lacks its size; write it as in {example}")
    if path.suffix or path.name != name:
        return _import(path, partial, Speeds())  # which says why it cannot be read
    raise Error(
        f"no machine '{name}'{suggest(name, [*files, DETECT])}; 'topoloom list "
        "machines' names them; or write one, such as torus:8x8x8, or name a file"
    )


def save_machine(
    path: str | Path,
    machine: Machine,
    hosts: Sequence[str] = (),
    allocated: Sequence[AllocatedNode] = (),
    node: NodeParts = NO_PARTS,
    remarks: Sequence[str] = (),
    switches: Sequence[str] = (),
    model: NetworkModel | None = None,
    labels: Sequence[str] = (),
) -> None:
    """Write a machine in the format of the suffix: ``.toml``, or one of `WRITERS`.

    Only ``.toml`` keeps all of it, with names, labels of levels, the
    allocation, CPUs and devices, and has the remarks as comments. A device, such as
    ``/dev/stdout``, gets that too. What messages cost, the `model`, is written where
    the format has words for it.

    Raises
    ------
    topoloom.Error
        For another suffix, and for a machine that the format has no words for.
    """
    path = Path(path)
    if path.suffix == ".toml" or (path.exists() and not path.is_file()):
        about = (hosts, allocated, node, remarks, switches)
        from topoloom.machines.machine_facts import machine_name
        from topoloom.machines.machine_toml_writer import write_machine_toml

        name = machine_name(machine, node)
        write_machine_toml(path, machine, name, *about, labels=labels)
        return
    for suffix, write in WRITERS.values():
        if path.suffix == suffix:
            with prefix_errors(path):
                if machine.has_failures:
                    raise Error("failures can be written in a .toml only")
                if node.types:
                    raise Error("nodes that differ can be written in a .toml only")
                text = write(machine, model)
            write_text(path, text)
            return
    others = ", ".join(f"{suffix} ({name})" for name, (suffix, _) in WRITERS.items())
    raise Error(f"{path}: machines are written as .toml, {others}; name it so")


def _read_toml(path: Path) -> Described:
    from topoloom.machines.machine_toml import read_machine_toml

    return read_machine_toml(path)[0]


def _import(path: Path, partial: bool, speeds: Speeds) -> Described:
    from topoloom.machines.import_formats import IMPORTERS

    text = read_text(path, limit=MAX_BYTES)
    if not text.strip():
        raise Error(f"{path}: the file is empty")
    head = text[:_HEAD]
    for importer in IMPORTERS:
        if importer.recognizes(head):
            with prefix_errors(path):
                described = with_given_speeds(importer.read(text), speeds)
            if described.lacking and not partial:
                first, more = described.lacking[0], len(described.lacking) - 1
                rest = f"; and {more} more" if more else ""
                error = LackingError(
                    f"{path}: {first}{rest}; 'topoloom machine' can leave them out"
                )
                error.lines = described.lacking
                raise error
            return described
    known = ", ".join([*FORMATS, *(importer.name for importer in IMPORTERS)])
    raise Error(
        f"{path}: describes no machine in a format that is known ({known}); "
        "'topoloom list formats' explains them"
    )


def _by_node(machine: Machine, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Check the names of all hosts, and give each node that of its host."""
    if hosts and len(hosts) != host_count(machine):
        raise Error(
            f"{counted(len(hosts), 'host name')} for "
            f"{counted_hosts(machine, machine.node_count)}"
        )
    if len(set(hosts)) < len(hosts):
        twice, times = Counter(hosts).most_common(1)[0]
        raise Error(
            f"host {twice} is named {times} times; each "
            f"{'node' if machine.nodes_per_host == 1 else 'host'} needs its own"
        )
    if machine.nodes_per_host == 1:
        return hosts
    return tuple(host for host in hosts for _ in range(machine.nodes_per_host))


def _check_switches(machine: Machine, switches: tuple[str, ...]) -> None:
    if not switches:
        return
    count = len(vertex_words(machine)) - machine.node_count
    if len(switches) != count:
        raise Error(
            f"{counted(len(switches), 'switch name')}, but {count} switches of the "
            "machine can have a name; name those of a tree or graph, or leave them out"
        )
