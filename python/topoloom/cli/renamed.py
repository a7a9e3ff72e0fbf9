# SPDX-License-Identifier: BSD-3-Clause
"""Options that had other names, and what they are called now."""

from __future__ import annotations

#: verb -> option as it was -> what to write instead
RENAMED = {
    "allocate": {"-n": "-N", "--placement": "--write-placement"},
    "axes": {"--pattern": "--write-pattern"},
    "collective": {"--order": "--order-ranks", "--pattern": "--write-pattern"},
    "demo": {"--output": "--output-dir"},
    "export": {"--launcher": "--check-with"},
    "model": {"--bytes": "--sizes"},
    "pattern": {
        "--degree": "--average-degree",
        "--threads": "--threads-per-rank",
    },
    "record": {"--time": "--timeout"},
    "run": {"--reorder": "the verb 'topoloom reorder'"},
}


def new_name(verb: str, option: str) -> str | None:
    """Say what an option of a verb is called now; None if it never was one."""
    now = RENAMED.get(verb, {}).get(option)
    return now and f"'topoloom {verb} {option}' is now {now}"
