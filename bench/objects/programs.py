# SPDX-License-Identifier: BSD-3-Clause
"""Builds programs of objects; runs them on real ranks or in SimGrid's MPI.

Each process has a limit of CPU time, so that the load of the machine does not matter.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from smpi import CORE, MPI, find, run

#: Limit of CPU seconds of a simulation or a rank.
LIMIT = 480
DID_NOT_END = f"did not end in {LIMIT} s of processor time"
#: SimGrid cluster: hosts on one switch, or on a torus.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="{rate}"
           lat="{latency}"{topology}/>
</platform>
"""


def format_switch_platform(rate: str, latency: str = "9us") -> str:
    """Format a platform of hosts on one switch, with a placeholder for their number."""
    return PLATFORM.format(last="{last}", rate=rate, latency=latency, topology="")


def format_torus_platform(torus: str, rate: str, latency: str = "9us") -> str:
    """Format a platform of hosts on a torus; the first axis varies fastest."""
    sides = torus.replace("x", ",")
    topology = f' topology="TORUS" topo_parameters="{sides}"'
    return PLATFORM.format(last="{last}", rate=rate, latency=latency, topology=topology)


def run_simulated(
    folder: Path,
    described: str,
    ranks: int,
    variables: dict[str, str],
    network: Sequence[str],
    *program: object,
) -> str | None:
    """Run a program in SMPI; return its output, or None after a timeout."""
    platform, hosts = folder / "platform.xml", folder / "hosts"
    platform.write_text(described.format(last=ranks - 1))
    hosts.write_text("".join(f"n{i}\n" for i in range(ranks)))
    words = [find("smpirun", "libsimgrid-dev"), "-np", ranks, "-platform", platform]
    words += ["-hostfile", hosts, "--cfg=smpi/simulate-computation:no"]
    # Unsuccessful polls take a constant time.
    words += ["--cfg=smpi/host-speed:1Gf", "--cfg=smpi/grow-injected-times:no"]
    words += ["--cfg=smpi/test:1e-6", "--cfg=smpi/iprobe:1e-6"]
    words += [*(f"--cfg={one}" for one in network), "--log=root.thresh:error"]
    before = read_cpu_seconds()
    done = run_with_cpu_limit([*words, *program], {**os.environ, **variables})
    if done.returncode == 0:
        return done.stdout
    if read_cpu_seconds() - before > 0.95 * LIMIT:
        return None
    sys.stderr.write(done.stderr)
    raise SystemExit(f"bench: a simulation failed: {done.stdout}")


def launch(suffix: str, ranks: int, *words: object) -> str:
    """Run a program on real ranks; return its output."""
    launcher = find(f"mpirun.{suffix}", suffix)
    root = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    options = ["--oversubscribe"] if suffix == "openmpi" else []
    done = run_with_cpu_limit(
        [launcher, *options, "-n", ranks, *words],
        {**os.environ, **dict.fromkeys(root, "1")},
    )
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise SystemExit(f"bench: a program failed: {done.stdout}")
    return done.stdout


def run_with_cpu_limit(
    words: Sequence[object], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command with the CPU limit for each process."""
    return subprocess.run(
        [find("prlimit", "util-linux"), f"--cpu={LIMIT}", *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )


def read_cpu_seconds() -> float:
    """Return the CPU seconds of all ended child processes."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(source: Path, compiler: str, folder: Path) -> Path:
    """Compile a program and link the library, which is compiled once per compiler."""
    program = folder / f"{source.stem}.{compiler}"
    folders = [MPI / name for name in ("objects", "errors", "stream")]
    flags = ["-O2", "-w", *(f"-I{each}" for each in folders)]
    flags.append(f"-I{MPI.parent / 'core' / 'topoloom' / 'capi'}")
    cxx = [find(compiler, compiler), "-std=c++20", *flags]
    parts = [folder / f"objects.{compiler}.o"]
    is_new = not parts[0].exists()
    if is_new:
        whole = folder / "objects.cpp"  # a single file compiles faster
        files = sorted(folders[0].glob("*.cpp"))
        whole.write_text("".join(f'#include "{file}"\n' for file in files))
        run(*cxx, "-c", whole, "-o", parts[0])
    c_compiler = compiler.replace("cxx", "cc")
    for file in sorted(folders[1].glob("*.c")):
        parts.append(folder / f"{file.stem}.{compiler}.o")
        if is_new:
            run(find(c_compiler, compiler), *flags, "-c", file, "-o", parts[-1])
    linked = [CORE, f"-Wl,-rpath,{CORE.parent}"]
    run(*cxx, source, *parts, "-o", program, *linked)
    return program
