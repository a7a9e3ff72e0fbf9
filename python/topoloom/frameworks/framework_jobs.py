# SPDX-License-Identifier: BSD-3-Clause
"""Makes a framework's job from the sizes of its axes and of the world."""

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
from topoloom.support.nearest import unknown_name

#: name -> axes with a size option, and the axis that takes the rest of the world
FRAMEWORKS = {
    "megatron": (("tp", "cp", "pp", "ep", "etp"), "dp"),
    "deepspeed": (("tp", "pp", "ep"), "dp"),
    "fsdp": (("tp", "cp", "pp", "replicate"), "shard"),
    "jax": (("tp", "cp", "pp", "ep"), "dp"),
}

#: Axes that subdivide the ranks of other axes.
_EXPERT_AXES = ("ep", "etp")


class Framework(NamedTuple):
    """A framework, and the release whose rules are followed."""

    name: str
    release: tuple[int, int]


def parse_framework(text: str) -> Framework:
    """Parse ``megatron``, ``megatron-0.8`` for the rules of that release, ``fsdp``, ...

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
            f"{unknown_name('framework', text, FRAMEWORKS)}; megatron-0.8 is that "
            "release of Megatron-Core"
        )
    return Framework(text, NEWEST)


def make_job(
    framework: Framework, sizes: Mapping[str, int], world: int
) -> Job | dict[str, int]:
    """Make the job of `world` ranks; for JAX, its mesh.

    Parameters
    ----------
    framework
        From `parse_framework`.
    sizes
        Sizes of the given axes. Others have one rank; the data axis takes the rest of
        the world.

    Raises
    ------
    topoloom.Error
        If the framework lacks an axis, or sizes do not divide the world.
    """
    known, rest = FRAMEWORKS[framework.name]
    for axis, size in sizes.items():
        if axis not in known:
            raise Error(
                f"--{axis} makes no difference to {framework.name}, which takes "
                f"{', '.join(f'--{one}' for one in known)} and --world"
            )
        if size < 1:
            raise Error(f"--{axis} is {size}; give it 1 or more")
    is_mesh = framework.name == "jax"
    apart = () if is_mesh else _EXPERT_AXES
    taken = {axis: size for axis, size in sizes.items() if axis not in apart}
    product = prod(taken.values())
    if world < 1:
        raise Error(f"--world is {world}; give it 1 or more")
    if world % product:
        words = " x ".join(taken)
        raise Error(
            f"--world {world} is not a multiple of {words} = {product}; the rest of "
            f"the world is {rest}"
        )
    full = {**taken, rest: world // product}
    experts = {axis: size for axis, size in sizes.items() if axis in apart}
    if framework.name == "megatron":
        return MegatronJob(**full, **experts, release=framework.release)
    if framework.name == "deepspeed":
        return DeepSpeedJob(**full, **experts)
    return full if is_mesh else DeviceMeshJob(**full)
