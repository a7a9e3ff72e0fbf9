# SPDX-License-Identifier: BSD-3-Clause
"""The demo runs from start to end with a real MPI."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from json_documents import check_document


def test_the_demo_records_places_draws_and_exports(tmp_path: Path) -> None:
    topoloom = Path(sys.executable).parent / "topoloom"
    shown = subprocess.run(
        [topoloom, "demo", "-o", "demo", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    result = check_document(shown.stdout)
    assert result["ranks"] == 64
    before, after = (result[key]["predicted_seconds"] for key in ("block", "values"))
    assert result["gain_percent"] == 100 * (before - after) / before > 0
    assert "  objective  time by phase: bandwidth-bound" in shown.stderr
    assert "$ topoloom compare" in shown.stderr
    assert "What to try next" in shown.stderr
    for name in ("compare.svg", "before-after.svg", "rankfile", "halo3d.npz"):
        assert str(Path("demo") / name) in result["files"]
    rankfile = (tmp_path / "demo" / "rankfile").read_text().splitlines()
    assert len(rankfile) == 64
    assert rankfile[0].startswith("rank 0=")
