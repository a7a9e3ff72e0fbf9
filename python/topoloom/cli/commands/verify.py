# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom verify`: verify that each rank is at its planned location."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson, PlacementFile, output_option
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.programs import (
    BindingOptions,
    Hosts,
    Mpicc,
    Program,
    Torch,
)

if TYPE_CHECKING:
    from topoloom._core import Machine
    from topoloom.documents.programs import ActualPlacement, VerifyDocument
    from topoloom.preload.verify.observed_placement import ObservedSlots
    from topoloom.tasks.torch_run import TorchRun

#: Maximum number of listed torchrun ranks at wrong locations.
MAX_NAMED = 20


@flatten_option_groups
def command(
    placement: PlacementFile,
    program: Program,
    *,
    hosts: Hosts = None,
    binding: BindingOptions,
    mpicc: Mpicc = None,
    torch: Torch = False,
    write: Annotated[
        Path | None,
        output_option("Write the actual placement of the ranks.", "--write"),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Run a program and check where its ranks are.

    The command is not changed: it places its own ranks, through a rankfile, a hostfile
    or the launcher's own order. At startup each rank reports its host and the CPUs on
    which it may run. Ranks at other locations are listed, one per line.

    PyTorch (torchrun, or --torch): hosts and GPUs are compared. If the graph file
    exists, the cost of the actual locations is printed. A rank's GPU is the GPU that
    PyTorch used, else the GPU in CUDA_VISIBLE_DEVICES or similar variables. The c10d
    rendezvous is rejected, because it sorts hosts.

    --write writes the actual placement, for 'topoloom judge' and other commands. If a
    rank may run on several slots, the first free one is assumed.

    The exit status is the program's, or 1 if the program succeeded but a rank is at a
    wrong or unknown location. Ranks that may run on more CPUs than their slot has are
    reported; they count as wrong only with --bind.

    \b
    Examples:
      topoloom export x.json --to openmpi-rankfile -o ranks.txt
      topoloom verify x.json -- mpirun --rankfile ranks.txt -n 64 ./app
      topoloom verify x.json --bind core -- srun -n 64 ./app
      topoloom verify x.json -- srun sh start.sh torchrun train.py
      topoloom verify x.json --write now.json -- srun -n 64 ./app
      topoloom verify x.json --torch -- srun -n 16 python train.py
      topoloom verify x.json --mpicc /opt/mpi/bin/mpicc -- ./my-job.sh
    """
    from contextlib import closing

    from topoloom._core import Error
    from topoloom.cli.console import note, note_json
    from topoloom.cli.output.run import make_location_printer, note_unverified
    from topoloom.launch.apply.torch_command import is_torchrun
    from topoloom.launch.apply.trial_run import check_files_on_hosts
    from topoloom.launch.launcher import Launch
    from topoloom.launch.launchers.launcher_commands import require_program
    from topoloom.preload.verify import VerifyAgent
    from topoloom.preload.verify.observed_placement import (
        ObservedSlots,
        find_observed_slots,
    )
    from topoloom.tasks.launch_placement import load_host_placement
    from topoloom.tasks.torch_run import run_torch
    from topoloom.tasks.verified_run import preload_agent, run_verified

    require_program(program)
    placed = load_host_placement(placement, hosts, *binding)
    if placed.shares_slots:
        raise Error(
            f"{placement}: verify supports only placements with one rank per slot"
        )
    if torch or is_torchrun(program):
        if mpicc is not None:
            raise Error("--mpicc is for MPI programs, not for PyTorch; leave it out")
        run = run_torch(placement, placed, program)
        torch_document = run.document()
        if write is not None:
            slots = None if run.slots is None else ObservedSlots(list(run.slots), [])
            torch_document["written"] = _write_slots(write, placement, slots, as_json)
        if as_json:
            note_json(torch_document)
        else:
            note(_format_torch_locations(run, placed.machine))
        return run.status or int(bool(run.elsewhere) or not run.ranks)
    with closing(VerifyAgent(placed, program, mpicc)) as agent:
        check_files_on_hosts(program, agent.libraries)
        watched, preloaded = preload_agent(Launch(program), agent)
        run_report = run_verified(
            watched, preloaded, make_location_printer(quiet=as_json)
        )
    written = None
    if write is not None:
        reports = run_report.reports
        try:
            seen = find_observed_slots(reports[0].ranks, placed) if reports else None
        except Error as error:
            written = _refuse_to_write(write, str(error), as_json)
        else:
            written = _write_slots(write, placement, seen, as_json)
    if as_json:
        document: VerifyDocument = {
            "exit_status": run_report.status,
            "written": written,
            **run_report.document(),
        }
        note_json(document)
    else:
        note_unverified(run_report)
    return run_report.status if run_report.status or run_report.is_verified else 1


def _write_slots(
    output: Path, plan: Path, seen: ObservedSlots | None, quiet: bool
) -> ActualPlacement:
    """Write the actual placement; print what was assumed, unless `quiet`."""
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import note, note_assumption
    from topoloom.placements.placement_file import load_placement, save_placement
    from topoloom.preload.verify.observed_placement import make_observed_placement

    if seen is None:
        return _refuse_to_write(output, "the slots of some ranks are unknown", quiet)
    planned = load_placement(plan)
    made = make_observed_placement(planned, seen.slots, command_line.get())
    save_placement(output, made)
    if not quiet:
        note_assumption(seen.remark())
        note(f"topoloom: written {output}")
    return {"file": str(output), "reason": None, "unbound": seen.unbound}


def _refuse_to_write(output: Path, why: str, quiet: bool) -> ActualPlacement:
    from topoloom.cli.console import note

    if not quiet:
        note(f"topoloom: {output} was not written: {why}")
    return {"file": None, "reason": why, "unbound": []}


def _format_torch_locations(run: TorchRun, machine: Machine) -> str:
    """Format the locations of the ranks and their cost."""
    from topoloom.placements.measures import format_measure, measure_title
    from topoloom.support.gain import format_percent
    from topoloom.support.units import counted

    if not run.ranks:
        return "topoloom: the job failed before ranks reported themselves"
    lines = run.elsewhere[:MAX_NAMED]
    if run.elsewhere:
        one = len(run.elsewhere) == 1
        count = f"{len(run.elsewhere)} of {counted(run.ranks, 'rank')}"
        count += " is not where it is" if one else " are not where they are"
        lines.append(f"topoloom: {count} planned")
    else:
        all_are = f"all {run.ranks:,} ranks are where they are"
        where = "the only rank is where it is" if run.ranks == 1 else all_are
        lines.append(f"topoloom: {where} planned")
    if run.by_host:
        ranks = counted(run.by_host, "rank")
        lines.append(
            f"topoloom: UUIDs name the GPUs of {ranks}, and neither nvidia-smi nor "
            "rocminfo said their numbers; only their hosts were compared"
        )
    if run.elsewhere and run.measure:
        title = measure_title(run.measure)
        planned, started = (
            format_measure(run.measure, value, machine)
            for value in (run.planned, run.started)
        )
        slower = 100 * (run.started / run.planned - 1) if run.planned else 0.0
        lines.append(
            f"topoloom: {title} {started}, {planned} as planned: "
            f"{format_percent(slower)}"
        )
    return "\n".join(lines)
