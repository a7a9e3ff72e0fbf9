# SPDX-License-Identifier: BSD-3-Clause
"""Constants of NCCL 2.30's tuning model; all times in microseconds.

Source: NCCL's published tuning model (src/graph/tuning.cc, Apache-2.0, and
github.com/NVIDIA/nccl/issues/1334). All numbers are NVIDIA's; Topoloom measured none.
Rates are in GB/s (1e9 bytes per second).
"""

from __future__ import annotations

from typing import NamedTuple

#: Payload fraction of the protocols: 4/8 with LL, 120/128 with LL128, all with Simple,
#: which has more latency.
PROTOCOLS = ("LL", "LL128", "Simple")


class ProtocolLatencies(NamedTuple):
    """Latencies of a launch (``base``) and of a step, by protocol."""

    base: tuple[float, float, float]
    nvlink: tuple[float, float, float]
    net: tuple[float, float, float]


RING = ProtocolLatencies((6.6, 14.0, 8.4), (0.6, 1.9, 3.4), (2.7, 4.0, 14.0))
TREE = ProtocolLatencies((6.8, 14.0, 8.4), (0.6, 1.25, 4.0), (5.0, 8.5, 14.0))
#: Latency of NVLS in one node, and additional latency per step of inter-node trees.
SWITCH_US = 25.0
SWITCH_NET_US = 20.9
#: Value of `SWITCH_NET_US` before release `NEW_SWITCH_NET`; these releases also ignore
#: `switch_tree`.
OLD_SWITCH_NET_US = 14.0
NEW_SWITCH_NET = (2, 28, 9)
#: NCCL release from which the constants are.
RELEASE = (2, 30, 0)

#: Bytes that a channel carries before NCCL uses another one, by protocol; for LL in
#: rings, per rank (getAlgoInfo of src/enqueue.cc: threads x bytes per thread).
CHANNEL_BYTES = (512 * 8, 640 * 8, 512 * 64)

#: Maximum bytes of a chunk along a tree, by protocol: a slot of the channel buffer
#: (src/init.cc).
TREE_CHUNK = (32768, 576000, 524288)

#: Factor on the latency of Simple in allreduces along inter-node rings.
PLATEAU = 1.4


class GenerationLimits(NamedTuple):
    """Rate limits of a GPU generation in GB/s, for one node, for two, and for more.

    Attributes
    ----------
    ll_rate
        Rate limit of LL in one node.
    ring_ll128, tree_ll128, tree
        Rate limits of one channel.
    switch_share
        Fraction of the NVLink rate that NVLS reaches.
    switch_tree
        Rate limits of one head's inter-node trees, for two nodes and for more.
    switch_channels
        Number of NVLS channels, in one node and in several nodes.
    channels
        Number of channels in one node. Between nodes, NCCL uses one per NIC but at
        least 8.
    """

    ll_rate: float
    ring_ll128: tuple[float, float, float]
    tree_ll128: tuple[float, float, float]
    tree: tuple[float, float, float]
    switch_share: float
    switch_tree: tuple[float, float]
    switch_channels: tuple[int, int]
    channels: int


GENERATIONS = {
    "ampere": GenerationLimits(
        87.7, (20.0,) * 3, (20.0,) * 3, (24.0, 23.6, 17.8), 0.0, (0.0, 0.0), (0, 0), 12
    ),
    "hopper": GenerationLimits(
        141.0,
        (36.7,) * 3,
        (36.7, 36.7, 29.0),
        (38.7, 41.4, 36.0),
        0.85,
        (57.7, 45.5),
        (16, 16),
        12,
    ),
    "blackwell": GenerationLimits(
        282.0,
        (40.0,) * 3,
        (55.6, 31.67, 20.0),
        (70.0, 42.8, 24.0),
        0.74,
        (96.0, 80.0),
        (24, 32),
        16,
    ),
}

#: Rate of LL in two nodes and in more, with AMD CPUs (True) or Intel CPUs.
LL_NET_RATE = {False: (39.0, 20.4), True: (22.5, 19.0)}

#: Fraction of its rate limit that a tree reaches, by protocol, for 64 B, 128 B, ... 512
#: MB.
TREE_SHARE = {
    "LL": (
        *(1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5),
        *(0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0),
    ),
    "LL128": (
        *(1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6),
        *(0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0),
    ),
    "Simple": (
        *(0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5),
        *(0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9),
    ),
}
