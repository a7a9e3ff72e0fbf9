# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzes every reader briefly, with fixed seeds; `make fuzz` runs longer.

Messages quote little of a file, whatever its format.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from fuzz_targets import (
    ALLOCATIONS,
    ENCODING,
    FILES,
    METIS,
    MODELS,
    PINGS,
    TARGETS,
    TOML,
    mutate_seeds,
    run_target,
)
from test_all_importers import SAMPLES

from topoloom import Error, Machine, load_allocation, load_graph, load_machine
from topoloom.model import load_model
from topoloom.model.samples import read_pings

#: the original inputs with which fuzzing found a crash or a timeout
FOUND = [
    ("tofu", f"{'9' * 5000} 0 0 0 0 0 0\n{'9' * 5000}1 0 0 0 0 0 0\n"),
    ("tofu", "8 0 0 0 0 0 0\nc0002 0 0 0 0 0 0\n"),
    ("toml", f"nodes = {'9' * 5000}\n"),
    ("allocation", "9" * 5000),
]


@pytest.mark.parametrize("name", TARGETS)
def test_fuzzer_seeds_are_read_correctly(name: str) -> None:
    assert [run_target(name, seed) for seed in TARGETS[name].seeds] == [""] * len(
        TARGETS[name].seeds
    )


@pytest.mark.parametrize("name", TARGETS)
def test_no_text_crashes_or_stalls_a_reader(name: str) -> None:
    rng = random.Random(name)
    refused = sum(
        run_target(name, mutate_seeds(rng, TARGETS[name].seeds)) != ""
        for _ in range(150)
    )
    # Some mutants must be valid, and some invalid.
    assert name == "recognize" or 0 < refused < 150


@pytest.mark.parametrize("name", TARGETS)
def test_texts_without_content_crash_no_reader(name: str) -> None:
    for text in ("", "\n", " ", "\0", "#", "0", "{}", "[]"):
        run_target(name, text)


@pytest.mark.parametrize(("name", "text"), FOUND)
def test_inputs_of_fixed_bugs_are_refused(name: str, text: str) -> None:
    assert run_target(name, text)


#: Characters of a file that a message may quote: it can be secret.
LONGEST = 20
MUTANTS = 12


def read_allocation(path: Path) -> object:
    return load_allocation(Machine("torus:3x4x5"), path)


#: format -> (end of the file name, reader, texts)
FORMATS: dict[str, tuple[str, Callable[[Path], object], tuple[str, ...]]] = {
    **{name: (".txt", load_machine, tuple(texts)) for name, texts in SAMPLES.items()},
    "toml": (".toml", load_machine, TOML),
    "metis machine": (".graph", load_machine, METIS),
    "metis": (".graph", load_graph, METIS),
    "allocation": (".txt", read_allocation, ALLOCATIONS),
    "allocation toml": (".toml", read_allocation, ("hosts = ['a', 'b']\n",)),
    "model": (".toml", load_model, MODELS),
    "pings": (".csv", read_pings, PINGS),
    **{
        name: (target.name, target.read, target.seeds) for name, target in FILES.items()
    },
}


def make_secret(draw: random.Random) -> str:
    """Return a text without 21 characters that a message has by chance."""
    letters = string.ascii_letters + string.digits + draw.choice(["", "+/:$'\"", " _"])
    return "".join(draw.choices(letters, k=draw.choice([30, 90, 600])))


def put_into(text: str, secret: str, draw: random.Random) -> str:
    """Put a text before, after or instead of a word of another, or use it alone."""
    words = [found.span() for found in re.finditer(r"[\w.:+-]+", text)]
    start, end = draw.choice(words)
    return draw.choice(
        [
            secret,
            f"{secret}\n{text}",
            f"{text}{secret}\n",
            text[:start] + secret + text[end:],
            text[:end] + secret + text[end:],
        ]
    )


@pytest.mark.parametrize("name", FORMATS)
def test_messages_quote_little_of_a_file(name: str, tmp_path: Path) -> None:
    end, read, texts = FORMATS[name]
    draw, path = random.Random(name), tmp_path / f"x{end}"
    for _ in range(MUTANTS):
        secret = make_secret(draw)
        content = put_into(draw.choice(texts), secret, draw)
        path.write_bytes(content.encode(ENCODING if name in FILES else "utf-8"))
        message = read_message(partial(read, path))
        assert not find_quote(message, secret), message


def read_message(read: Callable[[], object]) -> str:
    try:
        read()
    except Error as error:
        return str(error)
    return ""


def find_quote(message: str, secret: str) -> str:
    """Find a piece of a text that is longer than messages may quote."""
    pieces = (
        secret[at : at + LONGEST + 1] for at in range(max(1, len(secret) - LONGEST))
    )
    return next((piece for piece in pieces if piece in message), "")
