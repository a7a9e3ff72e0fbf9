# SPDX-License-Identifier: BSD-3-Clause
"""Makes a training framework's job from axis sizes and the number of ranks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import NamedTuple

from topoloom._core import Error
from topoloom.frameworks.deepspeed import DeepSpeedJob
from topoloom.frameworks.device_mesh import DeviceMeshJob
from topoloom.frameworks.job import Job
from topoloom.frameworks.megatron import NEWEST, MegatronJob
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.parameter_error import ParameterError

#: name -> axes that have an option for their size, and the axis that gets the remaining
#: ranks
FRAMEWORKS = {
    "megatron": (("tp", "cp", "pp", "ep", "etp"), "dp"),
    "deepspeed": (("tp", "pp", "ep"), "dp"),
    "fsdp": (("tp", "cp", "pp", "replicate"), "shard"),
    "jax": (("tp", "cp", "pp", "ep"), "dp"),
}

#: Axes that subdivide the ranks of other axes, without additional ranks.
_EXPERT_AXES = ("ep", "etp")


class Framework(NamedTuple):
    """A framework, and the release whose rules for rank orders apply."""

    name: str
    release: tuple[int, int]


def parse_framework(text: str) -> Framework:
    """Parse a framework name such as ``fsdp``, or ``megatron-0.8`` with a release.

    Raises
    ------
    topoloom.Error
        If the framework or release is unknown.
    """
    match = re.fullmatch(r"megatron-([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]+)?", text)
    if match is not None:
        return Framework("megatron", (int(match[1]), int(match[2])))
    if text not in FRAMEWORKS:
        raise Error(
            f"{describe_unknown_name('framework', text, FRAMEWORKS)}; "
            "megatron-0.8 selects that release of Megatron-Core"
        )
    return Framework(text, NEWEST)


def make_job(
    framework: Framework, sizes: Mapping[str, int], ranks: int
) -> Job | dict[str, int]:
    """Make the job of `ranks` ranks; for JAX, its mesh.

    Parameters
    ----------
    framework
        Result of `parse_framework`.
    sizes
        Axis -> size. Other axes have size 1, except the data axis, which gets the
        remaining ranks.

    Raises
    ------
    topoloom.Error
        If the framework lacks an axis, or the product of the sizes does not divide
        `ranks`.
    """
    known, rest = FRAMEWORKS[framework.name]
    for axis, size in sizes.items():
        if axis not in known:
            raise ParameterError(
                axis,
                f"is not an axis of {framework.name}, which has {', '.join(known)} "
                f"and {rest}",
            )
        if size < 1:
            raise ParameterError(axis, f"must be 1 or more, not {size}")
    is_mesh = framework.name == "jax"
    apart = () if is_mesh else _EXPERT_AXES
    taken = {axis: size for axis, size in sizes.items() if axis not in apart}
    product = prod(taken.values())
    if ranks < 1:
        raise ParameterError("ranks", f"must be 1 or more, not {ranks}")
    if ranks % product:
        words = " x ".join(taken)
        raise ParameterError(
            "ranks",
            f"must be a multiple of {words} = {product}, not {ranks}; the quotient is "
            f"the size of {rest}",
        )
    full = {**taken, rest: ranks // product}
    experts = {axis: size for axis, size in sizes.items() if axis in apart}
    if framework.name == "megatron":
        return MegatronJob(**full, **experts, release=framework.release)
    if framework.name == "deepspeed":
        return DeepSpeedJob(**full, **experts)
    return full if is_mesh else DeviceMeshJob(**full)
