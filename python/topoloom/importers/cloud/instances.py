# SPDX-License-Identifier: BSD-3-Clause
"""Reads network locations of instances: JSON of Amazon EC2, Google and Oracle.

Each instance lists the network nodes (blocks, racks) above it, so the machine is a tree
of switches. Bandwidths are derived from instance types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from topoloom.importers.cloud.json_document import JsonDocument
from topoloom.importers.cloud.switch_paths import describe_switch_paths
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.network_speeds import NETWORKS
from topoloom.support.units import counted

_MAX_LEVELS = 16
#: Maximum number of instance types in a remark.
_MAX_NAMED = 6
#: Keys of the instance type: Amazon's, Google's, Oracle's.
_TYPES = ("InstanceType", "machineType", "shape")
_Record = dict[str, Any]


def read_aws_topology(text: str) -> MachineDescription:
    """Read ``aws ec2 describe-instance-topology``, whose NetworkNodes are top-down."""
    document = _InstanceDocument(text)
    if isinstance(document.value, dict) and document.value.get("NextToken"):
        document.fail('"NextToken"', "this is one page of several; join all pages")
    parent: dict[str, str] = {}

    def read_path(record: _Record) -> tuple[str, tuple[str, ...]]:
        name = document.require_text(record, ("InstanceId",))
        nodes = record.get("NetworkNodes")
        if not isinstance(nodes, list) or not nodes:
            document.fail_at(
                name,
                f"instance '{name[:60]}' has no NetworkNodes; it must be running, "
                "and of a type that has a topology",
            )
        for node in nodes:
            if not isinstance(node, str) or not node:
                document.fail_at(name, f"a network node of '{name[:60]}' is not a name")
        for above, node in zip(["", *nodes], nodes, strict=False):
            if parent.setdefault(node, above) != above:
                document.fail_at(
                    name,
                    f"network node '{node[:60]}' above '{name[:60]}' is below "
                    "another node elsewhere",
                )
        return name, tuple(nodes)

    return document.build_tree(("Instances",), read_path)


def read_google_instances(text: str) -> MachineDescription:
    """Read ``gcloud compute instances list --format=json``: cluster, block, subblock.

    Instances on the same physical host are connected by an additional switch.
    """
    document = _InstanceDocument(text)

    def read_path(record: _Record) -> tuple[str, tuple[str, ...]]:
        name = document.require_text(record, ("name",))
        status = record.get("resourceStatus")
        status = status if isinstance(status, dict) else {}
        topology = status.get("physicalHostTopology")
        topology = topology if isinstance(topology, dict) else {}
        path = [topology.get(key) for key in ("cluster", "block", "subblock", "host")]
        if not isinstance(topology.get("host"), str):
            host = status.get("physicalHost", record.get("physicalHost"))
            path = list(host.strip("/").split("/")) if isinstance(host, str) else []
        parts = tuple(part for part in path if isinstance(part, str) and part)
        if len(parts) < 2:
            document.fail_at(
                name,
                f"instance '{name[:60]}' has no resourceStatus.physicalHost; it must "
                "be running, in a compact placement or a reservation",
            )
        return name, parts

    return document.build_tree(("items",), read_path, own_hosts=True)


def read_oracle_hosts(text: str) -> MachineDescription:
    """Read ``oci compute compute-host list``: HPC island, network and local block.

    Hosts without a running instance are omitted.
    """
    document = _InstanceDocument(text)

    def read_path(record: _Record) -> tuple[str, tuple[str, ...]] | None:
        if not document.find_value(record, ("instance-id",)):
            return None
        name = document.require_text(record, ("instance-id",))
        blocks = [
            document.require_text(record, (key, f"compute-{key}"))
            for key in ("hpc-island-id", "network-block-id", "local-block-id")
        ]
        return name, tuple(blocks)

    return document.build_tree(("data", "items"), read_path)


class _InstanceDocument(JsonDocument):
    """A JSON document with a list of instances."""

    def fail_at(self, text: str, what: str) -> NoReturn:
        """Raise `topoloom.Error` with the line number of a string."""
        self.fail(json.dumps(text), what)

    def find_value(self, record: _Record, keys: tuple[str, ...]) -> Any:
        """Return the value of the first existing key, in kebab or camel case."""
        for key in keys:
            head, *rest = key.split("-")
            camel = head + "".join(word.capitalize() for word in rest)
            for spelled in (key, camel):
                if record.get(spelled) is not None:
                    return record[spelled]
        return None

    def require_text(self, record: _Record, keys: tuple[str, ...]) -> str:
        value = self.find_value(record, keys)
        if not isinstance(value, str) or not value:
            known = next((v for v in record.values() if isinstance(v, str)), "")
            self.fail_at(
                known, f"an entry lacks its '{keys[0]}' (a string that is not empty)"
            )
        return value

    def build_tree(
        self,
        wrappers: tuple[str, ...],
        read_path: Callable[[_Record], tuple[str, tuple[str, ...]] | None],
        own_hosts: bool = False,
    ) -> MachineDescription:
        """Build the machine from the instances listed under a key in `wrappers`."""
        value = self.value
        for key in wrappers:
            if isinstance(value, dict) and key in value:
                value = value[key]
        records = value if isinstance(value, list) else [value]
        placed: dict[str, tuple[str, ...]] = {}
        kinds: set[str] = set()
        remarks: list[str] = []
        skipped = 0
        for record in records:
            if not isinstance(record, dict):
                self.fail("", f"expected a list of entries under {wrappers[-1]!r}")
            found = read_path(record)
            if found is None:
                skipped += 1
                continue
            name, path = found
            if len(path) > _MAX_LEVELS:
                self.fail_at(name, f"'{name[:60]}' is too many levels deep")
            if name in placed:
                self.fail_at(name, f"'{name[:60]}' appears twice")
            placed[name] = path
            kinds.add(_get_instance_type(record))
        if not placed:
            self.fail("", "the list has no instances")
        shallow, deep = (f(map(len, placed.values())) for f in (min, max))
        if shallow < deep:
            remarks.append(
                f"instances have {shallow} to {deep} network levels: those with fewer "
                "are placed higher in the tree"
            )
        if own_hosts and len(set(placed.values())) == len(placed):
            placed = {name: path[:-1] for name, path in placed.items()}
        if skipped:
            remarks.append(f"{counted(skipped, 'host')} without an instance left out")
        network, assumed = _choose_network(kinds)
        return replace(
            describe_switch_paths(placed), network=network, remarks=(*assumed, *remarks)
        )


def _get_instance_type(record: _Record) -> str:
    """Return the instance type, without Google's zone prefix; empty if missing."""
    kind = next((record[key] for key in _TYPES if key in record), "")
    return kind.rpartition("/")[2] if isinstance(kind, str) else ""


def _choose_network(kinds: set[str]) -> tuple[str, tuple[str, ...]]:
    """Choose the slowest known instance type; return remarks on the other types."""
    known = sorted(
        (kind for kind in kinds if kind in NETWORKS and kind),
        key=lambda kind: (NETWORKS[kind].bandwidth, kind),
    )
    slowest = known[0] if known else ""
    remarks = []
    if known and NETWORKS[known[-1]].bandwidth > NETWORKS[slowest].bandwidth:
        remarks.append(
            f"assumed: all instances have the network of {slowest}, the slowest of "
            f"{_join_types(known)}"
        )
    unknown = sorted(kinds - set(known))
    if unknown and kinds != {""}:
        what = f"the network of {slowest}" if known else "100 Gbit/s"
        remarks.append(
            f"assumed: {what} for {_join_types(unknown)}, whose own is unknown"
        )
    return slowest, tuple(remarks)


def _join_types(kinds: list[str]) -> str:
    """Join the first few instance types; drop characters that are invalid in names."""
    names = [
        re.sub(r"[^\w.\-]", "?", kind)[:40] or "those without a type" for kind in kinds
    ]
    more = [f"{len(names) - _MAX_NAMED} more"] if len(names) > _MAX_NAMED else []
    return ", ".join(names[:_MAX_NAMED] + more)
