# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's default algorithm selection, with replaceable parts per collective.

Names and thresholds are those of MPICH 4.0 and 5.0, without its rules for empty
messages (R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective
communication operations in MPICH", IJHPCA 2005).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

#: Name of an algorithm without "MPIR_", or rules by condition; the first match applies.
Rules: TypeAlias = "str | Mapping[str, Rules]"

#: Tuples of first rank count, last rank count, and rules.
Decided = Sequence[tuple[int, int, Rules]]


class _Slot(NamedTuple):
    """Default rules of MPICH that a decision can replace."""

    own: Rules


_RuleTemplate: TypeAlias = "str | _Slot | Mapping[str, _RuleTemplate]"


def by_size(counted: str, rules: Sequence[Rules], ends: Sequence[int]) -> Rules:
    """Make rules by size: each applies below its end, the last to larger sizes."""
    if not ends:
        return rules[0]
    below = {f"{counted}<{end}": rule for end, rule in zip(ends, rules, strict=False)}
    return {**below, f"{counted}=any": rules[-1]}


def make_rules(decided: Mapping[str, Decided]) -> dict[str, Rules]:
    """Make the rules of all collectives; MPICH's defaults where `decided` has none."""
    both = {**_blocking(), **_nonblocking()}
    return {name: _fill(node, decided.get(name, ())) for name, node in both.items()}


def _fill(node: _RuleTemplate, decided: Decided) -> Rules:
    if isinstance(node, str):
        return node
    if isinstance(node, _Slot):
        return _by_ranks(node.own, decided) if decided else node.own
    return {key: _fill(below, decided) for key, below in node.items()}


def _by_ranks(own: Rules, decided: Decided) -> Rules:
    # MPICH 4.0 evaluates comm_size<8 as <=8, but only below other conditions.
    rules: dict[str, Rules] = {}
    known = 0
    for first, last, choices in decided:
        if first > known:
            rules[f"comm_size<={first - 1}"] = own
        rules[f"comm_size<={last}"] = choices
        known = last + 1
    return {**rules, "comm_size=any": own}


def _of_types(intra: _RuleTemplate, inter: str) -> _RuleTemplate:
    return {"comm_type=intra": intra, "comm_type=inter": inter}


def _blocking() -> dict[str, _RuleTemplate]:
    return {
        "bcast": _of_types(
            _Slot(_broadcast("Bcast_intra_")), "Bcast_inter_remote_send_local_bcast"
        ),
        "allreduce": _of_types(
            _Slot(_all_reduce("Allreduce_intra_", 8)),
            "Allreduce_inter_reduce_exchange_bcast",
        ),
        "allgather": _of_types(
            _Slot(_all_gather("Allgather_intra_")),
            "Allgather_inter_local_gather_remote_bcast",
        ),
        "allgatherv": _of_types(
            _Slot(_all_gather("Allgatherv_intra_")),
            "Allgatherv_inter_remote_gather_local_bcast",
        ),
        "reduce": _of_types(
            _Slot(_reduce("Reduce_intra_")), "Reduce_inter_local_reduce_remote_send"
        ),
        "reduce_scatter": _of_types(
            _reduce_scatter("Reduce_scatter_intra_", equal=False),
            "Reduce_scatter_inter_remote_reduce_local_scatter",
        ),
        "reduce_scatter_block": _of_types(
            _reduce_scatter("Reduce_scatter_block_intra_", equal=True),
            "Reduce_scatter_block_inter_remote_reduce_local_scatter",
        ),
        "gather": _of_types(_Slot("Gather_intra_binomial"), "Gather_inter_linear"),
        "scatter": _of_types(_Slot("Scatter_intra_binomial"), "Scatter_inter_linear"),
        "gatherv": "Gatherv_allcomm_linear",
        "scatterv": "Scatterv_allcomm_linear",
        "scan": _Slot(
            {
                "is_node_consecutive=yes": "Scan_intra_smp",
                "is_node_consecutive=no": "Scan_intra_recursive_doubling",
            }
        ),
        "exscan": _Slot("Exscan_intra_recursive_doubling"),
        "barrier": _of_types(
            _Slot(
                {
                    "comm_hierarchy=parent": "Barrier_intra_smp",
                    "comm_hierarchy=any": "Barrier_intra_dissemination",
                }
            ),
            "Barrier_inter_bcast",
        ),
        "alltoall": _of_types(
            {
                "is_sendbuf_inplace=yes": "Alltoall_intra_pairwise_sendrecv_replace",
                "is_sendbuf_inplace=no": _Slot(
                    _all_to_all("Alltoall_intra_", "scattered", 256)
                ),
            },
            "Alltoall_inter_pairwise_exchange",
        ),
        **{
            f"alltoall{kind}": _of_types(
                {
                    "is_sendbuf_inplace=yes": (
                        f"Alltoall{kind}_intra_pairwise_sendrecv_replace"
                    ),
                    "is_sendbuf_inplace=no": f"Alltoall{kind}_intra_scattered",
                },
                f"Alltoall{kind}_inter_pairwise_exchange",
            )
            for kind in "vw"
        },
        **{
            f"neighbor_{name}": f"Neighbor_{name}_allcomm_nb" for name in _NEIGHBORHOODS
        },
    }


_NEIGHBORHOODS = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")


def _nonblocking() -> dict[str, _RuleTemplate]:
    return {
        "ibarrier": _of_types(
            "Ibarrier_intra_sched_recursive_doubling", "Ibarrier_inter_sched_bcast"
        ),
        "iallreduce": _of_types(
            _all_reduce("Iallreduce_intra_sched_", 2048),
            "Iallreduce_inter_sched_remote_reduce_local_bcast",
        ),
        "iallgather": _of_types(
            _all_gather("Iallgather_intra_sched_"),
            "Iallgather_inter_sched_local_gather_remote_bcast",
        ),
        "iallgatherv": _of_types(
            _all_gather("Iallgatherv_intra_sched_"),
            "Iallgatherv_inter_sched_remote_gather_local_bcast",
        ),
        "ibcast": _of_types(
            {
                "comm_hierarchy=parent": "Ibcast_intra_sched_smp",
                "comm_hierarchy=any": _broadcast("Ibcast_intra_sched_"),
            },
            "Ibcast_inter_sched_flat",
        ),
        "ireduce": _of_types(
            {
                "comm_hierarchy=parent": {
                    "is_commutative=yes": "Ireduce_intra_sched_smp",
                    "is_commutative=no": "Ireduce_intra_sched_binomial",
                },
                "comm_hierarchy=any": _reduce("Ireduce_intra_sched_"),
            },
            "Ireduce_inter_sched_local_reduce_remote_send",
        ),
        "ireduce_scatter": _of_types(
            _fill(_reduce_scatter("Ireduce_scatter_intra_sched_", equal=False), ()),
            "Ireduce_scatter_inter_sched_remote_reduce_local_scatterv",
        ),
        "ireduce_scatter_block": _of_types(
            _fill(
                _reduce_scatter("Ireduce_scatter_block_intra_sched_", equal=True), ()
            ),
            "Ireduce_scatter_block_inter_sched_remote_reduce_local_scatterv",
        ),
        "igather": _of_types(
            "Igather_intra_sched_binomial", "Igather_inter_sched_long"
        ),
        "iscatter": _of_types(
            "Iscatter_intra_sched_binomial", "Iscatter_inter_sched_linear"
        ),
        "igatherv": "Igatherv_allcomm_sched_linear",
        "iscatterv": "Iscatterv_allcomm_sched_linear",
        "iexscan": "Iexscan_intra_sched_recursive_doubling",
        "iscan": {
            "comm_hierarchy=parent": "Iscan_intra_sched_smp",
            "comm_hierarchy=any": "Iscan_intra_sched_recursive_doubling",
        },
        "ialltoall": _of_types(
            {
                "is_sendbuf_inplace=yes": "Ialltoall_intra_sched_inplace",
                "is_sendbuf_inplace=no": _all_to_all(
                    "Ialltoall_intra_sched_", "permuted_sendrecv", 2048
                ),
            },
            "Ialltoall_inter_sched_pairwise_exchange",
        ),
        **{
            f"ialltoall{kind}": _of_types(
                {
                    "is_sendbuf_inplace=yes": f"Ialltoall{kind}_intra_sched_inplace",
                    "is_sendbuf_inplace=no": f"Ialltoall{kind}_intra_sched_blocked",
                },
                f"Ialltoall{kind}_inter_sched_pairwise_exchange",
            )
            for kind in "vw"
        },
        **{
            f"ineighbor_{name}": f"Ineighbor_{name}_allcomm_sched_linear"
            for name in _NEIGHBORHOODS
        },
    }


def _broadcast(prefix: str) -> Rules:
    tree = f"{prefix}binomial"
    doubling = f"{prefix}scatter_recursive_doubling_allgather"
    ring = f"{prefix}scatter_ring_allgather"
    return {
        "comm_size<8": tree,
        "comm_size=pow2": by_size(
            "avg_msg_size", [tree, doubling, ring], [12288, 524288]
        ),
        "comm_size=any": by_size("avg_msg_size", [tree, ring], [12288]),
    }


def _all_gather(prefix: str) -> Rules:
    doubling, ring = f"{prefix}recursive_doubling", f"{prefix}ring"
    return {
        "comm_size=pow2": by_size("total_msg_size", [doubling, ring], [524288]),
        "comm_size=any": by_size("total_msg_size", [f"{prefix}brucks", ring], [81920]),
    }


def _all_reduce(prefix: str, most: int) -> Rules:
    return _cut(
        f"{prefix}recursive_doubling", f"{prefix}reduce_scatter_allgather", most
    )


def _reduce(prefix: str) -> Rules:
    return _cut(f"{prefix}binomial", f"{prefix}reduce_scatter_gather", 2048)


def _cut(uncut: str, cut: str, most: int) -> Rules:
    """Split long vectors that have at least one element per rank."""
    long: Rules = {
        "is_op_built_in=yes": {"count<pow2": uncut, "count=any": cut},
        "is_op_built_in=no": uncut,
    }
    return {f"avg_msg_size<={most}": uncut, "avg_msg_size=any": long}


def _reduce_scatter(prefix: str, equal: bool) -> _RuleTemplate:
    doubling = f"{prefix}recursive_doubling"
    blocks: Rules = {
        "comm_size=pow2": f"{prefix}noncommutative",
        "comm_size=any": doubling,
    }
    uneven: Rules = {"is_block_regular=yes": blocks, "is_block_regular=no": doubling}
    halving, pairwise = f"{prefix}recursive_halving", f"{prefix}pairwise"
    return {
        "is_commutative=yes": _Slot(
            by_size("total_msg_size", [halving, pairwise], [524288])
        ),
        "is_commutative=no": blocks if equal else uneven,
    }


def _all_to_all(prefix: str, straight: str, most: int) -> Rules:
    pairwise = f"{prefix}pairwise"
    straight = f"{prefix}{straight}"
    return {
        "comm_size<8": by_size("avg_msg_size", [straight, pairwise], [32769]),
        "comm_size=any": by_size(
            "avg_msg_size", [f"{prefix}brucks", straight, pairwise], [most + 1, 32769]
        ),
    }
