# SPDX-License-Identifier: BSD-3-Clause
"""Describes NCCL communicators: ranks per node, and channel paths through nodes.

NCCL searches the topology of a node for channels: paths that enter at the GPU next to
one NIC, visit all GPUs and leave through another NIC. For nodes with an NVSwitch, this
module makes the paths that NCCL prints; for other nodes, pass the paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topoloom._core import Error

Orders = tuple[tuple[int, ...], ...]

#: Limit on ranks; listing all channels takes about 10 s at this limit.
MAX_RANKS = 1 << 18


@dataclass(frozen=True)
class NodePaths:
    """Paths of channels through a node, with GPUs numbered from 0.

    Attributes
    ----------
    rings
        GPUs per channel in ring order: data enters at the first GPU and leaves at the
        last.
    chains
        GPUs per channel in tree order; the first is connected to the parent node.
    """

    rings: Orders
    chains: Orders

    def __post_init__(self) -> None:
        if not self.rings or len(self.rings) != len(self.chains):
            raise Error(
                f"a node has {len(self.rings)} rings and {len(self.chains)} chains; "
                "give every channel both"
            )
        gpus = sorted(self.rings[0])
        for order in (*self.rings, *self.chains):
            if sorted(order) != list(range(len(gpus))):
                raise Error(
                    f"a channel passes GPUs {order}; it must pass each of "
                    f"{len(gpus)} once"
                )


def make_switched_paths(gpus: int, nics: int) -> NodePaths:
    """Make the paths of a node with an NVSwitch, one path per NIC.

    A ring starts at the GPU of its NIC in descending order, a chain in ascending order.

    Raises
    ------
    topoloom.Error
        If the node has no GPUs or no NICs.
    """
    if gpus < 1 or nics < 1:
        raise Error(f"no node has {gpus} GPUs and {nics} NICs")
    entries = [nic * gpus // nics for nic in range(nics)]
    return NodePaths(
        tuple(tuple((e - i) % gpus for i in range(gpus)) for e in entries),
        tuple(tuple((e + i) % gpus for i in range(gpus)) for e in entries),
    )


@dataclass(frozen=True)
class Communicator:
    """A communicator: the ranks of each node, and channel paths through each node.

    Attributes
    ----------
    nodes
        Ranks of each node in GPU order; nodes in the order of their first ranks.
    paths
        Channel paths of each node; all nodes have the same number of channels.
    alternate
        Whether odd nodes swap channels 0 and 1, 2 and 3, ... in rings, so that a ring
        leaves and enters through the same NIC. NCCL swaps if its search had to cross
        NICs and NCCL_CROSS_NIC allows it.
    lower_child_at
        Chain index of the GPU that is connected to the lower child: 1 in NCCL's
        balanced trees, 0 in plain trees.
    """

    nodes: tuple[tuple[int, ...], ...]
    paths: tuple[NodePaths, ...]
    alternate: bool = False
    lower_child_at: int = 1

    def __post_init__(self) -> None:
        if len(self.nodes) != len(self.paths) or not self.nodes:
            raise Error(f"{len(self.nodes)} nodes have {len(self.paths)} paths")
        for node, paths in zip(self.nodes, self.paths, strict=True):
            if len(paths.rings[0]) != len(node):
                raise Error(
                    f"a node of ranks {node} has paths of {len(paths.rings[0])} GPUs"
                )
        if len({len(paths.rings) for paths in self.paths}) > 1:
            raise Error("nodes have different numbers of channels")

    @property
    def ranks(self) -> int:
        """Number of ranks of the communicator."""
        return sum(map(len, self.nodes))

    @property
    def paths_per_node(self) -> int:
        """Number of channel paths per node; NCCL uses each path twice."""
        return len(self.paths[0].rings)

    @property
    def channels(self) -> int:
        """Number of channels over which NCCL splits the data."""
        return 2 * self.paths_per_node

    def ring_order(self, node: int, channel: int) -> tuple[int, ...]:
        """List the ranks of a node in ring order of a channel."""
        path = channel % self.paths_per_node
        even = self.paths_per_node % 2 == 0
        if self.alternate and even and node % 2 == 1:
            path ^= 1
        return self._list_ranks(node, self.paths[node].rings[path])

    def chain_order(self, node: int, channel: int) -> tuple[int, ...]:
        """List the ranks of a node in tree order of a channel."""
        path = channel % self.paths_per_node
        return self._list_ranks(node, self.paths[node].chains[path])

    def _list_ranks(self, node: int, order: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.nodes[node][gpu] for gpu in order)


def make_communicator(
    members: Sequence[int], gpus_per_node: int, nics: int | None = None
) -> Communicator:
    """Make a communicator in which rank i is rank ``members[i]`` of the job.

    Parameters
    ----------
    members
        Ranks of the job; ranks fill nodes in order.
    gpus_per_node
        Number of GPUs, and ranks of the job, per node.
    nics
        NICs per node, shared evenly by the GPUs; default: one NIC per GPU.

    Raises
    ------
    topoloom.Error
        If the group has no members, or nodes have no GPUs.
    """
    if not members or gpus_per_node < 1:
        raise Error(
            f"no communicator has {len(members)} ranks and nodes of "
            f"{gpus_per_node} GPUs"
        )
    by_node: dict[int, list[int]] = {}
    for rank, member in enumerate(members):
        by_node.setdefault(member // gpus_per_node, []).append(rank)
    nodes = tuple(tuple(ranks) for ranks in by_node.values())
    if len(nodes) == 1:
        order = tuple(range(len(members)))
        return Communicator(nodes, (NodePaths((order,), (order,)),))
    count = nics or gpus_per_node
    return Communicator(nodes, tuple(make_switched_paths(len(n), count) for n in nodes))


def check_world(ranks: int, gpus_per_node: int) -> None:
    """Raise `topoloom.Error` if the job is too large or does not fill its last node."""
    if gpus_per_node < 1:
        raise Error(f"nodes have {gpus_per_node} GPUs; specify 1 or more")
    if ranks > MAX_RANKS:
        raise Error(
            f"a job of {ranks:,} ranks is too large to list what NCCL sends; give at "
            f"most {MAX_RANKS:,} ranks"
        )
    if ranks % gpus_per_node:
        raise Error(
            f"{ranks} ranks are not a multiple of {gpus_per_node} GPUs per node; "
            "say how many ranks share a node"
        )
