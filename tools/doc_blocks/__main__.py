# SPDX-License-Identifier: BSD-3-Clause
"""Runs the console blocks of the documentation, and its sh blocks with `topoloom`.

A page is run in one scratch folder, from top to bottom. `cat FILE` of a file that does
not exist makes the file with the shown contents; so does a block below
`<!-- file: FILE -->`. Python programs are run if a text block below shows their output.
A line `...` stands for any lines. A block below `<!-- not run: REASON -->` is not run;
all are listed at the end.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from doc_blocks.check import check_page
from doc_blocks.pages import list_pages

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Return 1 if a command prints something else than its page shows."""
    parser = argparse.ArgumentParser(prog="doc_blocks", description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="[all pages, README.md]")
    parser.add_argument("--write", action="store_true", help="renew the output")
    arguments = parser.parse_args()
    run, different, not_run = 0, 0, []
    pages = [page.resolve() for page in arguments.pages] or list_pages(ROOT)
    for page in pages:
        start = time.monotonic()
        report = check_page(ROOT, page)
        name = str(page.relative_to(ROOT))
        run += report.run
        different += len(report.differences)
        not_run += [(f"{name}:{line}", reason) for line, reason in report.not_run]
        if report.run:
            print(f"{name}: {report.run} blocks, {time.monotonic() - start:.0f} s")
        for difference in report.differences:
            print(difference)
        if arguments.write and report.renewed != page.read_text():
            page.write_text(report.renewed)
        sys.stdout.flush()
    for where, reason in not_run:
        print(f"not run: {where}: {reason}")
    print(f"{run} blocks run, {len(not_run)} not run, {different} commands differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
