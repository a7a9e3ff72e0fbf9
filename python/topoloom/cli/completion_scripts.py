# SPDX-License-Identifier: BSD-3-Clause
"""Completion scripts of bash and fish for values with ``:``, ``=`` and ``,``.

Bash splits words at ``:`` and ``=``, and replaces only the part after them. The script
of click for fish cuts values at commas. The script of click for zsh is used unchanged.
"""

from __future__ import annotations

import os
from typing import ClassVar

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    add_completion_class,
    split_arg_string,
)

_BASH = """\
%(complete_func)s() {
    local line type value
    while IFS= read -r line; do
        type=${line%%%%,*}
        value=${line#*,}
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                COMPREPLY+=("$value")
                [[ $value == *[=:] ]] && compopt -o nospace
                ;;
        esac
    done < <(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" \\
        COMP_WORDBREAKS="$COMP_WORDBREAKS" %(complete_var)s=bash_complete "$1")
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
#: Stands for the cursor in a command line.
_CURSOR = "\0"
_QUOTES = "'\""


class _Bash(BashComplete):
    """Completes the last word of a line, not what bash makes of it."""

    source_template: ClassVar[str] = _BASH
    #: Number of characters of a completed value that bash keeps.
    kept = 0

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the last one, and the last one."""
        line = os.environ["COMP_LINE"]
        *words, last = split_arg_string(line + _CURSOR)
        typed = last.removesuffix(_CURSOR)
        if typed.startswith("--") and "=" in typed:
            option, _, typed = typed.partition("=")
            words.append(option)
        if not _has_open_quote(line):
            breaks = os.environ.get("COMP_WORDBREAKS", "")
            self.kept = max((typed.rfind(sign) for sign in breaks), default=-1) + 1
        return words[1:], typed

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return the type, and what bash inserts in place of its last word."""
        return f"{item.type},{item.value[self.kept :]}"


class _Fish(FishComplete):
    source_template: ClassVar[str] = FishComplete.source_template.replace(
        'string split ","', 'string split --max 1 ","'
    )


def _has_open_quote(line: str) -> bool:
    opened = ""
    for sign in line:
        if sign == opened:
            opened = ""
        elif sign in _QUOTES and not opened:
            opened = sign
    return opened != ""


def register_completions() -> None:
    """Make click use the scripts of this module."""
    add_completion_class(_Bash)
    add_completion_class(_Fish)
