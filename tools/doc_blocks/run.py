# SPDX-License-Identifier: BSD-3-Clause
"""A shell in a scratch folder, in which the commands of a page run in order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType

LAST_LINE = "end of the command, status"
#: Seconds after which the shell is killed.
TIMEOUT = 3600
#: The first failing command of an sh block decides its status.
TRAP = "failed=0; trap '[ $failed != 0 ] || failed=$?' ERR"


class PageShell:
    """A bash that keeps its variables and directory between commands.

    Its home directory contains the checkout as ``~/topoloom``.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        home = folder / "home"
        self.directory = folder / "work"
        for made in (home, self.directory, folder / "tmp"):
            made.mkdir(parents=True)
        (home / "topoloom").symlink_to(root)
        self._process = subprocess.Popen(
            ["timeout", str(TIMEOUT), "bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.directory,
            env=_make_environment(home, folder),
            text=True,
            encoding="utf-8",
            errors="replace",
        )

    def __enter__(self) -> PageShell:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def run(self, script: str) -> tuple[list[str], int]:
        """Run a script; return the printed lines, and the status of what failed."""
        assert self._process.stdin
        assert self._process.stdout
        ending = f"trap - ERR; printf '\\n{LAST_LINE} %d\\n' $failed"
        try:
            self._process.stdin.write(
                f"{TRAP}\n{{\n{script}\n}} </dev/null\n{ending}\n"
            )
            self._process.stdin.flush()
        except BrokenPipeError:
            return ["the shell of the page has ended"], 1
        printed: list[str] = []
        for line in self._process.stdout:
            if line.startswith(LAST_LINE):
                # The newline before it follows the output, which may lack its own.
                text = "".join(printed).removesuffix("\n")
                return text.splitlines(), int(line.split()[-1])
            printed.append(line)
        return "".join(printed).splitlines(), 1


def _make_environment(home: Path, folder: Path) -> dict[str, str]:
    """Return the environment of a user: no width of a terminal, no other store."""
    dropped = {"COLUMNS", "LINES", "TOPOLOOM_STORE", "XDG_STATE_HOME", "XDG_DATA_HOME"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return kept | {
        "HOME": str(home),
        "TMPDIR": str(folder / "tmp"),
        # Libraries for MPI programs are compiled once, not once per page.
        "XDG_CACHE_HOME": str(cache),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        # Messages to stderr appear between the lines of stdout, as on a terminal.
        "PYTHONUNBUFFERED": "1",
        # Both are what Open MPI demands of root.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
