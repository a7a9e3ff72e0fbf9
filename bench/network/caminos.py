# SPDX-License-Identifier: BSD-3-Clause
"""CAMINOS, a crate whose routers also buffer at outputs and forward whole packets."""

from __future__ import annotations

import os
import re
import subprocess
from math import nan
from pathlib import Path

from network.cases import Case, Point, run_timed

VERSION = "0.6.3"
WARM_UP = 2000
CONFIGURATION = """Configuration {{
    random_seed: 1, warmup: {warm_up}, measured: {cycles},
    topology: {topology},
    traffic: HomogeneousTraffic {{
        pattern: Uniform, servers: {nodes}, load: {load}, message_size: {packet}
    }},
    maximum_packet_size: {packet},
    router: InputOutput {{
        virtual_channels: {vcs}, buffer_size: {buffer}, flit_size: {packet},
        virtual_channel_policies: [{policies}], allocator: Islip {{ num_iter: 1 }},
        crossbar_delay: 1, output_buffer_size: {packet}, bubble: false,
        intransit_priority: false, allow_request_busy_port: true
    }},
    routing: {routing},
    link_classes: [{links}],
    launch_configurations: []
}}
"""


def build(home: Path) -> Path:
    """Install the crate with cargo."""
    program = home / "bin" / "caminos"
    if not program.exists():
        subprocess.run(
            (
                *("cargo", "install", "-q", "--locked", "--root", home),
                *("--version", VERSION, "caminos"),
            ),
            check=True,
        )
    return program


def run(program: Path, case: Case, load: float) -> Point:
    """Simulate a load; in a deadlock, latencies are nan."""
    topology, routing = case.caminos
    policies = ["EnforceFlowControl"]
    if topology.startswith("Dragonfly"):
        policies.append("WideHops{width:1}")
    text = CONFIGURATION.format(
        warm_up=WARM_UP,
        cycles=case.cycles,
        topology=topology,
        routing=routing,
        nodes=case.nodes,
        load=load,
        packet=case.router.packet,
        vcs=case.router.vcs,
        buffer=case.router.buffer,
        policies=", ".join([*policies, "Random"]),
        links=", ".join(["LinkRate { delay: 1 }"] * 5),
    )
    config = program.parent / f"caminos-{os.getpid()}.cfg"
    config.write_text(text)
    output, seconds = run_timed([str(program), str(config)])
    config.unlink()
    return Point(
        load,
        _parse_number("accepted_load", output),
        _parse_number("average_message_delay", output),
        _parse_number("average_packet_hops", output) + 1,
        WARM_UP + case.cycles,
        seconds,
    )


def _parse_number(field: str, output: str) -> float:
    found = re.search(rf"\b{field}:\s*([0-9.eE+-]+|NaN)", output)
    return nan if found is None else float(found[1])
