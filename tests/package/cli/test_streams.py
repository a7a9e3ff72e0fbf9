# SPDX-License-Identifier: BSD-3-Clause
"""No control character of a text reaches stdout or stderr."""

from __future__ import annotations

import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given, strategies as st

from topoloom.cli.app import fail
from topoloom.cli.console import note, print_facts, print_table
from topoloom.cli.streams import EscapingStream, spell_controls, spell_line

HOSTILE = "a\x1b]0;title\x07b\x9b31mc\rd\x7fe\u202ef\u2028g\x08"
SPELLED = r"a\u001b]0;title\u0007b\u009b31mc\u000dd\u007fe\u202ef\u2028g\u0008"


def is_control(character: str) -> bool:
    kind = unicodedata.category(character)
    return (kind in ("Cc", "Zl", "Zp") and character not in "\n\t") or (
        unicodedata.bidirectional(character)
        in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    )


@given(st.text())
def test_a_written_text_has_no_control_characters(text: str) -> None:
    plain = io.StringIO()
    EscapingStream(plain).write(text)
    shown = plain.getvalue()
    assert not any(map(is_control, shown))
    assert spell_controls(shown) == shown
    if not any(map(is_control, text)) and not {"\u200e", "\u200f"} & set(text):
        assert shown == text
    assert "\n" not in spell_line(text)


@given(st.text())
def test_json_stays_json(text: str) -> None:
    assert json.loads(spell_controls(json.dumps(text))) == text


def test_all_printers_write_escaped_text(monkeypatch: pytest.MonkeyPatch) -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", EscapingStream(stdout))
    monkeypatch.setattr(sys, "stderr", EscapingStream(stderr))
    print_table(["host", "x"], [[HOSTILE + "\n", "1"]], title=HOSTILE)
    print_facts([("command", HOSTILE + "\n\t")], HOSTILE)
    assert stdout.getvalue().count(SPELLED) == 4
    assert SPELLED + r"\n\t" in stdout.getvalue()
    note(HOSTILE)
    assert stderr.getvalue() == SPELLED + "\n"


def test_terminals_get_no_undecoded_bytes() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        EscapingStream(stream).write("a\udc9b31m")
    assert terminal.getvalue() == r"a\x9b31m"
    assert pipe.getvalue() == "a\udc9b31m"  # scripts get the name of the file


def test_an_error_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", EscapingStream(stderr))
    assert fail("bad\nfile \x1b[31m", 2) == 2
    assert stderr.getvalue() == "topoloom: bad file \\u001b[31m\n"
