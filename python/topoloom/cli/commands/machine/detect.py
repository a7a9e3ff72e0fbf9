# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine detect`: detect this node, or the machine of a batch job."""

from __future__ import annotations

from topoloom.cli.options.files import AsJson
from topoloom.cli.options.machines import WriteDescription


def command(output: WriteDescription = None, as_json: AsJson = False) -> None:
    """Detect this node, or the nodes of your batch job.

    In a job of Slurm, PBS, LSF, Flux or Fujitsu's PJM, the machine is the nodes of the
    job, with their names. Under Slurm, it includes the switches and the allocation.
    Anywhere else, it is the node that runs this command.

    Other commands take the word 'detect' as a machine. Write a description to edit it,
    or to use it outside the job.

    \b
    Examples:
      topoloom machine detect
      topoloom machine detect -o here.toml
    """
    from topoloom.cli.output.shown_machine import print_machine
    from topoloom.machines.machine_names import DETECT
    from topoloom.tasks.machines.shown_machine import load_shown_machine

    shown = load_shown_machine(DETECT)
    if output is not None:
        shown.save(output)
    print_machine(shown, as_json, output)
