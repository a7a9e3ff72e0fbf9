# SPDX-License-Identifier: BSD-3-Clause
"""Code blocks of a Markdown page, their commands, and the output that they show."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROMPT = "$ "
FENCE = re.compile(r"^( *)```(\w*)$")
#: A comment above a block: the reason why it is not run, or the file that it shows.
NOT_RUN = re.compile(r"^ *<!-- not run: (.+) -->$")
FILE = re.compile(r"^ *<!-- file: (\S+) -->$")
COMMAND = re.compile(r"(?:^|[\s;|&(!/])topoloom +[a-z-]")


@dataclass(frozen=True)
class Command:
    """A command of a block and the lines that show its output."""

    text: str
    #: Without the indentation of the block.
    shown: list[str]
    #: Index of the first of these lines in the page.
    start: int


@dataclass(frozen=True)
class Fence:
    """A fenced block of any language."""

    language: str
    #: Index of the opening line in the page.
    start: int
    indent: str
    lines: list[str]
    #: The line above.
    above: str


@dataclass(frozen=True)
class Block:
    """A block with commands, or one that shows a file."""

    fence: Fence
    commands: list[Command]
    #: Whether lines of the page show all that the commands print.
    shows_output: bool = False
    #: Why the block is not run; empty if it is.
    reason: str = ""
    #: Name of the file that the block shows.
    file: str = ""


def find_blocks(page: str) -> list[Block]:
    """Return the blocks that are run or that show files, in order.

    These are console blocks, sh blocks with `topoloom` commands, and Python programs
    whose output is in a text block below.
    """
    lines = page.split("\n")
    fences = list(_find_fences(lines))
    blocks: list[Block] = []
    for fence, below in itertools.zip_longest(fences, fences[1:]):
        end = fence.start + len(fence.lines) + 2
        if file := FILE.match(fence.above):
            blocks.append(Block(fence, [], file=file[1]))
            continue
        mark = NOT_RUN.match(fence.above)
        reason = mark[1] if mark else ""
        if fence.language == "console":
            blocks.append(Block(fence, _split_commands(fence), True, reason))
        elif fence.language == "sh" and any(map(COMMAND.search, fence.lines)):
            script = Command("\n".join(fence.lines), [], end)
            blocks.append(Block(fence, [script], False, reason))
        elif (
            fence.language == "python"
            and below
            and below.language == "text"
            and not any(lines[end : below.start])
        ):
            program = "\n".join(["python - <<'END'", *fence.lines, "END"])
            shown = Command(program, below.lines, below.start + 1)
            blocks.append(Block(fence, [shown], True, reason))
    return blocks


def _find_fences(lines: list[str]) -> Iterator[Fence]:
    index = 0
    while index < len(lines):
        fence = FENCE.match(lines[index])
        if not fence:
            index += 1
            continue
        indent, language = fence.groups()
        end = lines.index(f"{indent}```", index + 1)
        body = [line.removeprefix(indent) for line in lines[index + 1 : end]]
        yield Fence(language, index, indent, body, lines[index - 1] if index else "")
        index = end + 1


def _split_commands(fence: Fence) -> list[Command]:
    """Split a console block; a backslash continues a command on the next line."""
    commands: list[Command] = []
    lines = fence.lines
    index = 0
    while index < len(lines):
        text = lines[index].removeprefix(PROMPT)
        while lines[index].endswith("\\"):
            index += 1
            text += "\n" + lines[index]
        index += 1
        start = index
        while index < len(lines) and not lines[index].startswith(PROMPT):
            index += 1
        shown = lines[start:index]
        commands.append(Command(text, shown, fence.start + 1 + start))
    return commands


def list_pages(root: Path) -> list[Path]:
    """Return the pages of the documentation and README."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
