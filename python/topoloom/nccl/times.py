# SPDX-License-Identifier: BSD-3-Clause
"""Predicts a collective's time, and which algorithm NCCL chooses.

NCCL's published tuning model is the sum of the latency of consecutive steps and the
transfer time on the slowest link. This module adds three effects: NCCL uses few
channels for small data, NVSwitches reduce chunk by chunk, and a CPU posts each
inter-node chunk. NCCL has no model for alltoall exchanges.
"""

from __future__ import annotations

from typing import NamedTuple

from topoloom._core import Error
from topoloom.nccl.hardware import Hardware
from topoloom.nccl.tuning import (
    CHANNEL_BYTES,
    GENERATIONS,
    LL_NET_RATE,
    NEW_SWITCH_NET,
    OLD_SWITCH_NET_US,
    PLATEAU,
    PROTOCOLS,
    RELEASE,
    RING,
    SWITCH_NET_US,
    SWITCH_US,
    TREE,
    TREE_CHUNK,
    TREE_SHARE,
    GenerationLimits,
)
from topoloom.support.name_lookup import describe_unknown_name

OPERATIONS = ("allreduce", "allgather", "reduce_scatter", "bcast", "reduce", "alltoall")

#: Maximum block size in bytes with which an alltoall uses the protocol LL.
_LL_BLOCK = 16384
#: Maximum number of channels of an exchange, and how many bytes of a block a channel
#: carries before NCCL uses another one. Source: NCCL 2.30, addP2pToPlan of
#: src/enqueue.cc.
_EXCHANGE_CHANNELS = 32
_EXCHANGE_PART = 32 * (1 << 19)


class AlgorithmTime(NamedTuple):
    """Predicted time of a collective with one algorithm and protocol.

    Attributes
    ----------
    algorithm
        ``ring``, ``tree``, ``nvls`` (between nodes with trees), or ``pairs``.
    protocol
        Name from `topoloom.nccl.tuning.PROTOCOLS`.
    seconds
        Predicted time, including the effects that NCCL's model omits.
    estimate Seconds according to NCCL's own model, by which it chooses.
    """

    algorithm: str
    protocol: str
    seconds: float
    estimate: float


def predict_algorithms(
    hardware: Hardware,
    nodes: int,
    operation: str,
    bytes: int,
    gpus: int | None = None,
    release: tuple[int, int, int] = RELEASE,
) -> list[AlgorithmTime]:
    """Predict times with all algorithms and protocols; NCCL's choice is first.

    Parameters
    ----------
    hardware
        Hardware of the nodes.
    nodes
        Number of nodes.
    operation
        Name from `OPERATIONS`.
    bytes
        Bytes as in nccl-tests: of a rank's result, or of its whole input.
    gpus
        Number of participating GPUs per node; default: all.
    release
        NCCL release; releases before 2.28.9 predict shorter NVLS times on several
        nodes.

    Raises
    ------
    topoloom.Error
        If the operation is unknown or a number is invalid.
    """
    if operation not in OPERATIONS:
        raise Error(describe_unknown_name("collective of NCCL", operation, OPERATIONS))
    local = hardware.gpus if gpus is None else gpus
    if nodes < 1 or bytes < 0 or not 1 <= local <= hardware.gpus:
        raise Error(
            f"no {operation} of {bytes} bytes on {nodes} nodes with {local} of "
            f"{hardware.gpus} GPUs each"
        )
    job = _TimePredictor(hardware, nodes, local)
    if job.ranks == 1:
        return [AlgorithmTime("ring", "Simple", 0.0, 0.0)]
    if operation == "alltoall":
        return [_predict_alltoall(job, bytes)]
    found = [
        _predict_ring(job, operation, bytes, protocol) for protocol in job.protocols
    ]
    if operation == "allreduce":
        found += [_predict_tree(job, bytes, protocol) for protocol in job.protocols]
        if hardware.sums_in_switch and local > 1:
            found.append(_predict_switch(job, bytes, release < NEW_SWITCH_NET))
    return sorted(found, key=lambda choice: choice.estimate)


class _TimePredictor:
    """A communicator on identical nodes; rates in GB/s, latencies in microseconds."""

    def __init__(self, hardware: Hardware, nodes: int, local: int) -> None:
        self.hardware, self.nodes, self.local = hardware, nodes, local
        self.ranks = nodes * local
        self.generation: GenerationLimits = GENERATIONS[hardware.generation]
        self.nvlink = hardware.nvlink_rate / 1e9
        self.net = hardware.nics * hardware.nic_rate / 1e9
        self.channels = (
            self.generation.channels if nodes == 1 else max(hardware.nics, 8)
        )
        self.column = min(nodes, 3) - 1
        self.plugin_latency = hardware.net_latency_s * 1e6
        self.protocols = [PROTOCOLS.index(name) for name in hardware.protocols]

    def time(self, latency: float, bytes: int, rate: float) -> float:
        """Return the seconds of a latency in us plus bytes at a rate in GB/s."""
        return 1e-6 * (latency * self.hardware.slowness + bytes / (1e3 * rate))

    def predict(
        self,
        algorithm: str,
        protocol: int,
        latency: float,
        bytes: int,
        rate: float,
        blocks: int = 1,
        chunk: int | None = None,
    ) -> AlgorithmTime:
        """Predict an algorithm whose channels carry equal amounts of data.

        NCCL uses another channel only if all channels have enough data. A channel's
        rate is that of its path. Along trees, channels send chunks.
        """
        filled = bytes / (CHANNEL_BYTES[protocol] * blocks)
        used = min(max(filled, 1.0), 2 * self.channels)
        seconds = self.time(latency, bytes, rate * min(used / self.channels, 1.0))
        if chunk:
            messages = used * max(bytes / used / chunk, 1.0) / self.local
            posted = self.time(latency, 0, 1) + self.estimate_posting(messages)
            seconds = max(seconds, posted)
        return AlgorithmTime(
            algorithm, PROTOCOLS[protocol], seconds, self.time(latency, bytes, rate)
        )

    def estimate_posting(self, messages: float) -> float:
        """Return the seconds that a CPU needs to post a GPU's messages along trees.

        The CPU posts one receive per send. A node has up to three neighbors in one
        tree, and one in the other, where it is a leaf: two on average.
        """
        neighbors = min(self.nodes - 1, 2)
        return messages * 2 * neighbors * self.hardware.post_s

    @property
    def ring_rate(self) -> float:
        """Rate of a ring in GB/s, limited by NVLink and, between nodes, by NICs."""
        return self.nvlink if self.nodes == 1 else min(self.nvlink, self.net)

    @property
    def ll_rate(self) -> float:
        if self.nodes == 1:
            return self.generation.ll_rate
        return LL_NET_RATE[self.hardware.amd][self.column - 1]


def _predict_ring(
    job: _TimePredictor, operation: str, bytes: int, protocol: int
) -> AlgorithmTime:
    ranks = job.ranks
    rate = (
        min(job.ll_rate, job.ring_rate / 2),
        min(0.92 * job.ring_rate, job.channels * job.generation.ring_ll128[job.column]),
        job.ring_rate,
    )[protocol]
    rooted = operation in ("bcast", "reduce")
    phases = 2 if operation == "allreduce" else 1
    steps = ranks if rooted else phases * (ranks - 1)
    inner = RING.nvlink[protocol]
    latency = RING.base[protocol]
    if rooted:
        latency += inner if job.nodes == 1 else RING.net[protocol]
    else:
        post = job.hardware.post_s * 1e6 * (3 if protocol == 2 else 1)
        outer = (TREE if job.local == 1 else RING).net[protocol]
        outer += job.plugin_latency * (2 if protocol == 2 else 1)
        crossings = phases * (job.nodes - 1)
        if job.nodes > 1:
            inner = max(inner, post)
        latency += (steps - crossings) * inner + crossings * outer
    piece = bytes / (2 * job.channels * ranks)
    if protocol == 2 and job.nodes > 1 and operation == "allreduce" and piece >= 64:
        latency *= PLATEAU
    blocks = ranks if protocol == 0 else 1
    return job.predict("ring", protocol, latency, bytes, rate * ranks / steps, blocks)


def _predict_tree(job: _TimePredictor, bytes: int, protocol: int) -> AlgorithmTime:
    rate = job.nvlink
    if job.nodes == 2:  # Each node sends all data once, half along each tree.
        rate = min(job.nvlink, 2 * job.net)
    elif job.nodes > 2:
        rate = min(job.nvlink, job.net)
    rate = min(0.92 * rate, job.channels * job.generation.tree[job.column])
    if protocol == 0:
        rate = min(rate / 3.8, job.ll_rate)
    elif protocol == 1:
        rate *= 7 / 9 if job.nodes == 1 else 120 / 128
        rate = min(rate, job.channels * job.generation.tree_ll128[job.column])
    outer = TREE.net[protocol] + job.plugin_latency * (2 if protocol == 2 else 1)
    depth = (job.nodes).bit_length() - 1
    latency = TREE.base[protocol]
    latency += 2 * ((job.local - 1) * TREE.nvlink[protocol] + depth * outer)
    size = (bytes >> 6).bit_length() - 1
    shares = TREE_SHARE[PROTOCOLS[protocol]]
    if 0 <= size < len(shares) - 1:
        rate *= shares[size]
    chunk = _compute_tree_chunk(job, protocol, bytes)
    return job.predict("tree", protocol, latency, bytes, rate / 2, chunk=chunk)


def _compute_tree_chunk(job: _TimePredictor, protocol: int, bytes: int) -> int:
    """Return the bytes of a chunk; with LL128, chunks are smaller for small data.

    Source: NCCL 2.30, calcCollChunking of src/enqueue.cc.
    """
    chunk = TREE_CHUNK[protocol]
    if protocol == 1:
        steps = job.nodes.bit_length() + 0.1 * job.local
        of_channel = bytes / (2 * job.channels)
        for factor, least in ((64, 131072), (16, 32768)):
            while chunk > least and of_channel // chunk < steps * factor / job.local:
                chunk //= 2
    return chunk


def _predict_switch(
    job: _TimePredictor, bytes: int, uses_old_latency: bool
) -> AlgorithmTime:
    """Predict NVLS: the NVSwitch reduces chunk by chunk for each head and channel.

    A GPU's links send its data once to be reduced, and also the sum of its own share;
    they receive the same bytes. A round of chunks takes one step of the protocol
    Simple, plus the transfer time of its bytes. One more round is needed to fill the
    buffers.
    """
    local = job.local
    rate = estimated_rate = (
        job.generation.switch_share * job.nvlink * local / (local + 1)
    )
    latency = old_latency = SWITCH_US
    if job.nodes > 1:
        heads = min(local, job.hardware.nics)
        most = job.generation.switch_tree[min(job.column - 1, 1)]
        to_sum = job.ranks / (2 * (job.ranks - 1))
        net = job.net * (2 if job.nodes == 2 else 1)
        estimated_rate = min(rate, net * to_sum)
        rate = min(estimated_rate, heads * most * to_sum)
        hops = 2 * (job.nodes.bit_length() - 1)
        latency += hops * (SWITCH_NET_US + 2 * job.plugin_latency)
        old_latency += hops * (OLD_SWITCH_NET_US + 2 * job.plugin_latency)
    round_bytes = min(_compute_switch_round(job, bytes), bytes)
    rounds = bytes / round_bytes if bytes else 0.0
    time = job.time(latency + rounds * RING.nvlink[2], bytes + round(round_bytes), rate)
    estimate = job.time(latency, bytes, rate)
    if uses_old_latency:
        estimate = job.time(old_latency, bytes, estimated_rate)
    return AlgorithmTime("nvls", "Simple", time, estimate)


def _compute_switch_round(job: _TimePredictor, bytes: int) -> int:
    """Return the bytes that all heads and channels reduce per round.

    Source: NCCL 2.30, calcCollChunking of src/enqueue.cc.
    """
    several = job.nodes > 1
    pieces = job.generation.switch_channels[several] * min(job.local, job.hardware.nics)
    if not several:
        for chunk, least in ((131072, 64), (65536, 8), (32768, 2)):
            if bytes >= least * pieces * chunk:
                return pieces * chunk
        return pieces * 16384
    for chunk, least in ((131072, 4), (65536, 1)):
        if bytes >= least * pieces * chunk and (chunk <= 65536 or job.nodes < 4):
            return pieces * chunk
    return pieces * 32768


def _predict_alltoall(job: _TimePredictor, bytes: int) -> AlgorithmTime:
    """Predict an alltoall limited by a GPU's NVLinks and a node's NICs.

    The CPU posts a send and a receive for each rank on other nodes. Within a node,
    peers share the channels; a rank's copy of its own block uses the channels of one
    peer.
    """
    small = bytes <= _LL_BLOCK * job.ranks
    protocol = 0 if small and 0 in job.protocols else 2
    remote_ranks = job.ranks - job.local
    latency = RING.base[protocol] + (
        TREE.net[protocol] + job.plugin_latency
        if remote_ranks
        else RING.nvlink[protocol]
    )
    latency += 2 * remote_ranks * job.hardware.post_s * 1e6
    through_nics = bytes * remote_ranks / job.ranks * job.local / job.net
    through_links = bytes * (job.local - 1) / job.ranks
    if not remote_ranks:
        per_peer = _EXCHANGE_CHANNELS >> (job.local - 1).bit_length()
        through_links += min(bytes / job.ranks, per_peer * _EXCHANGE_PART)
    through_links /= job.nvlink
    slow = max(through_nics, through_links) / 1e3 * (2 if protocol == 0 else 1)
    seconds = job.time(latency, 0, 1) + 1e-6 * slow
    return AlgorithmTime("pairs", PROTOCOLS[protocol], seconds, seconds)
