# SPDX-License-Identifier: BSD-3-Clause
"""The policy of a centre: which jobs `topoloom run` places, and on which machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.support.files import exists
from topoloom.support.toml_document import read_toml

#: Environment variable with the path of the policy.
VARIABLE = "TOPOLOOM_POLICY"
#: Environment variable by which users switch Topoloom off, with this value.
SWITCH, OFF = "TOPOLOOM", "off"
#: Variables with the partition or queue of the batch job.
PARTITIONS = ("SLURM_JOB_PARTITION", "PBS_QUEUE", "LSB_QUEUE", "PJM_RSCGRP")


class SitePolicy(NamedTuple):
    """The directory of the run store, if any, and the machine of each partition."""

    store: Path | None
    machines: dict[str, str]


def is_switched_off() -> bool:
    """Return whether the user has switched Topoloom off."""
    return os.environ.get(SWITCH, "").lower() == OFF


def find_partition() -> str | None:
    """Return the partition or queue of the batch job; None outside of a job."""
    found = (os.environ.get(name) for name in PARTITIONS)
    return next(filter(None, found), None)


def load_policy(path: Path) -> SitePolicy:
    """Read a policy; relative paths in it start at its folder.

    Raises `topoloom.Error` if the file is missing or invalid.
    """
    try:
        policy = read_toml(path)
    except OSError as error:
        raise Error(f"{path}: {error.strerror}") from None
    partitions = policy.pop("partition", {})
    store = policy.pop("store", None)
    if policy:
        raise Error(f"{path}: unknown key '{min(policy)}'; known are store, partition")
    if not isinstance(store or "", str) or not isinstance(partitions, dict):
        raise Error(f"{path}: store is a path, and partition a table")
    machines = {
        name: _read_machine(path, name, entry) for name, entry in partitions.items()
    }
    return SitePolicy(None if store is None else path.parent / store, machines)


def _read_machine(path: Path, partition: str, entry: Any) -> str:
    if isinstance(entry, dict) and isinstance(machine := entry.get("machine"), str):
        if len(entry) == 1:
            beside = path.parent / machine.partition("+")[0]
            return str(path.parent / machine) if exists(beside) else machine
        unknown = min(entry.keys() - {"machine"})
        raise Error(f"{path}: partition {partition}: unknown key '{unknown}'")
    raise Error(
        f'{path}: partition {partition} has no machine; write machine = "detect", or '
        "the path of a description"
    )
