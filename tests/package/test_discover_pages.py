# SPDX-License-Identifier: BSD-3-Clause
"""The pages on importing machines: what they show is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs" / "how-to"


@pytest.mark.parametrize(
    ("page", "file"),
    [
        ("import-slurm.md", "topology.txt"),
        ("import-ibnetdiscover.md", "fabric.txt"),
        ("import-xtprocadmin.md", "nodes.txt"),
    ],
)
def test_the_example_prints_what_the_page_says(
    page: str,
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (PAGES / page).read_text()
    match = re.search(
        r"```text\n(.*?)```.*?```python\n(.*?)```\n+```text\n(.*?)```", text, re.DOTALL
    )
    assert match is not None
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(match[1])
    exec(compile(match[2], page, "exec"), {})
    assert capsys.readouterr().out == match[3]
