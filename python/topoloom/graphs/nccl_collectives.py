# SPDX-License-Identifier: BSD-3-Clause
"""Expands collectives to the messages that NCCL sends on nodes like a DGX H100."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from topoloom.graphs.messages import Messages
from topoloom.nccl.communicator import Communicator, check_world, make_communicator
from topoloom.nccl.hardware import find_hardware
from topoloom.nccl.messages import exchange_rounds, expand_collective
from topoloom.nccl.times import predict_algorithms

#: Function that makes an operation's messages from its members, bytes and root.
Expansion = Callable[[str, Sequence[int], int, int], Messages]


def make_nccl_expansion(ranks: int, gpus_per_node: int) -> Expansion:
    """Return a function that expands collectives of a job to the messages of NCCL.

    Allreduces use NCCL's algorithm for their size: rings, trees or NVLink SHARP.
    Raises `topoloom.Error` if the ranks do not fill nodes.
    """
    check_world(ranks, gpus_per_node)
    made: dict[tuple[str, int, int, tuple[tuple[int, ...], ...]], Messages] = {}

    def expand(
        operation: str, members: Sequence[int], bytes: int, root: int
    ) -> Messages:
        group = make_communicator(members, gpus_per_node)
        call = (operation, bytes, root, group.nodes)
        if (
            call not in made
        ):  # results, shared by groups that have the same ranks on each node
            chosen = (
                choose_algorithm(group, bytes) if operation == "allreduce" else "ring"
            )
            made[call] = Messages(
                *expand_collective(group, operation, bytes, root, chosen)
            ).summed()
        return made[call]

    return expand


def choose_algorithm(group: Communicator, bytes: int) -> str:
    """Return the name of NCCL's algorithm for a group's allreduce."""
    most = max(map(len, group.nodes))
    node = find_hardware("dgx-h100").with_changes(gpus=most, nics=most)
    return predict_algorithms(node, len(group.nodes), "allreduce", bytes)[0].algorithm


def expand_on_all_ranks(
    operation: str, ranks: int, gpus_per_node: int, bytes: int, algorithm: str
) -> Messages:
    """Make the messages of a collective over all ranks, given the algorithm."""
    check_world(ranks, gpus_per_node)
    group = make_communicator(range(ranks), gpus_per_node)
    sent = expand_collective(group, operation, bytes, algorithm=algorithm)
    return Messages(*sent).summed()


def make_exchange_rounds(ranks: int, gpus_per_node: int, bytes: int) -> list[Messages]:
    """Make the messages of each round of an alltoall over all ranks."""
    check_world(ranks, gpus_per_node)
    group = make_communicator(range(ranks), gpus_per_node)
    return [Messages(*sent).summed() for sent in exchange_rounds(group, bytes)]
