# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's default algorithm selection, with replaceable parts per collective.

Names and thresholds are those of MPICH 4.0 and 5.0; rules for empty messages are left
out (R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
operations in MPICH", IJHPCA 2005).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

#: Name of an algorithm, without "MPIR_"; or conditions -> rules, where the first match
#: applies.
Rules: TypeAlias = "str | Mapping[str, Rules]"

#: Tuples (first rank count, last rank count, rules).
Decided = Sequence[tuple[int, int, Rules]]


class _ReplaceableRules(NamedTuple):
    """Default rules of MPICH that a decision can replace."""

    default_rules: Rules


_RuleTemplate: TypeAlias = "str | _ReplaceableRules | Mapping[str, _RuleTemplate]"


def make_size_rules(
    size_measure: str, rules: Sequence[Rules], ends: Sequence[int]
) -> Rules:
    """Make rules by size: each applies below its end, and the last to larger sizes."""
    if not ends:
        return rules[0]
    below = {
        f"{size_measure}<{end}": rule for end, rule in zip(ends, rules, strict=False)
    }
    return {**below, f"{size_measure}=any": rules[-1]}


def make_rules(decided: Mapping[str, Decided]) -> dict[str, Rules]:
    """Make the rules of all collectives; `decided` replaces MPICH's defaults."""
    both = {**_make_blocking_rules(), **_make_nonblocking_rules()}
    return {
        name: _insert_decisions(node, decided.get(name, ()))
        for name, node in both.items()
    }


def _insert_decisions(node: _RuleTemplate, decided: Decided) -> Rules:
    if isinstance(node, str):
        return node
    if isinstance(node, _ReplaceableRules):
        return (
            _make_rank_rules(node.default_rules, decided)
            if decided
            else node.default_rules
        )
    return {key: _insert_decisions(below, decided) for key, below in node.items()}


def _make_rank_rules(default_rules: Rules, decided: Decided) -> Rules:
    # MPICH 4.0 evaluates comm_size<8 as <=8, but only below other conditions.
    rules: dict[str, Rules] = {}
    known = 0
    for first, last, choices in decided:
        if first > known:
            rules[f"comm_size<={first - 1}"] = default_rules
        rules[f"comm_size<={last}"] = choices
        known = last + 1
    return {**rules, "comm_size=any": default_rules}


def _make_comm_type_rules(intra: _RuleTemplate, inter: str) -> _RuleTemplate:
    return {"comm_type=intra": intra, "comm_type=inter": inter}


def _make_blocking_rules() -> dict[str, _RuleTemplate]:
    return {
        "bcast": _make_comm_type_rules(
            _ReplaceableRules(_make_bcast_rules("Bcast_intra_")),
            "Bcast_inter_remote_send_local_bcast",
        ),
        "allreduce": _make_comm_type_rules(
            _ReplaceableRules(_make_allreduce_rules("Allreduce_intra_", 8)),
            "Allreduce_inter_reduce_exchange_bcast",
        ),
        "allgather": _make_comm_type_rules(
            _ReplaceableRules(_make_allgather_rules("Allgather_intra_")),
            "Allgather_inter_local_gather_remote_bcast",
        ),
        "allgatherv": _make_comm_type_rules(
            _ReplaceableRules(_make_allgather_rules("Allgatherv_intra_")),
            "Allgatherv_inter_remote_gather_local_bcast",
        ),
        "reduce": _make_comm_type_rules(
            _ReplaceableRules(_make_reduce_rules("Reduce_intra_")),
            "Reduce_inter_local_reduce_remote_send",
        ),
        "reduce_scatter": _make_comm_type_rules(
            _make_reduce_scatter_rules("Reduce_scatter_intra_", equal=False),
            "Reduce_scatter_inter_remote_reduce_local_scatter",
        ),
        "reduce_scatter_block": _make_comm_type_rules(
            _make_reduce_scatter_rules("Reduce_scatter_block_intra_", equal=True),
            "Reduce_scatter_block_inter_remote_reduce_local_scatter",
        ),
        "gather": _make_comm_type_rules(
            _ReplaceableRules("Gather_intra_binomial"), "Gather_inter_linear"
        ),
        "scatter": _make_comm_type_rules(
            _ReplaceableRules("Scatter_intra_binomial"), "Scatter_inter_linear"
        ),
        "gatherv": "Gatherv_allcomm_linear",
        "scatterv": "Scatterv_allcomm_linear",
        "scan": _ReplaceableRules(
            {
                "is_node_consecutive=yes": "Scan_intra_smp",
                "is_node_consecutive=no": "Scan_intra_recursive_doubling",
            }
        ),
        "exscan": _ReplaceableRules("Exscan_intra_recursive_doubling"),
        "barrier": _make_comm_type_rules(
            _ReplaceableRules(
                {
                    "comm_hierarchy=parent": "Barrier_intra_smp",
                    "comm_hierarchy=any": "Barrier_intra_dissemination",
                }
            ),
            "Barrier_inter_bcast",
        ),
        "alltoall": _make_comm_type_rules(
            {
                "is_sendbuf_inplace=yes": "Alltoall_intra_pairwise_sendrecv_replace",
                "is_sendbuf_inplace=no": _ReplaceableRules(
                    _make_alltoall_rules("Alltoall_intra_", "scattered", 256)
                ),
            },
            "Alltoall_inter_pairwise_exchange",
        ),
        **{
            f"alltoall{kind}": _make_comm_type_rules(
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


def _make_nonblocking_rules() -> dict[str, _RuleTemplate]:
    return {
        "ibarrier": _make_comm_type_rules(
            "Ibarrier_intra_sched_recursive_doubling", "Ibarrier_inter_sched_bcast"
        ),
        "iallreduce": _make_comm_type_rules(
            _make_allreduce_rules("Iallreduce_intra_sched_", 2048),
            "Iallreduce_inter_sched_remote_reduce_local_bcast",
        ),
        "iallgather": _make_comm_type_rules(
            _make_allgather_rules("Iallgather_intra_sched_"),
            "Iallgather_inter_sched_local_gather_remote_bcast",
        ),
        "iallgatherv": _make_comm_type_rules(
            _make_allgather_rules("Iallgatherv_intra_sched_"),
            "Iallgatherv_inter_sched_remote_gather_local_bcast",
        ),
        "ibcast": _make_comm_type_rules(
            {
                "comm_hierarchy=parent": "Ibcast_intra_sched_smp",
                "comm_hierarchy=any": _make_bcast_rules("Ibcast_intra_sched_"),
            },
            "Ibcast_inter_sched_flat",
        ),
        "ireduce": _make_comm_type_rules(
            {
                "comm_hierarchy=parent": {
                    "is_commutative=yes": "Ireduce_intra_sched_smp",
                    "is_commutative=no": "Ireduce_intra_sched_binomial",
                },
                "comm_hierarchy=any": _make_reduce_rules("Ireduce_intra_sched_"),
            },
            "Ireduce_inter_sched_local_reduce_remote_send",
        ),
        "ireduce_scatter": _make_comm_type_rules(
            _insert_decisions(
                _make_reduce_scatter_rules("Ireduce_scatter_intra_sched_", equal=False),
                (),
            ),
            "Ireduce_scatter_inter_sched_remote_reduce_local_scatterv",
        ),
        "ireduce_scatter_block": _make_comm_type_rules(
            _insert_decisions(
                _make_reduce_scatter_rules(
                    "Ireduce_scatter_block_intra_sched_", equal=True
                ),
                (),
            ),
            "Ireduce_scatter_block_inter_sched_remote_reduce_local_scatterv",
        ),
        "igather": _make_comm_type_rules(
            "Igather_intra_sched_binomial", "Igather_inter_sched_long"
        ),
        "iscatter": _make_comm_type_rules(
            "Iscatter_intra_sched_binomial", "Iscatter_inter_sched_linear"
        ),
        "igatherv": "Igatherv_allcomm_sched_linear",
        "iscatterv": "Iscatterv_allcomm_sched_linear",
        "iexscan": "Iexscan_intra_sched_recursive_doubling",
        "iscan": {
            "comm_hierarchy=parent": "Iscan_intra_sched_smp",
            "comm_hierarchy=any": "Iscan_intra_sched_recursive_doubling",
        },
        "ialltoall": _make_comm_type_rules(
            {
                "is_sendbuf_inplace=yes": "Ialltoall_intra_sched_inplace",
                "is_sendbuf_inplace=no": _make_alltoall_rules(
                    "Ialltoall_intra_sched_", "permuted_sendrecv", 2048
                ),
            },
            "Ialltoall_inter_sched_pairwise_exchange",
        ),
        **{
            f"ialltoall{kind}": _make_comm_type_rules(
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


def _make_bcast_rules(prefix: str) -> Rules:
    tree = f"{prefix}binomial"
    doubling = f"{prefix}scatter_recursive_doubling_allgather"
    ring = f"{prefix}scatter_ring_allgather"
    return {
        "comm_size<8": tree,
        "comm_size=pow2": make_size_rules(
            "avg_msg_size", [tree, doubling, ring], [12288, 524288]
        ),
        "comm_size=any": make_size_rules("avg_msg_size", [tree, ring], [12288]),
    }


def _make_allgather_rules(prefix: str) -> Rules:
    doubling, ring = f"{prefix}recursive_doubling", f"{prefix}ring"
    return {
        "comm_size=pow2": make_size_rules("total_msg_size", [doubling, ring], [524288]),
        "comm_size=any": make_size_rules(
            "total_msg_size", [f"{prefix}brucks", ring], [81920]
        ),
    }


def _make_allreduce_rules(prefix: str, max_bytes: int) -> Rules:
    return _make_split_rules(
        f"{prefix}recursive_doubling", f"{prefix}reduce_scatter_allgather", max_bytes
    )


def _make_reduce_rules(prefix: str) -> Rules:
    return _make_split_rules(
        f"{prefix}binomial", f"{prefix}reduce_scatter_gather", 2048
    )


def _make_split_rules(whole_vector: str, split_vector: str, max_bytes: int) -> Rules:
    """Split long vectors that have at least one element per rank."""
    long: Rules = {
        "is_op_built_in=yes": {"count<pow2": whole_vector, "count=any": split_vector},
        "is_op_built_in=no": whole_vector,
    }
    return {f"avg_msg_size<={max_bytes}": whole_vector, "avg_msg_size=any": long}


def _make_reduce_scatter_rules(prefix: str, equal: bool) -> _RuleTemplate:
    doubling = f"{prefix}recursive_doubling"
    blocks: Rules = {
        "comm_size=pow2": f"{prefix}noncommutative",
        "comm_size=any": doubling,
    }
    uneven: Rules = {"is_block_regular=yes": blocks, "is_block_regular=no": doubling}
    halving, pairwise = f"{prefix}recursive_halving", f"{prefix}pairwise"
    return {
        "is_commutative=yes": _ReplaceableRules(
            make_size_rules("total_msg_size", [halving, pairwise], [524288])
        ),
        "is_commutative=no": blocks if equal else uneven,
    }


def _make_alltoall_rules(prefix: str, straight: str, max_bytes: int) -> Rules:
    pairwise = f"{prefix}pairwise"
    straight = f"{prefix}{straight}"
    return {
        "comm_size<8": make_size_rules("avg_msg_size", [straight, pairwise], [32769]),
        "comm_size=any": make_size_rules(
            "avg_msg_size",
            [f"{prefix}brucks", straight, pairwise],
            [max_bytes + 1, 32769],
        ),
    }
