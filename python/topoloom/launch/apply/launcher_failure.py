# SPDX-License-Identifier: BSD-3-Clause
"""Finds the cause of a failure in the messages of a launcher."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_MAX_LINES, _MAX_CAUSE = 30, 400
_INDENT = "  "

#: Lines that name the cause, wherever they are in the output.
_CAUSES = re.compile(
    r"Could not resolve hostname|Host key verification failed|Permission denied|"
    r"Connection (refused|timed out)|No route to host|execvp error|"
    r"unrecognized argument|srun: (error|fatal):"
)
#: Lines of ssh after which a launcher cannot start its daemon on a host.
_SSH_ERROR = re.compile(
    r"ssh: (?:Could not resolve hostname|connect to host) .*|"
    r"Host key verification failed.*|\S+@\S+: Permission denied \(.*"
)
#: Help texts of Open MPI that name no cause.
_GENERAL = re.compile(
    r"Sorry! +You were supposed to get help|It looks like \S+ failed for some reason|"
    r"(ORTE|PRTE) was unable to reliably start one or more daemons|"
    r"An? (ORTE|PRTE) daemon has unexpectedly failed"
)
#: Messages after ranks have started.
_STARTED = re.compile(
    r"exited (on|with non-zero)|BAD TERMINATION|terminated with signal|"
    r"Exited with exit code"
)
_LOADER_ERROR = re.compile(
    r"ERROR: ld\.so: object '([^']+)' from LD_PRELOAD cannot be preloaded \((.+)\)"
)
#: Prefix of Hydra: ``[mpiexec@host] match_arg (utils/args/args.c:163): ``.
_HYDRA_PREFIX = re.compile(r"\[(mpiexec|proxy)\S*\] \w+ \(\S+:[0-9]+\): ")


def find_cause(text: str) -> str | None:
    """Find the cause of a failure in a launcher's output; None if there is no text.

    A line that names a known cause has precedence over the first message, which is
    often a consequence.
    """
    for line in text.splitlines():
        if _CAUSES.search(line):
            return _HYDRA_PREFIX.sub("", line.strip())[:_MAX_CAUSE]
    messages = [one for one in _split_messages(text) if one]
    specific = [one for one in messages if not _GENERAL.search(" ".join(one[0]))]
    return _format_cause((specific or messages)[0]) if messages else None


def find_ssh_error(text: str) -> str | None:
    """Find the line in which ssh says that it cannot reach a host."""
    lines = map(str.strip, text.splitlines())
    return next((line for line in lines if _SSH_ERROR.match(line)), None)


def describe_failure(text: str) -> str | None:
    """Describe a failure: the cause, then the launcher's lines, if there are more."""
    cause = find_cause(text)
    lines = [line.rstrip() for line in text.splitlines() if line.strip(" -*=")]
    if cause is None or len(lines) == 1:
        return cause
    shown = [_INDENT + line for line in lines[:_MAX_LINES]]
    if len(lines) > _MAX_LINES:
        shown.append(f"{_INDENT}... and {len(lines) - _MAX_LINES} more lines")
    return "\n".join([cause, *shown])


def find_loader_error(text: str, library: Path) -> str | None:
    """Find the message of the dynamic loader that it cannot preload a library."""
    for path, why in _LOADER_ERROR.findall(text):
        if path == str(library):
            return f"the dynamic loader cannot preload {path}: {why}"
    return None


def has_started_ranks(text: str) -> bool:
    """Return whether the output says that a rank failed, so that it had started."""
    return _STARTED.search(text) is not None


def _split_messages(text: str) -> Iterator[list[list[str]]]:
    """Split output at separator lines; yields the paragraphs of each message."""
    message: list[list[str]] = [[]]
    for line in [*text.splitlines(), "---"]:
        words = line.strip()
        if words.strip("-*="):
            message[-1].append(words)
        elif words:
            yield [one for one in message if one]
            message = [[]]
        else:
            message.append([])


def _format_cause(message: list[list[str]]) -> str:
    """Join the first paragraph; if it ends with a colon, also the next one."""
    first = " ".join(message[0][:1] if _is_log(message[0]) else message[0])
    if first.endswith(":") and len(message) > 1:
        first += " " + ", ".join(" ".join(line.split()) for line in message[1])
    return _HYDRA_PREFIX.sub("", first)[:_MAX_CAUSE]


def _is_log(paragraph: list[str]) -> bool:
    """Return whether each line is a message of its own, as Hydra writes them."""
    return all(line.startswith("[") for line in paragraph)
