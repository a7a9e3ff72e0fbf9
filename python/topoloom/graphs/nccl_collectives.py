# SPDX-License-Identifier: BSD-3-Clause
"""Collectives as the messages that NCCL sends for them, on nodes as of a DGX H100."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from topoloom.graphs.messages import Messages
from topoloom.nccl.communicator import Communicator, check_world, make_communicator
from topoloom.nccl.hardware import find_hardware
from topoloom.nccl.messages import exchange_rounds, expand_collective
from topoloom.nccl.times import predict_algorithms

#: Messages of a collective: its name, the members, bytes and root (a place).
Expansion = Callable[[str, Sequence[int], int, int], Messages]


def nccl_expansion(ranks: int, gpus_per_node: int) -> Expansion:
    """Make what expands a collective of some ranks of a job as NCCL would.

    An all-reduce takes the algorithm that NCCL would choose for its size: rings, trees
    or sums in the NVSwitch.

    Raises
    ------
    topoloom.Error
        If the ranks do not fill their nodes.
    """
    check_world(ranks, gpus_per_node)
    made: dict[tuple[str, int, int, tuple[tuple[int, ...], ...]], Messages] = {}

    def expansion(
        operation: str, members: Sequence[int], bytes: int, root: int
    ) -> Messages:
        group = make_communicator(members, gpus_per_node)
        call = (operation, bytes, root, group.nodes)
        if call not in made:  # other groups often lie on their nodes alike
            way = algorithm(group, bytes) if operation == "allreduce" else "ring"
            made[call] = Messages(
                *expand_collective(group, operation, bytes, root, way)
            ).summed()
        return made[call]

    return expansion


def algorithm(group: Communicator, bytes: int) -> str:
    """Name the algorithm that NCCL would choose for an all-reduce of a group."""
    most = max(map(len, group.nodes))
    node = find_hardware("dgx-h100").with_changes(gpus=most, nics=most)
    return predict_algorithms(node, len(group.nodes), "allreduce", bytes)[0].algorithm


def whole_job(
    operation: str, ranks: int, gpus_per_node: int, bytes: int, algorithm: str
) -> Messages:
    """Expand a collective of all ranks by one algorithm."""
    check_world(ranks, gpus_per_node)
    group = make_communicator(range(ranks), gpus_per_node)
    sent = expand_collective(group, operation, bytes, algorithm=algorithm)
    return Messages(*sent).summed()


def exchange_of_job(ranks: int, gpus_per_node: int, bytes: int) -> list[Messages]:
    """Give each round of an all-to-all of all ranks."""
    check_world(ranks, gpus_per_node)
    group = make_communicator(range(ranks), gpus_per_node)
    return [Messages(*sent).summed() for sent in exchange_rounds(group, bytes)]
