# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom export`: write a placement for mpirun, srun and other launchers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.files import (
    AsJson,
    PlacementFile,
    format_option,
    output_option,
)
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.programs import BindingOptions, Hosts
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.documents.programs import ExportDocument
    from topoloom.launch.export_format import ExportFormat
    from topoloom.launch.host_placement import HostPlacement


@flatten_option_groups
def command(
    placement: PlacementFile,
    options: Annotated[
        list[str] | None,
        Argument(
            metavar="-- OPTIONS",
            help="Further launcher options for --check.",
        ),
    ] = None,
    *,
    to: Annotated[str, format_option(completions.exports)],
    hosts: Hosts = None,
    binding: BindingOptions,
    output: Annotated[
        Path | None,
        output_option("Write the file; without -o, print it."),
    ] = None,
    check: Annotated[
        bool,
        Option(
            "--check",
            help="Compare the placement with the launcher's dry run; exit status 1 if "
            "a rank would start at another location. For Open MPI (openmpi-rankfile, "
            "hostfile) and, in a job, Slurm (slurm-hostfile).",
        ),
    ] = False,
    program: Annotated[
        str | None,
        Option(
            "--check-with",
            metavar="PROGRAM",
            help="The launcher whose dry run --check reads; mpirun or srun without it.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a placement as a file for a launcher.

    Formats are openmpi-rankfile, slurm-hostfile, flux-taskmap, torchrun, json and
    others, which 'topoloom list exports' describes. Host names come from --hosts, the
    allocation (a host list) or the machine; without them, node 7 is called n7.

    Some formats list cores, CPUs or GPUs (openmpi-rankfile, jsrun-erf, bluegene-map,
    torchrun). The others list hosts, whose cores the launcher fills in order, unless
    --bind adds CPUs (mpich-hostfile, intel-machinefile, slurm-hostfile, flux-taskmap).
    If a format cannot express the placement, an error is reported.

    \b
    Examples:
      topoloom export x.json --to openmpi-rankfile -o ranks.txt
      mpirun --rankfile ranks.txt -n 64 ./app
      topoloom export x.json --to slurm-hostfile --hosts 'cn[01-64]' -o h
      SLURM_HOSTFILE=h srun -m arbitrary -n 64 ./app
      topoloom export x.json --to openmpi-rankfile --check -o ranks.txt
      topoloom export x.json --to hostfile --check -- --host cn01:64,cn02:64
    Or let topoloom do it:
      topoloom run -m torus:4x4x4 -a 'n[00-63]' -- mpirun -n 64 ./app
    """
    import sys

    from topoloom._core import Error
    from topoloom.cli.console import note, print_json
    from topoloom.cli.suggested_command import insert_file_name
    from topoloom.launch.exports.launch_formats import (
        bind_hybrid_ranks,
        find_format,
        require_binding_support,
        require_hosts,
        require_sharing_support,
    )
    from topoloom.support.files import write_text
    from topoloom.tasks.launch_placement import load_host_placement

    if program is not None and not check:
        raise Error("--check-with sets the launcher of --check; add --check")
    if options and not check:
        raise Error(
            f"'{options[0]}' is a launcher option for --check; add --check, or leave "
            "it out"
        )
    target = find_format(to)
    placed = bind_hybrid_ranks(target, load_host_placement(placement, hosts, *binding))
    if hosts is None:
        require_hosts(target, placed)
    require_binding_support(target, placed)
    require_sharing_support(target, placed)
    text = target.write(placed)
    checked = (
        _check_dry_run(target, text, placed, program, options or []) if check else None
    )
    remarks = [target.find_loss(placed), target.find_gpu_remark(placed)]
    if checked is None:
        remarks.append(target.relies_on(placed))
    if placed.has_invented_names and placed.host_name(0) in text:
        remarks.append(
            f"no host names are known: node {int(placed.nodes[placed.host[0]])} is "
            f"called {placed.host_name(0)}; name the hosts with --hosts"
        )
    notes = [remark for remark in remarks if remark is not None]
    if output is not None:
        write_text(output, text)
    how = insert_file_name(output or Path("FILE"), target.format_usage_command(placed))
    if as_json:
        document: ExportDocument = {
            "to": target.name,
            "output": None if output is None else str(output),
            "text": text,
            "use": how,
            "notes": notes,
            "checked": checked,
        }
        print_json(document)
        return
    if output is None:
        sys.stdout.write(text)
    else:
        print(f"use it:  {how}")
    for remark in notes:
        note(f"note: {remark}")


#: Maximum number of ranks at wrong locations that --check lists.
MAX_NAMED = 20


def _check_dry_run(
    target: ExportFormat,
    text: str,
    placed: HostPlacement,
    program: str | None,
    options: list[str],
) -> str:
    """Compare the placement with the launcher's dry run; return the launcher's name."""
    from topoloom.cli.console import note
    from topoloom.cli.exit_status import Failure
    from topoloom.launch.apply.dry_run import dry_run
    from topoloom.launch.apply.job_map import PlacementRefusedError

    try:
        launcher, mismatches = dry_run(target, text, placed, program, options)
    except PlacementRefusedError as refusal:
        raise Failure(str(refusal)) from None
    for line in mismatches[:MAX_NAMED]:
        note(line)
    if mismatches:
        raise Failure(
            f"{launcher} would start {len(mismatches)} of {placed.rank_count} ranks "
            "at other locations; no file was written"
        )
    note(f"checked: {launcher} would start all {placed.rank_count} ranks as placed")
    return launcher
