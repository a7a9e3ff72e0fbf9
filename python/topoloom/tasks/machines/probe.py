# SPDX-License-Identifier: BSD-3-Clause
"""Measures a machine and writes its description."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from topoloom._core import Error, Machine, NetworkModel
from topoloom.machines.machine_facts import machine_name
from topoloom.machines.machine_file import load_machine_and_description
from topoloom.machines.machine_toml_writer import write_machine_toml
from topoloom.model.model_toml import read_model_toml
from topoloom.probe.check_hosts import CheckedMachine, check_hosts
from topoloom.probe.described_routes import DescribedRoutes
from topoloom.probe.description_check import compare_with_description
from topoloom.probe.findings import Findings
from topoloom.probe.job.probe_job import start_probe_job
from topoloom.probe.job.probe_table import read_probe_table
from topoloom.probe.job.samples import load_samples, save_samples
from topoloom.probe.locate.machine_parts import MachineParts
from topoloom.probe.measure import StageProgress, measure_machine
from topoloom.probe.measured_machine import describe_machine, make_file_tables
from topoloom.probe.reference import read_reference
from topoloom.probe.stages.effort import EFFORTS, Clock
from topoloom.support.files import check_writable
from topoloom.support.hostlist import is_host_name
from topoloom.support.toml_document import read_toml

#: Printed fields of a probe's results.
_SHOWN = (
    *("groups", "models", "hops", "channels", "shared_links", "suspects"),
    *("doubts", "claims"),
)


def probe_machine(
    launcher: Sequence[str],
    output: Path,
    *,
    effort: str = "default",
    seconds: float | None = None,
    mpicc: str | None = None,
    claimed: str | None = None,
    resume: bool = False,
    command: Sequence[str] = (),
    watch: StageProgress | None = None,
    report: Callable[[str], None] = lambda _text: None,
) -> Findings:
    """Measure the machine on which a launcher starts ranks, and write a description.

    Parameters
    ----------
    launcher
        The launcher without a program.
    output
        The file of the description, ``.toml``; samples are written to an ``.npz`` of
        the same name.
    effort
        Effort level, a key of `EFFORTS`.
    seconds
        Time limit in seconds; by default the limit of the effort level.
    mpicc
        Compiler of the launcher's MPI.
    claimed
        A machine description that is compared with the measurements.
    resume
        Whether samples in an existing file are reused.
    command
        The command line, which is recorded in the description.
    watch
        Progress callback of each stage.
    report
        Called after the first round, with a text about the estimated duration.

    Raises
    ------
    topoloom.Error
        If the launcher, its compiler or an argument is wrong.
    topoloom.probe.job.JobEnded
        If the job ends before the first measurement.
    """
    if output.suffix != ".toml":
        raise Error(f"{output}: measured machines are written as .toml")
    if effort not in EFFORTS:
        raise Error(f"no effort '{effort}'; there are: {', '.join(EFFORTS)}")
    samples_file = output.with_suffix(".npz")
    for file in (output, samples_file):
        check_writable(file)
    earlier = load_samples(samples_file) if resume else None
    budget = EFFORTS[effort]
    clock = Clock(budget.seconds if seconds is None else seconds)
    if claimed is not None:
        # Reject an unsuitable file before the job starts.
        load_machine_and_description(claimed)
    watched = watch or (lambda _stage: _ignore_progress)
    with start_probe_job(launcher, mpicc, earlier) as job:
        hosts = list(dict.fromkeys(place.host for place in job.samples.places))
        if odd := [host for host in hosts if not is_host_name(host)]:
            raise Error(
                f"a machine file does not support the host name '{odd[0]}'; rename the "
                "host"
            )
        routes = None if claimed is None else DescribedRoutes(claimed, hosts)
        found = measure_machine(job, budget, clock, watched, report, routes)
        if routes is not None:
            found.claims += compare_with_description(found, routes)
        job.copy_earlier()
        # Save inside the block: a signal while the job ends would lose data.
        try:
            save_findings(output, found, command)
        except OSError as error:
            raise _save_elsewhere(error, output, found, command) from None
    return found


def _save_elsewhere(
    error: OSError, output: Path, found: Findings, command: Sequence[str]
) -> OSError:
    """Save the findings to a temporary folder; return the error with its path."""
    try:
        other = Path(tempfile.mkdtemp(prefix="topoloom-probe-")) / output.name
        save_findings(other, found, command)
    except OSError:
        return error
    text = f"{error.strerror}; the measurements are in {other} and beside it"
    return OSError(error.errno, text, error.filename or str(output))


def save_findings(output: Path, found: Findings, command: Sequence[str] = ()) -> None:
    """Write the machine description, and samples to an ``.npz`` of the same name."""
    samples_file = output.with_suffix(".npz")
    save_samples(samples_file, found.samples, found.costs)
    described = describe_machine(found)
    machine = Machine(described.text, described.remarks)
    write_machine_toml(
        output,
        machine,
        machine_name(machine, described.node),
        described.hosts,
        described.allocated,
        described.node,
        described.remarks,
        tables=make_file_tables(found, samples_file.name, command),
    )


def check_machine(
    launcher: Sequence[str],
    file: Path,
    mpicc: str | None = None,
    *,
    effort: str = "quick",
    seconds: float | None = None,
    wired: str | None = None,
) -> CheckedMachine:
    """Measure whether hosts are slower than in an earlier probe.

    Parameters
    ----------
    effort
        Effort level, a key of `EFFORTS`; sets the samples per pair.
    seconds
        Time limit in seconds for measuring pairs; by default the limit of the effort
        level.
    wired
        A machine with the wiring of the hosts, so that messages test every cable. By
        default, the wiring in `file` is used, and only parts common to slow messages
        are located.

    Raises
    ------
    topoloom.Error
        As in `probe_machine`, and if `file` was not written by a probe.
    """
    reference = read_reference(file)
    budget = EFFORTS[effort]
    clock = Clock(budget.seconds if seconds is None else seconds)
    # Reject an unsuitable file before the job starts.
    load_machine_and_description(wired or file)
    parts = partial(_find_testable_parts, wired or file)
    with start_probe_job(launcher, mpicc) as job:
        return check_hosts(job, reference, budget, clock, parts, wired is not None)


def _find_testable_parts(machine: str | Path, hosts: Sequence[str]) -> MachineParts:
    """Return the machine parts that can be tested by messages between these hosts."""
    routes = DescribedRoutes(machine, hosts)
    return MachineParts(
        routes.machine, routes.nodes, dict(zip(routes.nodes, hosts, strict=True))
    )


def _ignore_progress(_done: int, _all: int) -> None:
    """Ignore progress."""


def load_cost_model(machine: str) -> NetworkModel | None:
    """Return the cost model in a machine file; None if it contains none."""
    if Path(machine).suffix != ".toml" or "model" not in read_toml(machine):
        return None
    return read_model_toml(machine).model


def read_probe_results(machine: str) -> dict[str, Any]:
    """Return the probe's results in a machine file; empty for other machines.

    Raises
    ------
    topoloom.Error
        If the results are not in the format of a probe.
    """
    if Path(machine).suffix != ".toml":
        return {}
    document = read_toml(machine)
    if "probe" not in document:
        return {}
    probed = read_probe_table(document, machine, ())
    return {key: probed[key] for key in _SHOWN if key in probed}
