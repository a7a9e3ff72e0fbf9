# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom probe`: measure the machine, and write its description."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from topoloom.cli.options.files import (
    AsJson,
    Partial,
    output_option,
    suggest_partial,
)
from topoloom.cli.options.machines import AllocationText, MaybeMachineText
from topoloom.cli.options.programs import Mpicc
from topoloom.cli.options.searches import Seconds
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.probe.check_hosts import CheckedMachine
    from topoloom.probe.findings import Findings


def command(
    launcher_command: Annotated[
        list[str] | None,
        Argument(
            metavar="-- LAUNCHER",
            help="What starts the ranks, without a program.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option(
            "Write the machine, as .toml, and all samples beside it, as .npz."
        ),
    ] = None,
    quick: Annotated[
        bool, Option("--quick", help="Take a minute at most, with fewer samples.")
    ] = False,
    thorough: Annotated[
        bool,
        Option("--thorough", help="Take an hour at most, with more samples."),
    ] = False,
    time: Seconds = None,
    check: Annotated[
        Path | None,
        Option(
            "--check",
            metavar="FILE",
            help="Only check whether a host is slower than this file of an earlier "
            "probe says; exit status 1 if one is, 2 if none can be judged.",
        ),
    ] = None,
    plan: Annotated[
        bool,
        Option(
            "--plan",
            help="Measure nothing: print which hosts, on rails which GPUs, to measure "
            "with which next, at once, to find the bad host, NIC, cable or switch.",
        ),
    ] = False,
    measured: Annotated[
        list[str] | None,
        Option(
            "--measured",
            metavar="FILE|DIR",
            help="Find the bad host, NIC, cable or switch from this: dumps of NCCL's "
            "Inspector, or a table a,b,GB/s of pairs that --plan names. May be "
            "repeated; exit status 1 if something is bad.",
        ),
    ] = None,
    partial: Partial = False,
    allocation: AllocationText = None,
    resume: Annotated[
        bool,
        Option("--resume", help="Measure only what the samples beside --output lack."),
    ] = False,
    machine: MaybeMachineText = None,
    mpicc: Mpicc = None,
    as_json: AsJson = False,
) -> int:
    """Measure message times between all ranks; describe the machine.

    Run it on the nodes of your jobs, with the same binding of ranks. It measures all
    pairs of ranks as often as noise requires. Then it measures messages of all sizes
    between a few pairs of each level, and how concurrent pairs slow each other down. It
    infers groups of near ranks, message costs, link bandwidths, and slow hosts and
    links.

    The description is a machine for --machine and a model for --model. --machine
    compares the measurements with another description.

    --check finds the machine parts that slow messages have in common. Without a
    launcher, --plan and --measured find them from measurements of other tools.

    \b
    Examples:
      topoloom probe -o m.toml -- srun -N 16 --ntasks-per-node 8
      topoloom probe --quick -o m.toml -- mpirun -n 8
      topoloom probe --check m.toml -- srun -N 16 --ntasks-per-node 1
      topoloom probe --plan -m cluster.toml
      topoloom probe --plan -m cluster.toml --measured round1.csv --measured nccl/
      topoloom map app.npz -m m.toml -o placement.json
      topoloom collective rank alltoall --ranks 64 --bytes 512 --model m.toml
    """
    from topoloom._core import Error
    from topoloom.cli.exit_status import Failure
    from topoloom.probe.job.probe_job import JobEnded
    from topoloom.support.units import parse_duration

    if quick and thorough:
        raise Error("--quick and --thorough are mutually exclusive; leave one out")
    if plan or measured:
        measuring = {
            "-- LAUNCHER": launcher_command,
            "-o": output,
            "--quick": quick,
            "--thorough": thorough,
            "--time": time,
            "--resume": resume,
            "--mpicc": mpicc,
        }
        if odd := [option for option, value in measuring.items() if value]:
            raise Error(f"--plan and --measured do not measure; leave {odd[0]} out")
        wiring = _choose_wiring(machine, check)
        return _locate_bad_parts(
            wiring, measured or [], allocation, partial, plan, as_json
        )
    if not launcher_command:
        raise Error("no launcher is given; add it after --, such as -- srun -N 16")
    if partial:
        raise Error("--partial is for files of --measured; leave it out")
    if allocation is not None:
        raise Error("the launcher decides which hosts are measured; leave -a out")
    limit = None if time is None else parse_duration(time)
    if limit == 0:
        raise Error(
            "--time 0 leaves no time to measure; set a longer time, such as --time 30s"
        )
    effort = "quick" if quick else "thorough" if thorough else "default"
    limits = {"effort": effort, "seconds": limit, "mpicc": mpicc}
    try:
        if check is None:
            return _measure_machine(
                launcher_command, output, machine, resume, as_json, limits
            )
        _check_output_options(output, resume)
        return _check_hosts(launcher_command, check, machine, as_json, limits)
    except JobEnded as error:
        raise Failure(str(error)) from None


def _measure_machine(
    launcher: list[str],
    output: Path | None,
    claimed: str | None,
    resume: bool,
    as_json: bool,
    limits: dict[str, Any],
) -> int:
    """Measure the machine, write its description; raise `Failure` if it ends early."""
    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import note, print_json
    from topoloom.cli.exit_status import Failure, Interrupted
    from topoloom.probe.findings import INTERRUPTED, TERMINATED
    from topoloom.tasks.machines.probe import probe_machine

    if output is None:
        raise Error("no output file is given; add -o, such as -o m.toml")
    found = probe_machine(
        launcher,
        output,
        claimed=claimed,
        resume=resume,
        command=command_line.get(),
        watch=_StageBars(),
        report=note,
        **limits,
    )
    if as_json:
        print_json({**found.document(), "output": str(output)})
    else:
        _print_result(found, output)
    kept = f"{output} has what was measured before"
    if found.ended == INTERRUPTED:
        raise Interrupted(f"interrupted; {kept}")
    if found.ended == TERMINATED:
        raise Failure(f"terminated; {kept}", _TERMINATED)
    if found.ended:
        raise Failure(f"{found.ended}; {kept}")
    return 0


def _check_output_options(output: Path | None, resume: bool) -> None:
    from topoloom._core import Error

    if output is not None:
        raise Error("--check writes no file; leave -o out")
    if resume:
        raise Error("--check always remeasures; --resume is not allowed")


def _check_hosts(
    launcher: list[str],
    reference: Path,
    wiring: str | None,
    as_json: bool,
    limits: dict[str, Any],
) -> int:
    """Compare the hosts with an earlier probe; return 1 if a host is slower, else 0."""
    from topoloom.cli.console import print_json
    from topoloom.tasks.machines.probe import check_machine

    checked = check_machine(launcher, reference, wired=wiring, **limits)
    if as_json:
        print_json(checked.document())
    else:
        print(_format_verdict(checked))
    return 0 if checked.good else 1


def _choose_wiring(machine: str | None, check: Path | None) -> str | Path:
    """Return the description of the hosts' wiring from -m or --check."""
    from topoloom._core import Error

    if machine is not None and check is not None:
        raise Error(
            "-m and --check both define the wiring of the hosts; leave one of them out"
        )
    wiring = machine if check is None else check
    if wiring is None:
        raise Error("the wiring of the hosts is unknown; add -m or --check")
    return wiring


def _locate_bad_parts(
    machine: str | Path,
    measured: list[str],
    allocation: str | None,
    partial: bool,
    plan: bool,
    as_json: bool,
) -> int:
    from topoloom.cli.console import print_json
    from topoloom.cli.probed_output import print_bad_parts
    from topoloom.tasks.machines.bad_parts import locate_bad_parts

    with suggest_partial():
        located = locate_bad_parts(machine, measured, allocation, partial)
    if as_json:
        print_json(located.document())
    else:
        print_bad_parts(located, plan)
    return 1 if any(part.sure for part in located.found.bad) else 0


#: The exit status of a process ended by SIGTERM.
_TERMINATED = 143


class _StageBars:
    """Shows a progress bar for each stage."""

    def __init__(self) -> None:
        from contextlib import ExitStack

        self._shown = ExitStack()

    def __call__(self, stage: str) -> Any:
        from topoloom.cli.console import make_progress_bar

        self._shown.close()
        show = self._shown.enter_context(make_progress_bar(stage, "steps"))

        def advance(done: int, total: int) -> None:
            show(done, total)
            if done >= total:
                self._shown.close()

        return advance


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


def _print_result(findings: Findings, output: Path) -> None:
    from topoloom.cli.console import print_facts
    from topoloom.cli.probed_output import print_probed

    print_facts(
        [
            ("hosts", f"{len(findings.hosts):,}"),
            ("ranks", f"{findings.samples.ranks:,}"),
            ("samples", f"{findings.samples.count:,}"),
            *(
                (("noise", f"{findings.noise:.2%} of the CPU"),)
                if findings.noise
                else ()
            ),
            ("written", str(output)),
            ("written", str(output.with_suffix(".npz"))),
        ],
        "measured",
    )
    print_probed(findings.document())
