# SPDX-License-Identifier: BSD-3-Clause
"""Shared by all tests: the option ``--full``, and the command line in this process."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# No deadline per example: test machines are shared.
settings.register_profile(
    "full",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("sample", settings.get_profile("full"), max_examples=20)

# Number of tests deselected since they are marked full; each xdist worker counts all.
DESELECTED = pytest.StashKey[int]()

# Shells let what they start in the background ignore Ctrl-C, and that is inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def _directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Name a directory for each test."""
    base = tmp_path_factory.mktemp("own")
    return (base / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_directories(_directories: Iterator[Path]) -> None:
    """Give each test temporary files and a run store of its own.

    The runs stay out of the user's store. Of mpiruns that share TMPDIR, those of Open
    MPI 4 remove its content. Those of Open MPI 5 fail if a killed mpirun with the same
    process id has left files there; ids recur within the minutes of a session.
    """
    directory = next(_directories)
    for variable, name in (("TMPDIR", "tmp"), ("TOPOLOOM_STORE", "store")):
        os.environ[variable] = str(directory / name)
    (directory / "tmp").mkdir(parents=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--full``."""
    parser.addoption(
        "--full",
        action="store_true",
        help="also run tests marked full, and draw more examples",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load the Hypothesis profile: fewer examples without ``--full``."""
    # xdist sets the width of its workers; commands then leave columns out.
    os.environ.pop("COLUMNS", None)
    config.stash[DESELECTED] = 0
    # Tests send SIGHUP, which nohup ignores in all child processes.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    settings.load_profile("full" if config.getoption("full") else "sample")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Deselect tests marked ``full`` unless ``--full`` is given."""
    if config.getoption("full"):
        return
    deselected = [item for item in items if item.get_closest_marker("full")]
    items[:] = [item for item in items if not item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=deselected)
    config.stash[DESELECTED] = len(deselected)
    if hasattr(config, "workeroutput"):
        config.workeroutput["deselected"] = len(deselected)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collect the number of deselected tests from an xdist worker."""
    deselected = getattr(node, "workeroutput", {}).get("deselected", 0)
    node.config.stash[DESELECTED] = max(node.config.stash[DESELECTED], deselected)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print how many tests were deselected, and how to run them."""
    if deselected := config.stash[DESELECTED]:
        terminalreporter.write_line(
            f"Deselected, marked full: {deselected} (make test-all runs them)"
        )


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The validated JSON document in the output, without the schema's name."""
        from json_documents import check_document

        return check_document(self.out)


Command = Callable[..., Outcome]


@pytest.fixture
def topoloom(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    """Run ``topoloom`` with the given words in an empty directory."""
    from topoloom.cli.app import run

    monkeypatch.chdir(tmp_path)

    def command(*words: object) -> Outcome:
        capsys.readouterr()
        status = run([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return command
