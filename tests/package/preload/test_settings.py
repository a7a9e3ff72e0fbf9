# SPDX-License-Identifier: BSD-3-Clause
"""Settings of collectives are validated before a program starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error
from topoloom.preload.collectives import format_settings, parse_settings

TABLE = """{"format": "topoloom-decisions", "version": 1,
"operation": "allgather", "decisions": [
{"ranks": 2, "bytes": 1, "schedule": "ring"}]}
"""
#: (option, content of an invalid file, expected message)
WRONG = [
    ("decisions", "", "x: the file is empty; 'decisions' requires a file with"),
    ("decisions", TABLE[:70], "x:2: expected '\"', but the text ends"),
    ("decisions", TABLE.replace("ring", "rung"), "x:3: no allgather schedule 'rung'"),
    (
        "decisions",
        TABLE.replace('{"ranks": 2, "bytes": 1, "schedule": "ring"}', ""),
        "x:2: the table of allgather has no decisions; add some, or remove the table",
    ),
    ("machine", "", "x: the file is empty; 'machine' requires a file with"),
    ("machine", "\nmachines torus:4\n", "x:2: 'machines' is none of: machine"),
    ("machine", "machine donut:4\n", "x: no topology 'donut'"),
    ("placement", "{\n", "x:2: expected a key in quotes, but the text ends"),
]


@pytest.fixture(autouse=True)
def _working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_written_setting_is_read_back() -> None:
    Path("x").write_text(TABLE)
    read = parse_settings("x,schedule=chain(segment=64),report=1")
    file = str(Path("x").absolute())
    assert read == {
        "decisions": file,
        "schedule": "chain(segment=64)",
        "report": "1",
    }
    assert parse_settings(format_settings(read)) == read


@pytest.mark.parametrize(("option", "text", "message"), WRONG)
def test_invalid_files_of_settings_are_refused_by_option(
    option: str, text: str, message: str
) -> None:
    Path("x").write_text(text)
    with pytest.raises(Error) as error:
        parse_settings(f"{option}=x")
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("schedule=rung", "no schedule 'rung' (did you mean 'ring'?)"),
        ("schedule=chain(segment=0)", "chain: option segment is '0'"),
        ("there-is-none", "replace_collectives names 'there-is-none', which cannot"),
        ("report=2", "replace_collectives must set 'report' to 0 or 1, not '2'"),
    ],
)
def test_errors_in_settings_are_one_line(setting: str, message: str) -> None:
    with pytest.raises(Error) as error:
        parse_settings(setting)
    assert str(error.value).startswith(message)
