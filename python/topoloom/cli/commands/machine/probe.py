# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine probe`: measure the machine, and write its description."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import MaybeMachineText
from topoloom.cli.options.probes import Launcher, ProbeLimits, require_launcher
from topoloom.cli.parameters import Option

if TYPE_CHECKING:
    from topoloom.probe.findings import Findings

#: The exit status of a process ended by SIGTERM.
_TERMINATED = 143


@flatten_option_groups
def command(
    launcher_command: Launcher = None,
    output: Annotated[
        Path | None,
        output_option(
            "Write the machine, as .toml, and all samples beside it, as .npz."
        ),
    ] = None,
    machine: MaybeMachineText = None,
    resume: Annotated[
        bool,
        Option("--resume", help="Measure only what the samples beside --output lack."),
    ] = False,
    limits: ProbeLimits = ProbeLimits(),  # noqa: B008
    as_json: AsJson = False,
) -> int:
    """Measure message times between ranks; describe the machine.

    Run it on the nodes of your jobs, with the same binding of ranks. It measures all
    pairs of ranks as often as noise requires. Then it measures messages of all sizes
    between a few pairs of each level, and how concurrent pairs slow each other down. It
    infers groups of near ranks, message costs, link bandwidths, and slow hosts and
    links.

    The description is a machine for --machine and a model for --model. --machine
    compares the measurements with another description.

    \b
    Examples:
      topoloom machine probe -o m.toml -- srun -N 16 --ntasks-per-node 8
      topoloom machine probe --quick -o m.toml -- mpirun -n 8
      topoloom machine probe -m cluster.toml -o m.toml -- mpirun -n 64
    Then:
      topoloom machine show m.toml
      topoloom map p8.npz -m m.toml -o x.json
      topoloom machine check m.toml -- srun -N 16 --ntasks-per-node 1
    """
    from topoloom._core import Error
    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import note, print_json
    from topoloom.cli.exit_status import Failure
    from topoloom.probe.job.probe_job import JobEnded
    from topoloom.tasks.machines.probe import probe_machine

    settings = limits.make_settings()
    launcher = require_launcher(launcher_command)
    if output is None:
        raise Error("no output file is given; add -o, such as -o m.toml")
    try:
        found = probe_machine(
            launcher,
            output,
            claimed=machine,
            resume=resume,
            command=command_line.get(),
            watch=_StageBars(),
            report=note,
            **settings,
        )
    except JobEnded as error:
        raise Failure(str(error)) from None
    if as_json:
        print_json({**found.document(), "output": str(output)})
    else:
        _print_result(found, output)
    _raise_early_end(found, output)
    return 0


def _raise_early_end(found: Findings, output: Path) -> None:
    """Raise `Failure` or `Interrupted` if the job ended early."""
    from topoloom.cli.exit_status import Failure, Interrupted
    from topoloom.probe.findings import INTERRUPTED, TERMINATED

    kept = f"{output} has what was measured before"
    if found.ended == INTERRUPTED:
        raise Interrupted(f"interrupted; {kept}")
    if found.ended == TERMINATED:
        raise Failure(f"terminated; {kept}", _TERMINATED)
    if found.ended:
        raise Failure(f"{found.ended}; {kept}")


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


def _print_result(findings: Findings, output: Path) -> None:
    from topoloom.cli.console import print_facts
    from topoloom.cli.output.probed import print_probed

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
