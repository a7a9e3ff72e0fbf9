# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one module per command, imported only when it is used."""

from __future__ import annotations

import contextlib
import signal
import sys


def main() -> None:
    """Run the command line in ``sys.argv``, and exit with the status of the command."""
    try:
        from topoloom.cli.streams import configure_streams

        configure_streams()
        if sys.argv[1:] == ["--version"]:  # fast path for scripts: skips the parser
            from topoloom.support.version import __version__

            with contextlib.suppress(OSError):  # `run` reports it
                print(f"topoloom {__version__}", flush=True)
                return
        from topoloom.cli.numpy_import import import_numpy_single_threaded

        import_numpy_single_threaded()
        from topoloom.cli.app import run

        status = run(sys.argv[1:])
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("click", "rich"):
            raise
        print(
            f"topoloom: the command line needs {missing}; "
            "install it with: pip install 'topoloom[cli]'",
            file=sys.stderr,
        )
        sys.exit(1)
    except KeyboardInterrupt:
        print("topoloom: interrupted", file=sys.stderr)
        status = 130
    # Ignore further Ctrl-C during cleanup: it would end the interpreter by a signal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)
