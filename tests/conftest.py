# SPDX-License-Identifier: BSD-3-Clause
"""What tests of the package share: the command line, called in this process."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# No example is held to a time: machines that run tests are shared.
settings.register_profile("topoloom", deadline=None)
settings.load_profile("topoloom")

# Shells let what they start in the background ignore Ctrl-C, and that is inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
