# SPDX-License-Identifier: BSD-3-Clause
"""A launch line: a launcher and the options that decide where ranks start."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module

from topoloom._core import Error
from topoloom.launch.orders.launch_options import LaunchOrderRules
from topoloom.launch.orders.node_cores import LaunchError
from topoloom.support.name_lookup import describe_unknown_name

#: Programs, and names of launchers -> modules with `read_order`.
_MODULES = {
    "srun": "slurm",
    "slurm": "slurm",
    "mpirun": "openmpi",
    "openmpi": "openmpi",
    "mpirun.openmpi": "openmpi",
    "mpiexec.openmpi": "openmpi",
    "openmpi4": "openmpi",
    "orterun": "openmpi",
    "openmpi5": "openmpi",
    "prterun": "openmpi",
    "mpich": "hydra",
    "mpiexec": "hydra",
    "mpiexec.hydra": "hydra",
    "mpiexec.mpich": "hydra",
    "mpirun.mpich": "hydra",
    "pals": "pals",
    "pjm": "pjm",
    "jsrun": "jsrun",
    "flux": "flux",
    "aprun": "aprun",
}
#: Options by which mpiexec is known to be another launcher than Hydra.
_MPIEXEC_OPTIONS = {
    "openmpi": ("--map-by", "--rank-by", "--bind-to", "--mca", "--npernode"),
    "pals": ("--ppn", "--cpu-bind", "--depth", "-d"),
}
#: Variables by which launchers choose where ranks start; others leave it alone.
_PLACING_VARIABLES = (
    *("SLURM_", "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "MPICH_", "HYDRA_", "PALS_"),
    *("PJM_", "LSB_", "JSM_", "FLUX_"),
)
#: Settings by which Slurm counts cores, as topoloom does.
_CORE_SETTINGS = ("SLURM_THREADS_PER_CORE=1", "SLURM_HINT=nomultithread")


@lru_cache(maxsize=16)
def read_launch_line(text: str) -> LaunchOrderRules:
    """Read ``srun --distribution=cyclic``; a program and its options may follow.

    Variables may precede, as in ``OMP_NUM_THREADS=4 srun``. Raises `topoloom.Error` for
    an unknown launcher, for words that are unknown or not supported, and for variables
    by which a launcher chooses where ranks start.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise LaunchError(f"'{text}' cannot be split into words: {error}") from None
    words = _drop_variables(words)
    if not words:
        raise LaunchError(f"'{text}' names no launcher; write one, such as srun")
    name = words[0].rpartition("/")[2]
    if name not in _MODULES:
        raise Error(describe_unknown_name("launcher", name, _MODULES))
    module = _MODULES[name]
    if name == "mpiexec":
        module = _find_mpiexec(words[1:])
    reader = import_module(f"topoloom.launch.orders.{module}")
    rules: LaunchOrderRules = reader.read_order([name, *words[1:]])
    return rules


def _drop_variables(words: list[str]) -> list[str]:
    """Drop leading ``env`` and ``NAME=value``, which do not change the placement."""
    is_env = bool(words) and words[0] == "env"
    for index, word in enumerate(words):
        name, equals, _ = word.partition("=")
        if is_env and index == 0:
            continue
        if not equals or not name.isidentifier():
            return words[index:]
        if word not in _CORE_SETTINGS and name.startswith(_PLACING_VARIABLES):
            raise LaunchError(
                f"'{word}' may change where ranks start; give the launcher's option"
            )
    return []


def _find_mpiexec(words: Sequence[str]) -> str:
    """Return the launcher of an mpiexec command by its options."""
    names = {word.partition("=")[0] for word in words}
    for module, options in _MPIEXEC_OPTIONS.items():
        if names & set(options):
            return module
    return "hydra"
