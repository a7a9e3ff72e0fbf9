# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine check`: find slow or bad parts of a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, Partial, suggest_partial
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import (
    AllocationText,
    MaybeMachineText,
)
from topoloom.cli.options.probes import Launcher, ProbeLimits, require_launcher
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.probe.check_hosts import CheckedMachine


@flatten_option_groups
def command(
    reference: Annotated[
        str,
        Argument(
            metavar="MACHINE",
            help="The file of an earlier probe; with --plan or --measured, any "
            "description of the cabling.",
            autocompletion=completions.machines,
        ),
    ],
    launcher_command: Launcher = None,
    plan: Annotated[
        bool,
        Option(
            "--plan",
            help="Measure nothing; print the pairs of hosts, on rails of GPUs, to "
            "measure next, all at once, to find the bad host, NIC, cable or switch.",
        ),
    ] = False,
    measured: Annotated[
        list[str] | None,
        Option(
            "--measured",
            metavar="FILE|DIR",
            help="Find the bad host, NIC, cable or switch from this: dumps of NCCL's "
            "Inspector, or a table a,b,GB/s of pairs that --plan names. May be "
            "repeated.",
        ),
    ] = None,
    partial: Partial = False,
    allocation: AllocationText = None,
    machine: MaybeMachineText = None,
    limits: ProbeLimits = ProbeLimits(),  # noqa: B008
    as_json: AsJson = False,
) -> int:
    """Find slow hosts, and bad NICs, cables and switches.

    With a launcher, each host exchanges messages with a few others. MACHINE is then the
    file of an earlier probe: a host is slow if its messages take 15 % longer than the
    file says. More pairs are measured until one part explains all slow messages. With
    --machine, a description of the cabling, every cable is tested.

    Without a launcher, --plan and --measured find the part from measurements of other
    tools. MACHINE is then any description of the cabling.

    \b
    Exit status:
      0  nothing is slow or bad
      1  a host is slow, a part is bad, or the job ended early
      2  nothing could be judged, or the input is wrong

    \b
    Examples:
      topoloom machine check m.toml -- srun -N 16 --ntasks-per-node 1
      topoloom machine check m.toml --time 30s -- mpirun -n 8
      topoloom machine check fattree:4:4 --plan
      topoloom machine check fattree:4:4 --measured round1.csv --plan
    """
    from topoloom._core import Error

    if plan or measured:
        odd = ["-- LAUNCHER"] if launcher_command else []
        odd += limits.list_given()
        if odd:
            raise Error(f"--plan and --measured do not measure; leave {odd[0]} out")
        if machine is not None:
            raise Error(
                f"--plan and --measured take the wiring from '{reference}'; leave -m "
                "out"
            )
        return _locate_bad_parts(
            reference, measured or [], allocation, partial, plan, as_json
        )
    settings = limits.make_settings()
    launcher = require_launcher(launcher_command)
    if partial:
        raise Error("--partial is for files of --measured; leave it out")
    if allocation is not None:
        raise Error("the launcher decides which hosts are measured; leave -a out")
    return _check_hosts(launcher, reference, machine, as_json, settings)


def _check_hosts(
    launcher: list[str],
    reference: str,
    wiring: str | None,
    as_json: bool,
    settings: dict[str, Any],
) -> int:
    """Compare the hosts with an earlier probe; return 1 if a host is slower, else 0."""
    from pathlib import Path

    from topoloom._core import Error
    from topoloom.cli.console import print_json
    from topoloom.cli.exit_status import Failure
    from topoloom.probe.job.probe_job import JobEnded
    from topoloom.tasks.machines.probe import check_machine

    if not Path(reference).exists():
        raise Error(
            f"{reference}: there is no such file; name the file of an earlier probe, "
            "before -- LAUNCHER"
        )
    try:
        checked = check_machine(launcher, Path(reference), wired=wiring, **settings)
    except JobEnded as error:
        raise Failure(str(error)) from None
    if as_json:
        print_json(checked.document())
    else:
        print(_format_verdict(checked))
    return 0 if checked.good else 1


def _locate_bad_parts(
    machine: str,
    measured: list[str],
    allocation: str | None,
    partial: bool,
    plan: bool,
    as_json: bool,
) -> int:
    from topoloom.cli.console import print_json
    from topoloom.cli.output.probed import print_bad_parts
    from topoloom.tasks.machines.bad_parts import locate_bad_parts

    with suggest_partial():
        located = locate_bad_parts(machine, measured, allocation, partial)
    if as_json:
        print_json(located.document())
    else:
        print_bad_parts(located, plan)
    return 1 if any(part.sure for part in located.found.bad) else 0


def _format_verdict(checked: CheckedMachine) -> str:
    from topoloom.support.units import counted

    hosts = counted(len(checked.hosts), checked.unit)
    ratios = f"latency {checked.latency:.2f} x, bandwidth {checked.bandwidth:.2f} x"
    if checked.slow:
        slow = ", ".join(f"{s.host} ({s.of} {s.factor:.2f} x)" for s in checked.slow)
        text = f"slow: {slow}; of {hosts}"
    elif not checked.good:
        text = f"slow: all of {hosts}: {ratios} as long as the file says"
    else:
        text = f"good: {hosts}: {ratios} as long as the file says"
    if checked.known:
        known = ", ".join(
            f"{'-'.join(s.hosts)} ({s.of} {s.factor:.2f} x)" for s in checked.known
        )
        text += f"; slow there already: {known}"
    for part in checked.bad_parts:
        text += f"; {part.sentence}"
    if checked.unmeasured:
        text += f"; no time for {_format_units(checked.unmeasured)}"
    if checked.crowded:
        text += (
            f"; more ranks than CPUs, so not judged: {_format_units(checked.crowded)}"
        )
    return text


def _format_units(units: list[str]) -> str:
    from topoloom.support.hostlist import compress_hostlist, is_host_name

    return (
        compress_hostlist(units) if all(map(is_host_name, units)) else ", ".join(units)
    )
