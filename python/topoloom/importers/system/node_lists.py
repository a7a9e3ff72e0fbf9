# SPDX-License-Identifier: BSD-3-Clause
"""Reads the node list of this process's batch job, in job order.

Slurm, PBS, LSF, Flux and Fujitsu's PJM are supported. The node list file of PJM is
assumed to have one host per line; this has not been tested on a system with PJM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from topoloom._core import Error
from topoloom.support.child_processes import run_system_command
from topoloom.support.files import MAX_BYTES, prefix_errors, read_text
from topoloom.support.hostlist import expand_hostlist, is_host_name
from topoloom.support.plain_text import is_number

_FLUX = ["flux", "hostlist", "local"]


def list_job_hosts(environment: Mapping[str, str]) -> tuple[str, ...]:
    """List the job's nodes without duplicates; return () outside a job.

    Raises `topoloom.Error` with the name of the variable if its list cannot be read.
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


def parse_host_lines(text: str) -> list[str]:
    """Parse one host per line, repeated for each slot; skip empty lines."""
    hosts = []
    for number, line in enumerate(text.splitlines(), start=1):
        host = line.strip()
        if not host:
            continue
        if not is_host_name(host):
            raise Error(f"line {number}: '{host[:60]}' is not a host name")
        hosts.append(host)
    return hosts


def parse_host_counts(text: str) -> list[str]:
    """Parse hosts with slot counts: ``host 4 other 2``."""
    words = text.split()
    hosts, counts = words[::2], words[1::2]
    if len(hosts) != len(counts) or not all(is_number(count) for count in counts):
        raise Error(f"'{text[:60]}' is not a list of hosts, each with a number")
    return parse_host_lines("\n".join(hosts))


def _read_hosts_in_file(name: str) -> list[str]:
    try:
        text = read_text(name, limit=MAX_BYTES)
    except OSError as error:
        raise Error(f"{name}: {error.strerror}") from None
    with prefix_errors(name):
        return parse_host_lines(text)


def _split_hosts(text: str) -> list[str]:
    return parse_host_lines("\n".join(text.split()))


def list_flux_hosts() -> list[str]:
    """List the hosts of this process's Flux instance."""
    output = run_system_command(*_FLUX)
    if output.status != 0:
        lines = output.errors.strip().splitlines() or [f"status {output.status}"]
        raise Error(f"'{' '.join(_FLUX)}' failed: {lines[-1]}")
    return expand_hostlist(output.text.strip())


#: Try Flux first, because Flux may run in a job of another scheduler.
_READERS: dict[str, Callable[[str], list[str]]] = {
    "FLUX_URI": lambda _: list_flux_hosts(),
    "SLURM_JOB_NODELIST": expand_hostlist,
    "PBS_NODEFILE": _read_hosts_in_file,
    "LSB_MCPU_HOSTS": parse_host_counts,
    "LSB_HOSTS": _split_hosts,
    "PJM_O_NODEINF": _read_hosts_in_file,
}
