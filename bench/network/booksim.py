# SPDX-License-Identifier: BSD-3-Clause
"""BookSim 2, built from a clone of its repository, with our channel classes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from network.cases import Case, Point, run_timed

#: Delays as in our router; credits return with the latency of flits.
STEPS: dict[str, str | int | float] = {
    "routing_delay": 1,
    "vc_alloc_delay": 1,
    "sw_alloc_delay": 1,
    "st_final_delay": 1,
    "credit_delay": 1,
    "vc_busy_when_full": 1,
    "vc_allocator": "islip",
    "sw_allocator": "islip",
    "alloc_iters": 1,
    "injection_rate_uses_flits": 1,
    "traffic": "uniform",
    "deadlock_warn_timeout": 100000,
    "use_noc_latency": 0,
}
ROUTES = Path(__file__).with_name("booksim_routes.cpp")


def build(clone: Path, home: Path) -> Path:
    """Build a copy of the clone in which nodes do not send to themselves."""
    program = home / "booksim"
    if program.exists() and program.stat().st_mtime > ROUTES.stat().st_mtime:
        return program
    source = home / "booksim2"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(clone / "src", source)
    routes = source / "routefunc.cpp"
    text = routes.read_text().replace(
        '  gRoutingFunctionMap["nca_fattree"]',
        '  add_classed_routes();\n  gRoutingFunctionMap["nca_fattree"]',
    )
    head = "extern int gP, gA, gG;\nint dragonfly_port(int, int, int);\n"
    text = text.replace(
        "void InitializeRoutingMap",
        head + "void add_classed_routes();\nvoid InitializeRoutingMap",
    )
    routes.write_text(text + ROUTES.read_text())
    traffic = source / "traffic.cpp"
    traffic.write_text(
        traffic.read_text().replace(
            "int UniformRandomTrafficPattern::dest(int source)\n{",
            "int UniformRandomTrafficPattern::dest(int source)\n{\n"
            "  int const other = RandomInt(_nodes - 2);\n"
            "  return other + (other >= source ? 1 : 0);",
        )
    )
    dragonfly = source / "networks" / "dragonfly.cpp"
    text = dragonfly.read_text().replace("#define DRAGON_LATENCY", "")
    dragonfly.write_text(text)
    subprocess.run(["make", "-s"], cwd=source, check=True, capture_output=True)
    shutil.copy(source / "booksim", program)
    return program


def run(program: Path, case: Case, load: float, saturated: bool) -> Point:
    """Simulate a load; if it is saturated, measure the throughput."""
    settings = STEPS | case.booksim
    settings |= {
        "num_vcs": case.router.vcs,
        "vc_buf_size": case.router.buffer,
        "packet_size": case.router.packet,
        "injection_rate": load,
        "sim_type": "throughput" if saturated else "latency",
        "sample_period": case.cycles,
        "warmup_periods": 1,
        "max_samples": 3,
        "latency_thres": 1e9,
        "seed": 1,
    }
    config = program.parent / f"booksim-{os.getpid()}.cfg"
    config.write_text(
        "".join(f"{name} = {value};\n" for name, value in settings.items())
    )
    ended, seconds = run_timed([str(program), str(config)])
    config.unlink()
    output = ended[ended.rfind("Overall Traffic Statistics") :]
    return Point(
        load,
        _parse_number(r"Accepted flit rate average = (\S+)", output),
        _parse_number(r"Packet latency average = (\S+)", output),
        _parse_number(r"Hops average = (\S+)", output),
        _parse_number(r"Time taken is (\S+) cycles", ended),
        seconds,
    )


def _parse_number(pattern: str, output: str) -> float:
    found = re.search(pattern, output)
    if found is None:
        raise RuntimeError(f"BookSim does not say {pattern!r}:\n{output[-2000:]}")
    return float(found[1])
