# SPDX-License-Identifier: BSD-3-Clause
"""Measures a machine, and writes its description."""

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
from topoloom.probe.check import CheckedMachine, check_hosts
from topoloom.probe.described_routes import DescribedRoutes
from topoloom.probe.description_check import compare_with_description
from topoloom.probe.findings import Findings
from topoloom.probe.job.probe_job import start_probe_job
from topoloom.probe.job.samples import load_samples, save_samples
from topoloom.probe.job.table import read_probe_table
from topoloom.probe.locate.parts import Parts
from topoloom.probe.measure import StageProgress, measure_machine
from topoloom.probe.measured_machine import describe_machine, make_tables
from topoloom.probe.reference import read_reference
from topoloom.probe.stages.effort import EFFORTS, Clock
from topoloom.support.files import check_writable
from topoloom.support.hostlist import is_host_name
from topoloom.support.toml_document import read_toml

#: Fields of the table of a probe that are printed.
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
        The description, ``.toml``; samples are written to the ``.npz`` of the same
        name.
    effort
        A key of `EFFORTS`.
    seconds
        Time limit; by default that of the effort.
    mpicc
        Compiler of the launcher's MPI.
    claimed
        A machine to compare the measurement with.
    resume
        Whether samples in the file are not measured again.
    command
        The command line, recorded in the description.
    watch
        Progress callback of each stage.
    report
        Receives the estimated duration, after a first round.

    Raises
    ------
    topoloom.Error
        If the launcher, its compiler or an argument is wrong.
    topoloom.probe.job.JobEnded
        If the job ends before anything was measured.
    """
    if output.suffix != ".toml":
        raise Error(f"{output}: machines that are measured are written as .toml")
    if effort not in EFFORTS:
        raise Error(f"no effort '{effort}'; there are: {', '.join(EFFORTS)}")
    samples_file = output.with_suffix(".npz")
    for file in (output, samples_file):
        check_writable(file)
    earlier = load_samples(samples_file) if resume else None
    budget = EFFORTS[effort]
    clock = Clock(budget.seconds if seconds is None else seconds)
    if claimed is not None:
        load_machine_and_description(
            claimed
        )  # refuse a wrong file before the job starts
    watched = watch or (lambda _stage: _unwatched)
    with start_probe_job(launcher, mpicc, earlier) as job:
        hosts = list(dict.fromkeys(place.host for place in job.samples.places))
        if odd := [host for host in hosts if not is_host_name(host)]:
            raise Error(
                f"a machine cannot name the host '{odd[0]}'; give it another name"
            )
        routes = None if claimed is None else DescribedRoutes(claimed, hosts)
        found = measure_machine(job, budget, clock, watched, report, routes)
        if routes is not None:
            found.claims += compare_with_description(found, routes)
        job.copy_earlier()
        # Inside the block, since a signal that arrives as the job ends would lose data.
        try:
            save_findings(output, found, command)
        except OSError as error:
            raise _kept_elsewhere(error, output, found, command) from None
    return found


def _kept_elsewhere(
    error: OSError, output: Path, found: Findings, command: Sequence[str]
) -> OSError:
    """Save the findings to a temporary folder, and add its path to the error."""
    try:
        other = Path(tempfile.mkdtemp(prefix="topoloom-probe-")) / output.name
        save_findings(other, found, command)
    except OSError:
        return error
    text = f"{error.strerror}; what was measured is in {other} and beside it"
    return OSError(error.errno, text, error.filename or str(output))


def save_findings(output: Path, found: Findings, command: Sequence[str] = ()) -> None:
    """Write the machine, and all samples to the ``.npz`` of the same name."""
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
        tables=make_tables(found, samples_file.name, command),
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
        A key of `EFFORTS`, which sets the samples per pair.
    seconds
        Time limit for measuring pairs; by default that of the effort.
    wired
        A machine with the wiring of the hosts: messages then test every cable. By
        default the wiring of the file is used, and only common parts of slow messages
        are located.

    Raises
    ------
    topoloom.Error
        As `probe_machine`, and if the file is not that of a probe.
    """
    reference = read_reference(file)
    budget = EFFORTS[effort]
    clock = Clock(budget.seconds if seconds is None else seconds)
    load_machine_and_description(
        wired or file
    )  # refuse a wrong file before the job starts
    parts = partial(_parts_between, wired or file)
    with start_probe_job(launcher, mpicc) as job:
        return check_hosts(job, reference, budget, clock, parts, wired is not None)


def _parts_between(machine: str | Path, hosts: Sequence[str]) -> Parts:
    """Return the parts of a machine that some of its hosts can test."""
    routes = DescribedRoutes(machine, hosts)
    return Parts(
        routes.machine, routes.nodes, dict(zip(routes.nodes, hosts, strict=True))
    )


def _unwatched(_done: int, _all: int) -> None:
    """Ignore progress."""


def model_in(machine: str) -> NetworkModel | None:
    """Return the cost model in the file of a machine, if it has one."""
    if Path(machine).suffix != ".toml" or "model" not in read_toml(machine):
        return None
    return read_model_toml(machine).model


def probe_facts(machine: str) -> dict[str, Any]:
    """Return the findings in the file of a probe; empty for other machines.

    Raises
    ------
    topoloom.Error
        If the findings are not in the format of a probe.
    """
    if Path(machine).suffix != ".toml":
        return {}
    document = read_toml(machine)
    if "probe" not in document:
        return {}
    probed = read_probe_table(document, machine, ())
    return {key: probed[key] for key in _SHOWN if key in probed}
