# SPDX-License-Identifier: BSD-3-Clause
"""Detects torchrun in commands, and rejects a rendezvous that reorders ranks."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from topoloom._core import Error
from topoloom.launch.launchers.launcher_commands import read_command

_TORCHRUN = re.compile(r"(.*/)?torchrun|torch\.distributed\.(run|launch)")
_PYTHON = re.compile(r"(.*/)?python[0-9.]*")
_SHELL = re.compile(r"(.*/)?(ba|da|k|z)?sh")
#: Wrapper commands whose first argument after their options is the program.
_STARTERS = re.compile(
    r"(.*/)?(env|nice|ionice|timeout|numactl|taskset|stdbuf|time|nohup|setsid|exec)"
)
#: Wrapper commands with other arguments before the program, such as images.
_RUNNERS = re.compile(
    r"(.*/)?(conda|apptainer|singularity|docker|podman|enroot|uv|.*\.sh)"
)
#: Arguments that cannot be a program: option, variable, number, time or CPU list.
_NOT_A_PROGRAM = re.compile(r"-.*|[A-Za-z_]\w*=.*|[0-9][0-9:,.-]*[smhd]?")
_SHELL_KEYWORDS = ("if", "then", "else", "do", "while", "!")


def is_torchrun(command: Sequence[str]) -> bool:
    """Return whether a command starts torchrun: directly, by a launcher or in a script.

    ``torchrun`` as the value of an option does not count.
    """
    if not any(_TORCHRUN.fullmatch(word) for word in _split_words(command)):
        return False
    try:
        parts = read_command(command).line.segments
    except Error:  # another launcher, or a script
        return _starts_torchrun(command)
    return any(_starts_torchrun(part.program) for part in parts)


def _split_words(command: Sequence[str]) -> list[str]:
    """Split a command approximately as a shell does."""
    return [word.strip("'\"();&") for word in " ".join(command).split()]


def _starts_torchrun(program: Sequence[str]) -> bool:
    first, *others = program
    if _TORCHRUN.fullmatch(first):
        return True
    if _PYTHON.fullmatch(first):
        return _python_runs_torchrun(others)
    if _SHELL.fullmatch(first):
        return _shell_runs_torchrun(others)
    if _RUNNERS.fullmatch(first):
        return any(_is_torchrun_call(others, at) for at in range(len(others)))
    at = next(
        (i for i, w in enumerate(others) if not _NOT_A_PROGRAM.fullmatch(w)), None
    )
    if at is None:
        return False
    if _STARTERS.fullmatch(first):
        return _starts_torchrun(others[at:])
    known = (_PYTHON, _SHELL, _STARTERS, _RUNNERS)
    if not _is_option_value(others, at) and any(
        one.fullmatch(others[at]) for one in known
    ):
        return _starts_torchrun(others[at:])
    return _is_torchrun_call(others, at)


def _is_option_value(words: Sequence[str], at: int) -> bool:
    return at > 0 and bool(re.fullmatch(r"--\w[^=]*", words[at - 1]))


def _is_torchrun_call(words: Sequence[str], at: int) -> bool:
    """Return whether a word is torchrun, followed by a script."""
    named = bool(_TORCHRUN.fullmatch(words[at])) and at + 1 < len(words)
    return named and not _is_option_value(words, at)


def _python_runs_torchrun(words: Sequence[str]) -> bool:
    rest = iter(words)
    for word in rest:
        if word in ("-W", "-X"):
            next(rest, None)
        elif word == "-m":
            return bool(_TORCHRUN.fullmatch(next(rest, "")))
        elif word == "-c" or not word.startswith("-"):
            return bool(_TORCHRUN.fullmatch(word))
    return False


def _shell_runs_torchrun(words: Sequence[str]) -> bool:
    """Search for torchrun in a script's arguments, or in the commands after ``-c``."""
    given = next((i for i, word in enumerate(words) if not word.startswith("-")), None)
    if given is None:
        return False
    rest = words[given + 1 :]
    is_line = any(re.fullmatch("-[a-z]*c", word) for word in words[:given])
    if is_line:
        for part in re.split(r"[;&|\n(){}]+", words[given]):
            line = _split_words([part])
            while line and (line[0] in _SHELL_KEYWORDS or "=" in line[0]):
                del line[0]
            if line and is_torchrun(line):
                return True
        if "$" not in words[given]:  # such as "$@"
            return False
    return any(_is_torchrun_call(rest, at) for at in range(len(rest)))


def reject_reordering_rendezvous(command: Sequence[str]) -> None:
    """Raise `topoloom.Error` if torchrun's rendezvous backend reorders hosts.

    The backends c10d and etcd reorder hosts; static does not.
    """
    text = " ".join(command)
    named = re.search(r"--rdzv[-_]backend[= ]\s*(\S+)", text)
    backend = named[1] if named else os.environ.get("PET_RDZV_BACKEND", "static")
    one = re.search(r"--nnodes[= ]\s*1(:1)?(\s|$)", text) or "--standalone" in text
    if backend != "static" and not one:
        from topoloom.launch.exports.torchrun import RELIES_ON

        raise Error(
            f"torchrun with the rendezvous {backend} does not preserve host order: "
            f"{RELIES_ON}; set static, or omit the backend"
        )
