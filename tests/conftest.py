# SPDX-License-Identifier: BSD-3-Clause
"""What tests share: the option ``--full``, and the command line in this process."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# No example is held to a time: machines that run tests are shared.
settings.register_profile(
    "full",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("sample", settings.get_profile("full"), max_examples=20)

# Tests that were left out; with pytest-xdist, as each worker counted them.
LEFT_OUT = pytest.StashKey[int]()

# Shells let what they start in the background ignore Ctrl-C, and that is inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--full``."""
    parser.addoption(
        "--full",
        action="store_true",
        help="run tests marked full, too, and draw more examples",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Draw as many examples as the run has time for."""
    config.stash[LEFT_OUT] = 0
    settings.load_profile("full" if config.getoption("full") else "sample")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave tests marked ``full`` out, except with ``--full``."""
    if config.getoption("full"):
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    items[:] = [item for item in items if not item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=left_out)
    config.stash[LEFT_OUT] = len(left_out)
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = len(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Learn from a worker of pytest-xdist how many tests it left out."""
    left_out = getattr(node, "workeroutput", {}).get("left_out", 0)
    node.config.stash[LEFT_OUT] = max(node.config.stash[LEFT_OUT], left_out)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many tests were left out, and what runs them."""
    if left_out := config.stash[LEFT_OUT]:
        terminalreporter.write_line(
            f"Left out, marked full: {left_out} (make test-all runs them)"
        )


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, which must be one JSON document."""
        return json.loads(self.out)


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
