# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom verify`: is every rank of a program where a placement puts it?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topoloom.cli.options import Mpicc
from topoloom.cli.verbs.export import Bind, CoresPerSlot, Hosts


def command(
    placement: Annotated[
        Path, typer.Argument(metavar="PLACEMENT", help="JSON, as 'map' writes it.")
    ],
    program: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND", help="The whole command, its launcher first."
        ),
    ],
    hosts: Hosts = None,
    cores_per_slot: CoresPerSlot = 1,
    bind: Bind = None,
    mpicc: Mpicc = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Report as one line of JSON on stderr.")
    ] = False,
) -> int:
    """Run an MPI program as it is, and compare where its ranks are with a placement.

    The command is not changed: it places its ranks itself, by a rankfile, a hostfile or
    the launcher's own order. As the program starts, each rank tells its host and the
    CPUs that it may run on; ranks that are elsewhere are named, one a line.

    The exit status is the program's, or 1 if it ended well but its ranks are not where
    they should be, or nothing could be found out. Ranks that may run on more CPUs than
    those of their slot are told; they count as elsewhere only with --bind.

    \b
    Examples:
      topoloom export x.json --to openmpi-rankfile -o ranks.txt
      topoloom verify x.json -- mpirun --rankfile ranks.txt -n 64 ./app
      topoloom verify x.json --bind core -- srun -n 512 ./app
      topoloom verify x.json --mpicc /opt/mpi/bin/mpicc -- ./my-job.sh
    """
    import json
    from contextlib import closing

    from topoloom.cli.console import note
    from topoloom.cli.placed import load_placed
    from topoloom.cli.witnessed import run_witnessed
    from topoloom.launch.apply.trial import check_hosts
    from topoloom.launch.launcher import Launch
    from topoloom.launch.launchers.registry import check_program
    from topoloom.preload.verify import Witness

    check_program(program)
    placed = load_placed(placement, hosts, cores_per_slot, bind)
    with closing(Witness(placed, program, mpicc)) as witness:
        check_hosts(program, witness.libraries)
        account = run_witnessed(Launch(program), witness, quiet=as_json)
    if as_json:
        note(json.dumps({"exit_status": account.status, **account.document()}))
    return account.status if account.status or account.holds else 1
