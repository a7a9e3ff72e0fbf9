# SPDX-License-Identifier: BSD-3-Clause
"""What people read is standard English: phrases that it has no place for."""

from __future__ import annotations

from pathlib import Path

import pytest
from prose import outlawed

ROOT = Path(__file__).resolve().parents[2]
#: What must be free of outlawed phrases.
READ = (
    "*.md",
    "docs/**/*.md",
    "core/**/*.md",
    "mpi/**/*.md",
    "python/**/*.md",
    "tests/**/*.md",
    "python/**/*.py",
    "tests/**/*.py",
    "bench/**/*.py",
    "bench/**/*.cpp",
    "docs/**/*.py",
    "core/**/*.[hc]pp",
    "core/**/*.h",
    "bindings/**/*.[hc]pp",
    "mpi/**/*.[ch]",
    "nccl/**/*.[ch]",
    "nccl/**/*.md",
    "apps/**/*.[hc]pp",
    "tests/core/**/*.[hc]pp",
    "machines/**/*.toml",
    "models/**/*.toml",
)
#: What quotes them.
QUOTES = {ROOT / "tests/layers/prose.py", ROOT / "tests/layers/test_prose.py"}
FILES = sorted({path for pattern in READ for path in ROOT.glob(pattern)} - QUOTES)


def test_prose_keeps_to_standard_terms() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {phrase}"
        for path in FILES
        for line, phrase in outlawed(path)
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("suffix", "text", "phrases"),
    [
        (".md", "`one a line` and\n\n    a code block, one a line\n", []),
        (
            ".md",
            "Hosts, one a line.\nA name tells the place.\n",
            ["one a line", "tells"],
        ),
        (".md", "There is no node here, which is no longer an error.", []),
        (".md", "It is no error.", ["is no error"]),
        (".py", "tells = 1  # it tells\n", ["tells"]),
        (".py", 'print("the longest way")\n', ["longest way"]),
        (".cpp", "int so_many = 1;  // so many\n", ["so many"]),
    ],
)
def test_outlawed_phrases_are_found_in_prose_alone(
    suffix: str, text: str, phrases: list[str], tmp_path: Path
) -> None:
    file = tmp_path / f"page{suffix}"
    file.write_text(text)
    assert [phrase for _, phrase in outlawed(file)] == phrases
