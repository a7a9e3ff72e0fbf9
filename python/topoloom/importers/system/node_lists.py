# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of the batch job that this process is part of, in the job's order.

Slurm, PBS, LSF, Flux and Fujitsu's PJM each say it in their own way. PJM's file is
taken to hold one host per line; that could not be tried on a machine that has PJM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from topoloom._core import Error
from topoloom.support.files import MAX_BYTES, prefix_errors, read_text
from topoloom.support.hostlist import expand_hostlist, is_host_name
from topoloom.support.plain_text import is_number
from topoloom.support.program_output import run_program

_FLUX = ["flux", "hostlist", "local"]


def job_hosts(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Name the job's nodes, each once; () outside of any job.

    Raises
    ------
    topoloom.Error
        Naming the variable that does not lead to a list of hosts.
    """
    for variable, read in _READERS.items():
        value = environment.get(variable)
        if value:
            with prefix_errors(variable):
                hosts = tuple(dict.fromkeys(read(value)))
                if not hosts:
                    raise Error("names no host")
                return hosts
    return ()


def hosts_by_line(text: str) -> list[str]:
    """Read one host per line, as often as it has slots; empty lines do not count."""
    hosts = []
    for number, line in enumerate(text.splitlines(), start=1):
        host = line.strip()
        if not host:
            continue
        if not is_host_name(host):
            raise Error(f"line {number}: '{host[:60]}' is not a host name")
        hosts.append(host)
    return hosts


def hosts_with_counts(text: str) -> list[str]:
    """Read ``host 4 other 2``: hosts, and how many slots each has."""
    words = text.split()
    hosts, counts = words[::2], words[1::2]
    if len(hosts) != len(counts) or not all(is_number(count) for count in counts):
        raise Error(f"'{text[:60]}' is not hosts, each with a number")
    return hosts_by_line("\n".join(hosts))


def _hosts_in_file(name: str) -> list[str]:
    try:
        text = read_text(name, limit=MAX_BYTES)
    except OSError as error:
        raise Error(f"{name}: {error.strerror}") from None
    with prefix_errors(name):
        return hosts_by_line(text)


def _hosts_by_word(text: str) -> list[str]:
    return hosts_by_line("\n".join(text.split()))


def hosts_of_flux() -> list[str]:
    """Ask Flux for the hosts of the instance that we are in, one of its jobs."""
    told = run_program(*_FLUX)
    if told.status != 0:
        lines = told.errors.strip().splitlines() or [f"status {told.status}"]
        raise Error(f"'{' '.join(_FLUX)}' failed: {lines[-1]}")
    return expand_hostlist(told.text.strip())


#: Flux first, for it may run inside a job of another scheduler.
_READERS: dict[str, Callable[[str], list[str]]] = {
    "FLUX_URI": lambda _: hosts_of_flux(),
    "SLURM_JOB_NODELIST": expand_hostlist,
    "PBS_NODEFILE": _hosts_in_file,
    "LSB_MCPU_HOSTS": hosts_with_counts,
    "LSB_HOSTS": _hosts_by_word,
    "PJM_O_NODEINF": _hosts_in_file,
}
