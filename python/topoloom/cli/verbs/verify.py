# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom verify`: is every rank of a program where a placement puts it?"""

from __future__ import annotations

from topoloom.cli.options.files import AsJson, PlacementFile
from topoloom.cli.options.groups import with_groups
from topoloom.cli.options.programs import BindingOptions, Hosts, Mpicc, Program


@with_groups
def command(
    placement: PlacementFile,
    program: Program,
    *,
    hosts: Hosts = None,
    binding: BindingOptions,
    mpicc: Mpicc = None,
    as_json: AsJson = False,
) -> int:
    """Run an MPI program as it is, and compare where its ranks are with a placement.

    The command is not changed: it places its ranks itself, by a rankfile, a hostfile or
    the launcher's own order. As the program starts, each rank reports its host and the
    CPUs that it may run on; ranks that are elsewhere are named, one per line.

    The exit status is the program's, or 1 if it succeeded but its ranks are not where
    they should be, or nothing could be found out. Ranks that may run on more CPUs than
    those of their slot are reported; they count as elsewhere only with --bind.

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
    from topoloom.cli.run_output import note_unverified, proof_note
    from topoloom.launch.apply.trial import check_hosts
    from topoloom.launch.launcher import Launch
    from topoloom.launch.launchers.registry import check_program
    from topoloom.preload.verify import Witness
    from topoloom.tasks.launch_placement import load_host_placement
    from topoloom.tasks.verified_run import run_witnessed

    check_program(program)
    placed = load_host_placement(placement, hosts, *binding)
    with closing(Witness(placed, program, mpicc)) as witness:
        check_hosts(program, witness.libraries)
        account = run_witnessed(Launch(program), witness, proof_note(quiet=as_json))
    if as_json:
        note(json.dumps({"exit_status": account.status, **account.document()}))
    else:
        note_unverified(account)
    return account.status if account.status or account.holds else 1
