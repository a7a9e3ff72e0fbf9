# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures for tests with real launchers: several hosts, for each installed MPI."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from mpi_rotation import current_commit, find_unchosen_mpis
from several_hosts import (
    Mpi,
    SeveralHosts,
    allow_root,
    can_name_hosts,
    find_installed_mpis,
    make_several_hosts,
    share_cores,
)

allow_root()
share_cores()
MPIS = find_installed_mpis()
_hosts_by_mpi: dict[str, SeveralHosts] = {}


def make_mpi_params(mpis: Iterable[Mpi], what: str) -> list[object]:
    """Make one test parameter per MPI, or one that fails and names the missing MPI."""
    found = [pytest.param(mpi, id=mpi.name.replace(" ", "")) for mpi in mpis]
    return found or [pytest.param(what, id="absent")]


def get_hosts(mpi: Mpi | str, factory: pytest.TempPathFactory) -> SeveralHosts:
    """Set up an MPI's hosts once for all tests."""
    if isinstance(mpi, str):
        pytest.fail(f"{mpi} is not installed; `make test` installs it")
    if not can_name_hosts():
        pytest.skip("naming hosts needs root or unprivileged user namespaces")
    if mpi.name not in _hosts_by_mpi:
        _hosts_by_mpi[mpi.name] = make_several_hosts(mpi, factory.mktemp("hosts"))
    return _hosts_by_mpi[mpi.name]


@pytest.fixture(params=make_mpi_params(MPIS, "an MPI"))
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Return each MPI of this machine."""
    if isinstance(request.param, str):
        pytest.fail(f"{request.param} is not installed; `make test` installs it")
    return request.param


@pytest.fixture(name="several_hosts", params=make_mpi_params(MPIS, "an MPI"))
def _any_mpi(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> SeveralHosts:
    """Return hosts for each MPI."""
    return get_hosts(request.param, tmp_path_factory)


@pytest.fixture(params=make_mpi_params((m for m in MPIS if not m.is_hydra), "Open MPI"))
def open_mpi(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> SeveralHosts:
    """Return hosts for each version of Open MPI."""
    return get_hosts(request.param, tmp_path_factory)


@pytest.fixture(params=make_mpi_params((m for m in MPIS if m.is_hydra), "MPICH"))
def mpich(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> SeveralHosts:
    """Return hosts for each version of MPICH."""
    return get_hosts(request.param, tmp_path_factory)


@pytest.fixture(
    params=make_mpi_params((m for m in MPIS if m.has_rankmap), "MPICH >= 4.2")
)
def mpich_with_rankmap(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> SeveralHosts:
    """Return hosts for each version of MPICH that has the option -rankmap."""
    return get_hosts(request.param, tmp_path_factory)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests on MPIs that are not chosen for this commit as `full`."""
    for item in find_unchosen_mpis(items, current_commit()):
        item.add_marker(pytest.mark.full)
