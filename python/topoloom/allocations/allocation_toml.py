# SPDX-License-Identifier: BSD-3-Clause
"""The tables ``[[allocation]]`` in a machine's TOML: the slots of a job.

Each has ``hosts``, a host list, and optional ``slots`` on each of these hosts, such as
``"0-3,8"``. The order is the launcher's.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

from topoloom._core import Error
from topoloom.importers.machine_description import AllocatedNode
from topoloom.support.files import prefix_errors
from topoloom.support.hostlist import compress_hostlist, expand_hostlist
from topoloom.support.number_ranges import compress_ranges, expand_ranges

#: Upper limits, larger than any real node and any real job.
_MAX_SLOTS = 65_536
_MAX_HOSTS = 500_000


def read_allocation_tables(document: dict[str, Any]) -> tuple[AllocatedNode, ...]:
    """Read the allocation tables of a TOML document; () if there are none."""
    tables = document.get("allocation", [])
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise Error("allocation must be tables, each headed [[allocation]]")
    nodes: list[AllocatedNode] = []
    for number, table in enumerate(tables):
        where = f"allocation[{number}]"
        if unknown := set(table) - {"hosts", "slots"}:
            raise Error(f"no key '{where}.{min(unknown)}'; there are: hosts, slots")
        hosts, slots = table.get("hosts"), table.get("slots")
        if not isinstance(hosts, str):
            raise Error(f'{where}.hosts must be a host list, such as "n[01-64]"')
        if not isinstance(slots, str | None):
            raise Error(f'{where}.slots must be a string, such as "0-3,8"')
        with prefix_errors(f"{where}.slots"):
            given = () if slots is None else expand_ranges(slots, _MAX_SLOTS)
        with prefix_errors(f"{where}.hosts"):
            names = expand_hostlist(hosts, _MAX_HOSTS - len(nodes))
        nodes += [AllocatedNode(name, given) for name in names]
    return tuple(nodes)


def format_allocation_tables(nodes: Iterable[AllocatedNode]) -> Iterator[str]:
    """Yield the lines of the allocation tables."""
    for slots, group in itertools.groupby(nodes, key=lambda node: node.slots):
        hosts = compress_hostlist(node.host for node in group)
        yield from ("", "[[allocation]]", f"hosts = {json.dumps(hosts)}")
        if slots:
            yield f'slots = "{compress_ranges(slots)}"'
