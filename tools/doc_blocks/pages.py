# SPDX-License-Identifier: BSD-3-Clause
"""Code blocks of a Markdown page, their commands, and the output that they show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PROMPT = "$ "
FENCE = re.compile(r"^( *)```(\w*)$")
NOT_RUN = re.compile(r"^ *<!-- not run: (.+) -->$")
COMMAND = re.compile(r"(?:^|[\s;|&(!/])topoloom +[a-z-]")


@dataclass(frozen=True)
class Command:
    """A command of a block and the lines below it."""

    text: str
    #: Lines between prompts, without the indentation of the block; empty for sh.
    shown: list[str]
    #: Range of these lines in the page, from 0.
    start: int
    end: int


@dataclass(frozen=True)
class Block:
    """A console block, or an sh block with `topoloom` commands."""

    language: str
    #: Line of the fence, from 1.
    line: int
    indent: str
    lines: list[str]
    #: Why the block is not run; empty if it is.
    reason: str

    def list_commands(self) -> list[Command]:
        """List the commands; an sh block is one script."""
        if self.language == "sh":
            end = self.line + len(self.lines)
            return [Command("\n".join(self.lines), [], end, end)]
        commands: list[Command] = []
        index = 0
        while index < len(self.lines):
            text = self.lines[index].removeprefix(PROMPT)
            while self.lines[index].endswith("\\"):
                index += 1
                text += "\n" + self.lines[index]
            index += 1
            start = index
            while index < len(self.lines) and not self.lines[index].startswith(PROMPT):
                index += 1
            shown = self.lines[start:index]
            commands.append(Command(text, shown, self.line + start, self.line + index))
        return commands


def find_blocks(page: str) -> list[Block]:
    """Return the blocks of a page that contain commands, in order."""
    lines = page.split("\n")
    blocks: list[Block] = []
    index = 0
    while index < len(lines):
        fence = FENCE.match(lines[index])
        if not fence:
            index += 1
            continue
        indent, language = fence.groups()
        end = lines.index(f"{indent}```", index + 1)
        body = [line.removeprefix(indent) for line in lines[index + 1 : end]]
        mark = NOT_RUN.match(lines[index - 1]) if index else None
        if language == "console" or (
            language == "sh" and any(map(COMMAND.search, body))
        ):
            reason = mark[1] if mark else ""
            blocks.append(Block(language, index + 1, indent, body, reason))
        index = end + 1
    return blocks


def list_pages(root: Path) -> list[Path]:
    """Return the pages of the documentation and README."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
