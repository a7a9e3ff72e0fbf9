# SPDX-License-Identifier: BSD-3-Clause
"""Damage one part of every sample of a machine file: `make fuzz-mutants`.

Prints the damage that a reader does not notice; see
`tests/package/importers/mutants.py`. The exit status is 1 if there is any.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

IMPORTERS = Path(__file__).resolve().parents[1] / "package" / "importers"
sys.path[:0] = [str(IMPORTERS), str(IMPORTERS / "simgrid")]


def main() -> int:
    """Read mutants of all samples, and print a line for each importer."""
    parser = argparse.ArgumentParser(description="Damage machine files.")
    parser.add_argument("--count", type=int, default=1000, help="mutants per sample")
    parser.add_argument("--only", nargs="+", metavar="FORMAT", help="these formats")
    args = parser.parse_args()
    from mutants import is_noticed, list_mutants
    from test_all_importers import SAMPLES

    from topoloom.machines.import_formats import IMPORTERS

    total = unnoticed = 0
    for importer in IMPORTERS:
        if args.only and importer.name not in args.only:
            continue
        count = before = 0
        for text in SAMPLES[importer.name]:
            mutants = list_mutants(importer.name, text)
            for mutant in itertools.islice(mutants, args.count):
                count += 1
                if not is_noticed(importer, text, mutant.text):
                    before += 1
                    print(f"{importer.name}: not noticed: {mutant.damage}")
        print(f"{importer.name:16} {count:>7,} mutants, {before} not noticed")
        total, unnoticed = total + count, unnoticed + before
    print(f"{total:,} mutants, {unnoticed} not noticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
