# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI 4 and 5: ``mpirun --map-by ppr:2:l3cache --rank-by core --bind-to core``.

The versions place ranks differently: ``orterun`` and ``openmpi4`` are version 4,
``prterun`` and ``openmpi5`` are version 5. For ``mpirun`` both must agree. A node has
as many Open MPI slots as it has cores for ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from topoloom.launch.launchers.openmpi import SYNTAX
from topoloom.launch.orders import openmpi4, openmpi5
from topoloom.launch.orders.launch_options import (
    LaunchOptions,
    LaunchOrderRules,
    read_count,
    read_options,
)
from topoloom.launch.orders.node_cores import (
    CORE,
    L2,
    L3,
    NODE,
    NUMA,
    PACKAGE,
    LaunchError,
    MissingResourceError,
    NodeCores,
    RankCores,
)
from topoloom.launch.orders.openmpi_mapping import FILL, NONE, SLOT, SPAN, Mapping

_VERSIONS = {4: openmpi4.place, 5: openmpi5.place}
_NAMES = {"orterun": [4], "openmpi4": [4], "prterun": [5], "openmpi5": [5]}
_RESOURCES = {
    "slot": SLOT,
    "node": NODE,
    "core": CORE,
    "l1cache": CORE,
    "l2cache": L2,
    "l3cache": L3,
    "numa": NUMA,
    "package": PACKAGE,
    "socket": PACKAGE,
    "skt": PACKAGE,
}
_FROM_FILES = ("seq", "rankfile")
#: Options that place ranks in ways that are not supported.
_REFUSED = frozenset(
    {"rankfile", "rf", "ppr", "app", "tune", "cf", "cartofile", "add-hostfile", "H"}
    | {"add-host", "cpu-list", "cpu-set", "nolocal", "host", "use-hwthread-cpus"}
    | {"hostfile", "machinefile", "default-hostfile"}
)


def read_order(words: Sequence[str]) -> LaunchOrderRules:
    """Read the options of an mpirun command."""
    read = read_options(words, SYNTAX, _REFUSED)
    mapping = _read_mapping(read)
    versions = _NAMES.get(words[0], [4, 5])
    place = partial(_place, mapping=mapping, versions=versions)
    return LaunchOrderRules(read.ranks, mapping.cores_per_rank, place)


def _place(
    nodes: Sequence[NodeCores], ranks: int, mapping: Mapping, versions: Sequence[int]
) -> list[RankCores]:
    """Place ranks as all of these versions do."""
    found, errors = [], []
    for version in versions:
        try:
            found.append(_VERSIONS[version](nodes, ranks, mapping))
        except MissingResourceError:
            raise
        except LaunchError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    if any(other != found[0] for other in found):
        raise LaunchError(
            "is ambiguous: Open MPI 4 and 5 place these ranks differently; write "
            "openmpi4 or openmpi5 instead of mpirun"
        )
    return found[0]


def _read_mapping(read: LaunchOptions) -> Mapping:
    mapping = _read_old_options(read, Mapping())
    if option := read.find("map-by"):
        mapping = _read_map_by(option.values[0].lower(), option.text, mapping)
    if option := read.find("rank-by"):
        name, _, spread = option.values[0].lower().partition(":")
        if name in (SPAN, FILL) and not spread:
            mapping = replace(mapping, rank_spread=name)
        else:
            by = _find_resource(name, option.text)
            mapping = replace(mapping, rank_by=by, rank_spread=spread)
        if mapping.rank_spread not in ("", SPAN, FILL):
            raise LaunchError(f"'{option.text}': expected span or fill after the colon")
    if option := read.find("bind-to"):
        name = option.values[0].lower().partition(":")[0]
        bind = NONE if name == NONE else _find_resource(name, option.text)
        if bind in (SLOT, NODE):
            raise LaunchError(f"'{option.text}': ranks cannot be bound to a {bind}")
        mapping = replace(mapping, bind_to=bind)
    return mapping


def _read_old_options(read: LaunchOptions, mapping: Mapping) -> Mapping:
    """Read options that today are modifiers of ``--map-by``."""
    for name, by in (("byslot", SLOT), ("bynode", NODE), ("bycore", CORE)):
        if read.find(name):
            mapping = replace(mapping, map_by=by, rank_by=by)
    if read.find("pernode"):
        mapping = replace(mapping, map_by=NODE, ranks_per_resource=1)
    for names, by in ((("N", "npernode"), NODE), (("npersocket",), PACKAGE)):
        if most := read.find_count(*names):
            mapping = replace(mapping, map_by=by, ranks_per_resource=most)
    if cores := read.find_count("cpus-per-proc", "cpus-per-rank"):
        mapping = replace(mapping, cores=cores)
    for name, bind in (("bind-to-core", CORE), ("bind-to-socket", PACKAGE)):
        if read.find(name):
            mapping = replace(mapping, bind_to=bind)
    return mapping


def _read_map_by(text: str, option: str, mapping: Mapping) -> Mapping:
    """Read ``ppr:2:l3cache:pe=4`` or ``socket:span``."""
    name, *modifiers = text.split(":")
    if name == "ppr":
        if len(modifiers) < 2:
            raise LaunchError(f"'{option}': ppr needs two values, as in ppr:2:l3cache")
        most = read_count(modifiers.pop(0), option)
        mapping = replace(mapping, ranks_per_resource=most)
        name = modifiers.pop(0)
        if name == SLOT:
            raise LaunchError(f"'{option}': ppr needs a resource, such as node")
    elif name in _FROM_FILES:
        raise LaunchError(
            f"'{option}' reads the placement from a file; judge it with 'topoloom "
            "judge GRAPH FILE', or pass it to --placement"
        )
    if name:
        if mapping.map_by and mapping.ranks_per_resource and "ppr" not in text:
            raise LaunchError(f"'{option}' cannot be combined with ranks per node")
        mapping = replace(mapping, map_by=_find_resource(name, option))
    for modifier in modifiers:
        mapping = _read_modifier(modifier, option, mapping)
    return mapping


def _read_modifier(modifier: str, option: str, mapping: Mapping) -> Mapping:
    name, equals, value = modifier.partition("=")
    if name == "pe" and equals:
        return replace(mapping, cores=read_count(value, option))
    if modifier == SPAN:
        return replace(mapping, is_spanning=True)
    if modifier in ("nooversubscribe", "oversubscribe", "corecpus"):
        return mapping
    raise LaunchError(
        f"'{option}': no modifier '{modifier}'; there are: span, PE=N, oversubscribe, "
        "nooversubscribe"
    )


def _find_resource(name: str, option: str) -> str:
    if name not in _RESOURCES:
        raise LaunchError(
            f"'{option}': no resource '{name}'; there are: {', '.join(_RESOURCES)}"
        )
    return _RESOURCES[name]
