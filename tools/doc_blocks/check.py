# SPDX-License-Identifier: BSD-3-Clause
"""Checks the blocks of a page: runs them and collects the differences."""

from __future__ import annotations

import difflib
import shlex
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from doc_blocks.compare import is_same_output, renew_output
from doc_blocks.pages import Block, Command, find_blocks
from doc_blocks.run import PageShell


@dataclass
class Report:
    """What was found in a page."""

    run: int = 0
    #: Blocks that are marked as not run: line and reason.
    not_run: list[tuple[int, str]] = field(default_factory=list)
    #: One text for each command that printed something else, or failed.
    differences: list[str] = field(default_factory=list)
    #: The page with today's output.
    renewed: str = ""


def check_page(root: Path, page: Path) -> Report:
    """Run the blocks of a page in order, in one scratch folder."""
    text = page.read_text()
    report = Report()
    lines = text.split("\n")
    renewals: list[tuple[Command, list[str]]] = []
    with (
        tempfile.TemporaryDirectory(prefix="doc-blocks-") as folder,
        PageShell(root, Path(folder)) as shell,
    ):
        for block in find_blocks(text):
            if block.reason:
                report.not_run.append((block.fence.start + 1, block.reason))
                continue
            if block.file:
                _write_lines(shell.directory / block.file, block.fence.lines)
                continue
            report.run += 1
            for command in block.commands:
                printed, difference = _check_command(shell, block, command)
                if difference:
                    where = f"{page.relative_to(root)}:{command.start}"
                    report.differences.append(f"{where}: {difference}")
                    indent = block.fence.indent
                    new = renew_output(command.shown, printed)
                    if block.shows_output:
                        new = [indent + line if line else line for line in new]
                        renewals.append((command, new))
    for command, new in reversed(renewals):
        lines[command.start : command.start + len(command.shown)] = new
    report.renewed = "\n".join(lines)
    return report


def _check_command(
    shell: PageShell, block: Block, command: Command
) -> tuple[list[str], str]:
    """Return the printed lines, and how they differ from the page; empty if equal.

    The first `cat` of a file that does not exist yet shows a file of the reader.
    """
    words = shlex.split(command.text) if command.text.startswith("cat ") else []
    file = shell.directory / words[1] if len(words) == 2 else None
    if file and not file.exists():
        _write_lines(file, command.shown)
        return command.shown, ""
    printed, status = shell.run(command.text)
    failed = f"status {status} of $ {command.text}"
    if not block.shows_output:
        return printed, "\n".join([failed, *printed, ""]) if status else ""
    if not is_same_output(command.shown, printed):
        diff = difflib.unified_diff(
            command.shown, printed, "page", "command", lineterm="", n=2
        )
        return printed, "\n".join([f"$ {command.text}", *diff, ""])
    # A page may show an error.
    if status and not any(line.startswith("topoloom: ") for line in command.shown):
        return printed, f"{failed}\n"
    return printed, ""


def _write_lines(file: Path, lines: list[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines))
