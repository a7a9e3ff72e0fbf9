# SPDX-License-Identifier: BSD-3-Clause
"""JAX programs, compiled for CPU devices; each states its traffic.

Runs in a Python that has JAX. Writes NAME.hlo, and the traffic of all programs as
programs.json, to a folder. Bytes are sums over calls: the buffer of an allreduce or
reduce_scatter, a rank's part of an allgather, the block per peer of an alltoall, and
the busiest rank's sent bytes along chains and rings.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

DEVICES = 128

os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402

F = 4  # bytes per element


class Program(NamedTuple):
    """Mesh (slowest axis first), shape of a shard, function, and its traffic."""

    mesh: dict[str, int]
    shape: tuple[int, ...]
    body: Callable[[Any], Any]
    moves: dict[str, int]


def _repeat_step(times: int, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: lax.fori_loop(0, times, lambda _, y: step(y), x)


def _permute_on_ring(axis: str, size: int, closed: bool = True) -> Callable[[Any], Any]:
    pairs = [(i, (i + 1) % size) for i in range(size if closed else size - 1)]
    return lambda x: lax.ppermute(x, axis, pairs)


def _sum_over_axis(axis: Any) -> Callable[[Any], Any]:
    return lambda x: lax.psum(x, axis) * 0.5


def _make_gather_scatter_step(axis: str) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        whole = lax.all_gather(x, axis, tiled=True)
        return lax.psum_scatter(jnp.sin(whole), axis, tiled=True)

    return step


def _make_exchange_step(axis: str) -> Callable[[Any], Any]:
    return lambda x: jnp.sin(
        lax.all_to_all(x, axis, split_axis=0, concat_axis=0, tiled=True)
    )


def _make_ordered_step(*steps: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    return run


B = 16 * 8 * F  # a shard of 16 x 8

PROGRAMS = {
    "gradients": Program({"dp": 8}, (16, 8), _sum_over_axis("dp"), {"dp allreduce": B}),
    "layers": Program(
        {"dp": 4, "tp": 2},
        (16, 8),
        _make_ordered_step(_repeat_step(6, _sum_over_axis("tp")), _sum_over_axis("dp")),
        {"tp allreduce": 6 * B, "dp allreduce": B},
    ),
    "shards": Program(
        {"replicate": 2, "shard": 4},
        (16, 8),
        _make_ordered_step(
            _repeat_step(3, _make_gather_scatter_step("shard")),
            _sum_over_axis("replicate"),
        ),
        {
            "shard allgather": 3 * B,
            "shard reduce_scatter": 3 * 4 * B,
            "replicate allreduce": B,
        },
    ),
    "ring attention": Program(
        {"dp": 2, "cp": 4},
        (16, 8),
        _make_ordered_step(
            _repeat_step(3, _permute_on_ring("cp", 4)), _sum_over_axis("dp")
        ),
        {"cp ring": 3 * B, "dp allreduce": B},
    ),
    "experts": Program(
        {"dp": 2, "ep": 4},
        (16, 8),
        _make_ordered_step(
            _repeat_step(
                2,
                _make_ordered_step(
                    _make_exchange_step("ep"), _make_exchange_step("ep")
                ),
            ),
            _sum_over_axis("dp"),
        ),
        {"ep alltoall": 4 * B // 4, "dp allreduce": B},
    ),
    "pipeline": Program(
        {"pp": 4, "tp": 2},
        (16, 8),
        _repeat_step(
            5,
            _make_ordered_step(
                _sum_over_axis("tp"), _permute_on_ring("pp", 4, closed=False)
            ),
        ),
        {"tp allreduce": 5 * B, "pp chain": 5 * B},
    ),
    "three axes": Program(
        {"dp": 2, "cp": 2, "tp": 2},
        (16, 8),
        _make_ordered_step(
            _repeat_step(2, _make_gather_scatter_step("tp")),
            _make_exchange_step("cp"),
            _sum_over_axis("dp"),
        ),
        {
            "tp allgather": 2 * B,
            "tp reduce_scatter": 2 * 2 * B,
            "cp alltoall": B // 2,
            "dp allreduce": B,
        },
    ),
    "loops in loops": Program(
        {"dp": 2, "tp": 4},
        (16, 8),
        _repeat_step(
            3,
            _make_ordered_step(
                _repeat_step(5, _sum_over_axis("tp")), _sum_over_axis("dp")
            ),
        ),
        {"tp allreduce": 15 * B, "dp allreduce": 3 * B},
    ),
    "axes together": Program(
        {"dp": 2, "fsdp": 2, "tp": 4},
        (16, 8),
        _make_ordered_step(
            _make_gather_scatter_step("fsdp"),
            _sum_over_axis(("dp", "tp")),
            _sum_over_axis("tp"),
        ),
        {
            "fsdp allgather": B,
            "fsdp reduce_scatter": 2 * B,
            "tp+dp allreduce": B,
            "tp allreduce": B,
        },
    ),
    "four axes": Program(
        {"pp": 2, "dp": 4, "ep": 4, "tp": 2},
        (16, 8),
        _make_ordered_step(
            _repeat_step(
                4, _make_ordered_step(_sum_over_axis("tp"), _make_exchange_step("ep"))
            ),
            _sum_over_axis("dp"),
            _permute_on_ring("pp", 2, closed=False),
        ),
        {
            "tp allreduce": 4 * B,
            "ep alltoall": 4 * B // 4,
            "dp allreduce": B,
            "pp chain": B,
        },
    ),
    "128 devices": Program(
        {"dp": 8, "tp": 16},
        (16, 8),
        _make_ordered_step(
            _repeat_step(7, _make_gather_scatter_step("tp")), _sum_over_axis("dp")
        ),
        {
            "tp allgather": 7 * B,
            "tp reduce_scatter": 7 * 16 * B,
            "dp allreduce": B,
        },
    ),
}


def compile_program(program: Program) -> str:
    """Compile a program with explicit communication of shards."""
    mesh = _make_mesh(program.mesh)
    spec = PartitionSpec(tuple(program.mesh))
    count = mesh.size
    shape = (program.shape[0] * count, *program.shape[1:])
    run = partial(jax.shard_map, mesh=mesh, in_specs=spec, out_specs=spec)
    step = jax.jit(run(program.body, check_vma=False))
    x = jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))
    text: str = step.lower(x).compile().as_text()
    return text


def compile_automatic() -> tuple[str, dict[str, int], dict[str, int]]:
    """Compile a matrix product: rows along dp, inner axis along tp.

    XLA inserts the sums.
    """
    sizes = {"dp": 4, "tp": 2}
    mesh = _make_mesh(sizes)

    def make_sharding(*axes: str | None) -> NamedSharding:
        return NamedSharding(mesh, PartitionSpec(*axes))

    x = jax.ShapeDtypeStruct((64, 32), jnp.float32, sharding=make_sharding("dp", "tp"))
    w = jax.ShapeDtypeStruct((32, 48), jnp.float32, sharding=make_sharding("tp", None))
    product = jax.jit(lambda a, b: a @ b, out_shardings=make_sharding("dp", None))
    text: str = product.lower(x, w).compile().as_text()
    return text, sizes, {"tp allreduce": 64 // 4 * 48 * F}


def _make_mesh(sizes: dict[str, int]) -> Any:
    count = 1
    for size in sizes.values():
        count *= size
    return jax.make_mesh(
        tuple(sizes.values()),
        tuple(sizes),
        axis_types=(AxisType.Auto,) * len(sizes),
        devices=jax.devices()[:count],
    )


def main() -> None:
    """Write all programs to a folder."""
    folder = Path(sys.argv[1])
    about = {}
    for name, program in PROGRAMS.items():
        (folder / f"{name}.hlo").write_text(compile_program(program))
        about[name] = {"mesh": program.mesh, "moves": program.moves}
    text, sizes, moves = compile_automatic()
    (folder / "automatic.hlo").write_text(text)
    about["automatic"] = {"mesh": sizes, "moves": moves}
    (folder / "programs.json").write_text(json.dumps(about))


if __name__ == "__main__":
    main()
