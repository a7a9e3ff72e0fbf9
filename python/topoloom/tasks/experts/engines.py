# SPDX-License-Identifier: BSD-3-Clause
"""Describes inference engines: their replica choice and placement files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.support.name_lookup import describe_unknown_name

ExpertSlots = NDArray[np.uint32]


class Engine(NamedTuple):
    """The token dispatch and the placement file of an inference engine.

    Attributes
    ----------
    nearest
        Whether the engine prefers replicas on the token's own node.
    write
        Formats the file. Arguments: experts by layer and slot, the layers with experts,
        and the number of GPUs.
    settings
        Options of the engine; ``FILE`` is replaced by the file, ``COUNT`` by the number
        of redundant experts.
    is_numbered
        Whether layer numbers in the file include layers without experts.
    suffix
        The required suffix of the file.
    """

    nearest: bool
    write: Callable[[ExpertSlots, NDArray[np.int64], int], str]
    settings: Sequence[str]
    is_numbered: bool = False
    suffix: str = ""

    def rejects_name(self, path: Path) -> bool:
        """Return whether the engine rejects files with this suffix."""
        return bool(self.suffix) and path.suffix != self.suffix


def _format_sglang(
    experts_by_slot: ExpertSlots, layers: NDArray[np.int64], gpus: int
) -> str:
    return json.dumps({"physical_to_logical_map": experts_by_slot.tolist()}) + "\n"


def _format_vllm(
    experts_by_slot: ExpertSlots, layers: NDArray[np.int64], gpus: int
) -> str:
    return json.dumps(experts_by_slot[layers].tolist()) + "\n"


def _format_vllm_ascend(
    experts_by_slot: ExpertSlots, layers: NDArray[np.int64], gpus: int
) -> str:
    by_gpu = experts_by_slot[layers].reshape(len(layers), gpus, -1)
    document = {
        "moe_layer_count": len(layers),
        "layer_list": [
            {
                "layer_id": number,
                "device_count": gpus,
                "device_list": [
                    {"device_id": gpu, "device_expert": experts}
                    for gpu, experts in enumerate(layer)
                ],
            }
            for number, layer in enumerate(by_gpu.tolist())
        ],
    }
    return json.dumps(document) + "\n"


def _format_trtllm(
    experts_by_slot: ExpertSlots, layers: NDArray[np.int64], gpus: int
) -> str:
    rows = [
        f"  {layer}: {json.dumps(experts_by_slot[layer].tolist())}" for layer in layers
    ]
    return "\n".join(
        [
            f"num_slots: {experts_by_slot.shape[1]}",
            "layer_updates_per_iter: 0",
            "initial_global_assignments:",
            *rows,
            "",
        ]
    )


#: Inference engines by name.
ENGINES = {
    "sglang": Engine(
        True,
        _format_sglang,
        ("--ep-num-redundant-experts COUNT", "--init-expert-location FILE"),
        is_numbered=True,
        suffix=".json",  # SGLang treats other arguments as JSON text
    ),
    "vllm": Engine(
        False,
        _format_vllm,
        (
            '--enable-eplb --eplb-config \'{"num_redundant_experts": COUNT, '
            '"initial_expert_map_path": "FILE"}\'',
        ),
    ),
    "vllm-ascend": Engine(
        False,
        _format_vllm_ascend,
        ('--additional-config \'{"eplb_config": {"expert_map_path": "FILE"}}\'',),
    ),
    "trtllm": Engine(
        False,
        _format_trtllm,
        ('moe_config: {load_balancer: "FILE"}',),
        is_numbered=True,
    ),
}


def find_engine(name: str) -> Engine:
    """Look up an engine.

    Raises
    ------
    Error
        For an unknown name; the message suggests the nearest name.
    """
    if name not in ENGINES:
        raise Error(describe_unknown_name("engine", name, ENGINES))
    return ENGINES[name]
