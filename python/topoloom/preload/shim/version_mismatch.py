# SPDX-License-Identifier: BSD-3-Clause
"""Compares the MPI of a launcher with those of the programs that it starts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from topoloom.preload.shim.launcher import LaunchProgram
from topoloom.preload.shim.link_checks import find_linked_mpi
from topoloom.preload.shim.mpi_version import (
    INTEL_MPI,
    MPICH,
    OPEN_MPI,
    MpiVersion,
    read_mpi_version,
)

#: Launchers that start only programs of these MPIs as ranks of one job. Others, such
#: as srun, start programs of any MPI.
_SERVED = {
    "Open MPI": (OPEN_MPI,),
    "MPICH (Hydra)": (MPICH, INTEL_MPI),
    "Intel MPI": (MPICH, INTEL_MPI),
}


def describe_version_mismatch(
    launcher: LaunchProgram, programs: Iterable[str]
) -> str | None:
    """Describe a program whose MPI the launcher does not serve; None if there is none.

    Such a program fails in MPI_Init, or each of its processes is a job of one rank.
    Versions 4 and 5 of Open MPI have different protocols; those of MPICH do not.
    """
    if launcher.recognized is None:
        return None
    served = _SERVED.get(launcher.recognized.launcher.NAME)
    if served is None:
        return None
    number = ".".join(map(str, launcher.recognized.version))
    own = MpiVersion(launcher.recognized.launcher.NAME, number)
    for program in programs:
        for library in sorted(find_linked_mpi(program)):
            version = read_mpi_version(library)
            if version is None:
                continue
            is_served = version.name in served and (
                version.name != OPEN_MPI or version.major == own.major
            )
            if not is_served:
                return (
                    f"{Path(program).name} is linked with {version} ({library}), but "
                    f"{launcher.path} belongs to {own}; start it with the launcher of "
                    f"{version}"
                )
    return None
