# SPDX-License-Identifier: BSD-3-Clause
"""Groups of Megatron-Core releases, by the code of their wheels.

Importing `megatron.core` requires PyTorch. The grouping of ranks is pure Python, in the
first part of `initialize_model_parallel`; only this part is extracted and run.
"""

from __future__ import annotations
import __future__

import ast
import os
import sys
import warnings
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

WHEELS = Path(sys.prefix) / "megatron"
RELEASES = ("0.8.0", "0.10.0", "0.12.3", "0.16.1")

GROUPING = ("generate_masked_orthogonal_rank_groups", "RankGenerator")
#: Exceptions that Megatron raises to reject a job; KeyError is for unknown axes.
REFUSALS = (RuntimeError, AssertionError, KeyError)

#: Megatron's names of attention axes and expert axes; `OURS` maps expert axes.
ATTENTION = ("tp", "cp", "dp", "pp", "dp-cp", "tp-pp", "tp-cp", "tp-dp", "tp-dp-cp")
EXPERTS = ("tp", "ep", "dp", "tp-ep", "tp-ep-pp")
OURS = {"tp": "etp", "ep": "ep", "dp": "edp", "pp": "pp", "cp": "cp"}

Groups = dict[tuple[str, ...], list[list[int]]]


@cache
def load_initializer(release: str) -> Callable[..., dict[str, Any]]:
    """Return `initialize_model_parallel` up to its rank generators."""
    found = list(WHEELS.glob(f"megatron_core-{release}-*.whl"))
    if not found:
        text = f"no wheel of Megatron-Core {release}; tools/setup.sh test gets it"
        raise FileNotFoundError(text)
    wheel = found[0]
    with zipfile.ZipFile(wheel) as files:
        source = files.read("megatron/core/parallel_state.py")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in Megatron's strings
        statements = ast.parse(source).body
    kept: list[ast.stmt] = []
    for statement in statements:
        name = getattr(statement, "name", "")
        if name in GROUPING:
            kept.append(statement)
        if name == "initialize_model_parallel":
            assert isinstance(statement, ast.FunctionDef)
            written = [ast.unparse(one) for one in statement.body]
            end = next(
                i for i, one in enumerate(written) if one.startswith("timeout =")
            )
            statement.body[end:] = ast.parse("return locals()").body
            kept.append(statement)
    assert len(kept) == 3
    module = ast.fix_missing_locations(ast.Module(kept, []))
    world = SimpleNamespace(size=1)
    names: dict[str, Any] = {
        "os": os,
        "partial": partial,
        "default_embedding_ranks": list,
        "default_position_embedding_ranks": list,
        "torch": SimpleNamespace(
            distributed=SimpleNamespace(
                is_initialized=lambda: True,
                get_world_size=lambda: world.size,
                get_rank=lambda: 0,
            )
        ),
    }
    flags = __future__.annotations.compiler_flag  # annotations name types of PyTorch
    exec(compile(module, str(wheel), "exec", flags), names)

    def initialize(ranks: int, **sizes: Any) -> dict[str, Any]:
        world.size = ranks
        made: dict[str, Any] = names["initialize_model_parallel"](**sizes)
        return made

    return initialize


def megatron_groups(release: str, sizes: dict[str, int], name: str) -> Groups:
    """Return a job's groups by our axis names; raise one of `REFUSALS`."""
    words = {
        "tensor_model_parallel_size": sizes["tp"],
        "pipeline_model_parallel_size": sizes["pp"],
        "context_parallel_size": sizes["cp"],
        "expert_model_parallel_size": sizes["ep"],
        "order": name,
    }
    is_shared = release == "0.8.0"
    if not is_shared:
        words["expert_tensor_parallel_size"] = sizes["etp"]
    ranks = sizes["tp"] * sizes["cp"] * sizes["dp"] * sizes["pp"]
    made = load_initializer(release)(ranks, **words)
    groups: Groups = {}
    attention = made["rank_generator" if is_shared else "decoder_rank_generator"]
    for kind in ATTENTION:
        groups[tuple(kind.split("-"))] = attention.get_ranks(kind)
    for kind in (*EXPERTS, "dp-cp") if is_shared else EXPERTS:
        ours = tuple(OURS[axis] for axis in kind.split("-"))
        groups[ours] = (
            attention.get_ranks(kind, independent_ep=True)
            if is_shared
            else made["expert_decoder_rank_generator"].get_ranks(kind)
        )
    return groups
