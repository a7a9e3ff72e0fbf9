# SPDX-License-Identifier: BSD-3-Clause
"""The cause of a launcher's failure comes first, before the launcher's own lines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from topoloom.launch.apply import dry_run as dry_runs
from topoloom.launch.apply.job_map import JobMap, PlacementRefusedError
from topoloom.launch.apply.launcher_failure import (
    describe_failure,
    find_cause,
    find_ssh_error,
    has_started_ranks,
)
from topoloom.launch.exports import hostfile

RULE = "-" * 74
DAEMONS = f"""{RULE}
ORTE was unable to reliably start one or more daemons.
This usually is caused by:

* not finding the required libraries and/or binaries on
  one or more nodes.
{RULE}
"""
SLOTS = f"""{RULE}
There are not enough slots available in the system to satisfy the 8
slots that were requested by the application:

  ./app

Either request fewer slots for your application, or make more slots
available for use.
{RULE}
"""
SSH = "ssh: Could not resolve hostname n7: Name or service not known"
HYDRA = "[mpiexec@vm] HYDU_sock_write (utils/sock/sock.c:254): write error\n"
OPTION = """[mpiexec@vm] match_arg (utils/args/args.c:163): unrecognized argument no
[mpiexec@vm] main (ui/mpich/mpiexec.c:127): error parsing parameters
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", None),
        (
            SLOTS,
            "There are not enough slots available in the system to satisfy the 8 slots "
            "that were requested by the application: ./app",
        ),
        (f"{DAEMONS}{SSH}\n{SLOTS}", SSH),
        (f"{SSH}\n{HYDRA * 5}", SSH),
        (DAEMONS + SLOTS, find_cause(SLOTS)),
        (OPTION, "unrecognized argument no"),
        (HYDRA * 2, "write error"),
        ("srun: job 7 queued\nsrun: error: no nodes\n", "srun: error: no nodes"),
        (
            f"{RULE}\nmpirun was unable to launch the application:\n\n"
            f"Executable: a\nNode:   n0\n{RULE}\n",
            "mpirun was unable to launch the application: Executable: a, Node: n0",
        ),
    ],
)
def test_the_cause_is_found(text: str, cause: str | None) -> None:
    assert find_cause(text) == cause
    described = describe_failure(text)
    lines = [line.rstrip() for line in text.splitlines() if line.strip(" -")]
    assert (described or "").splitlines() == (
        [cause, *(f"  {line}" for line in lines)] if cause else []
    )


def test_a_single_line_is_not_repeated_and_many_are_counted() -> None:
    assert describe_failure(f"{SSH}\n") == SSH
    many = describe_failure("".join(f"line {i}\n" for i in range(100)))
    assert many is not None
    assert many.endswith("  ... and 70 more lines")


@pytest.mark.parametrize(
    "line",
    [
        SSH,
        "ssh: connect to host n7 port 22: Connection refused",
        "Host key verification failed.",
        "user@n7: Permission denied (publickey,password).",
    ],
)
def test_errors_of_ssh_are_told_from_those_of_programs(line: str) -> None:
    assert find_ssh_error(f"Welcome\n{line}\r\n{HYDRA}") == line
    assert find_ssh_error("bash: /opt/rc: Permission denied\nssh: warning") is None


def test_ranks_that_failed_had_started() -> None:
    assert has_started_ranks("= BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES")
    assert has_started_ranks("processes exited with non-zero status")
    assert not any(map(has_started_ranks, (SLOTS, DAEMONS, SSH, OPTION)))


def test_a_dry_run_names_only_the_host_that_ssh_cannot_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    message = describe_failure(f"{SSH}\n{DAEMONS}") or ""
    answer = JobMap("Open MPI 4.1.4", message, {}, {})
    reader = dry_runs.JobMapReader("mpirun", lambda *_: answer)
    monkeypatch.setitem(dry_runs.CHECKERS, "hostfile", reader)
    placement: Any = SimpleNamespace(rank_count=2)
    with pytest.raises(PlacementRefusedError) as caught:
        dry_runs.dry_run(hostfile.FORMAT, "", placement)
    assert str(caught.value) == f"mpirun cannot reach a host: {SSH}"
