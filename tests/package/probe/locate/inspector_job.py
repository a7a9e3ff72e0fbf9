# SPDX-License-Identifier: BSD-3-Clause
"""A job on a rail cluster, with output files of NCCL's Inspector.

Used only in tests; follows the fields of format v4.0. A pipeline stage has four hosts.
Tensor parallel groups are the GPUs of a host. Data parallel groups are the GPUs with
the same index on the hosts of a stage. Activations are sent to the GPU with the same
index in the next stage.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STAGES, WIDE, GPUS = 4, 4, 8

#: Host of a GPU, and index of the GPU on this host.
Gpu = tuple[int, int]


@dataclass
class RailClusterJob:
    """Slowdowns of parts, and how many GPUs a process uses.

    Attributes
    ----------
    one_process
        True if one process per host uses all its GPUs; else one process per GPU.
    """

    nics: dict[Gpu, float] = field(default_factory=dict)
    gpus: dict[Gpu, float] = field(default_factory=dict)
    hosts: dict[int, float] = field(default_factory=dict)
    network_sides: dict[int, float] = field(default_factory=dict)
    rails: dict[int, float] = field(default_factory=dict)
    one_process: bool = False
    times: int = 9
    noise: float = 0.02
    name: Callable[[int], str] = "gpu-{:02}".format

    def write_dumps(self, folder: Path) -> None:
        """Write one file per process, named by host and process id."""
        folder.mkdir(exist_ok=True)
        rng = random.Random(1)
        files: dict[str, list[str]] = defaultdict(list)
        hosts = range(STAGES * WIDE)
        tensor = [[(host, gpu) for gpu in range(GPUS)] for host in hosts]
        data = [
            [(stage * WIDE + n, gpu) for n in range(WIDE)]
            for stage in range(STAGES)
            for gpu in range(GPUS)
        ]
        groups = [(one, "AllReduce", 1 << 24) for one in tensor]
        groups += [(one, "ReduceScatter", 1 << 28) for one in data]
        world = [gpu for one in tensor for gpu in one]
        groups.append((world, "AllGather", 1 << 20))
        for number, (members, word, size) in enumerate(groups):
            for call in range(1, self.times + 1):
                took = (
                    1000
                    * self._find_slowdown(members)
                    * rng.lognormvariate(0, self.noise)
                )
                late = rng.randrange(len(members))
                for rank, gpu in enumerate(members):
                    waited = took if rank == late else took * rng.uniform(1, 1.5)
                    body = {
                        "coll": word,
                        "coll_sn": call,
                        "coll_msg_size_bytes": size,
                        "coll_exec_time_us": round(waited),
                        "coll_timing_source": "kernel_gpu",
                        "coll_algobw_gbs": size / waited / 1e3,
                        "coll_busbw_gbs": size / waited / 1e3,
                    }
                    line = self._format_line(number, members, rank, "coll_perf", body)
                    files[self._get_file_name(gpu)].append(line)
        for (host, place), rank in zip(world, range(len(world)), strict=True):
            if host >= (STAGES - 1) * WIDE:
                continue
            ends = (host, place), (host + WIDE, place)
            for call in range(1, self.times + 1):
                took = (
                    200 * self._find_slowdown(ends) * rng.lognormvariate(0, self.noise)
                )
                body = {
                    "p2p": "Send",
                    "p2p_sn": call,
                    "p2p_peer": rank + WIDE * GPUS,
                    "p2p_msg_size_bytes": 1 << 22,
                    "p2p_exec_time_us": round(took),
                    "p2p_timing_source": "kernel_gpu",
                    "p2p_algobw_gbs": (1 << 22) / took / 1e3,
                    "p2p_busbw_gbs": (1 << 22) / took / 1e3,
                }
                line = self._format_line(len(groups) - 1, world, rank, "p2p_perf", body)
                files[self._get_file_name((host, place))].append(line)
        for name, lines in files.items():
            (folder / name).write_text("\n".join(lines) + "\n")

    def _find_slowdown(self, members: Sequence[Gpu]) -> float:
        hosts = {host for host, _ in members}
        slow = [1.0]
        slow += [factor for gpu, factor in self.gpus.items() if gpu in members]
        slow += [factor for host, factor in self.hosts.items() if host in hosts]
        if len(hosts) > 1:
            slow += [self.nics.get(gpu, 1.0) for gpu in members]
            slow += [self.rails.get(place, 1.0) for _, place in members]
            slow += [self.network_sides.get(host, 1.0) for host in hosts]
        return max(slow)

    def _get_pid(self, gpu: Gpu) -> int:
        # Process ids need not increase with the rank.
        return 4000 if self.one_process else 4000 + (gpu[1] * 3) % GPUS

    def _get_file_name(self, gpu: Gpu) -> str:
        return f"{self.name(gpu[0])}-pid{self._get_pid(gpu)}.log"

    def _format_line(
        self, number: int, members: Sequence[Gpu], rank: int, kind: str, body: Any
    ) -> str:
        gpu = members[rank]
        header = {
            "id": f"0x{number + 0x5CA1AB1E:x}",
            "comm_name": "unknown",
            "rank": rank,
            "n_ranks": len(members),
            "nnodes": len({host for host, _ in members}),
        }
        about = {
            "inspector_output_format_version": "v4.0",
            "git_rev": "",
            "rec_mechanism": "nccl_profiler_interface",
            "dump_timestamp_us": 1748030377748202 + number,
            "hostname": self.name(gpu[0]),
            "pid": self._get_pid(gpu),
        }
        return json.dumps({"header": header, "metadata": about, kind: body})
