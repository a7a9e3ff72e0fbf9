# SPDX-License-Identifier: BSD-3-Clause
"""Topoloom's command line, run in this process to time the search alone.

The effort is one of ``map --effort``, or ``mapper:`` and a chain of mappers.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from peers.adapters.common import Answer, Request, ToolFailure, run_adapter
from peers.instance import Instance


def command_line(request: Request, output: Path) -> list[str]:
    """Return the arguments of ``topoloom``."""
    instance = request.instance
    words = ["map", str(instance.folder / "graph.graph")]
    words += ["--machine", instance.machine]
    if instance.nodes is not None:
        words += ["--allocation", str(instance.folder / "allocation.txt")]
    if instance.n_to_1:
        words += ["--imbalance", f"{instance.imbalance:g}"]
    if request.effort.startswith("mapper:"):
        words += ["--mapper", request.effort.removeprefix("mapper:")]
    else:
        words += ["--effort", request.effort]
    words += ["--seed", str(request.seed), "--threads", str(request.threads)]
    return [*words, "-o", str(output)]


def solve(request: Request) -> Answer:
    """Run ``topoloom map``; an error raises `ToolFailure`."""
    import topoloom

    answer = Answer(version=topoloom.__version__)
    _time_place(answer)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "x.json"
        text = _run(command_line(request, output))
        if not output.exists():
            raise ToolFailure(text)
        slots = np.array(json.loads(output.read_text())["placement"], np.int64)
    answer.place = _find_places(request.instance, slots)
    return answer


def _time_place(answer: Answer) -> None:
    """Replace `place` by a timed version; the command looks `place` up at run time."""
    from topoloom import _core

    place: Callable[..., Any] = _core.place

    def place_timed(*given: Any, **options: Any) -> Any:
        if answer.search_cpu is not None:  # block order, for the printed gain
            return place(*given, **options)
        with answer.search():
            return place(*given, **options)

    _core.place = place_timed


def _run(words: list[str]) -> str:
    """Run the command line; return the last line of output."""
    from topoloom.cli.app import run

    text = io.StringIO()
    with (
        contextlib.redirect_stdout(text),
        contextlib.redirect_stderr(text),
        contextlib.suppress(SystemExit),
    ):
        run(words)
    lines = [line for line in text.getvalue().splitlines() if line.strip(" ╭╮╰╯─")]
    return lines[-1].strip(" │") if lines else "no output"


def _find_places(instance: Instance, slots: Any) -> Any:
    place = np.full(int(instance.slot_ids().max()) + 1, -1, np.int64)
    place[instance.slot_ids()] = np.arange(instance.slots)
    return place[slots]


if __name__ == "__main__":
    run_adapter(solve)
