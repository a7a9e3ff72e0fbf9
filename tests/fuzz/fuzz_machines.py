# SPDX-License-Identifier: BSD-3-Clause
"""Feed random or coverage-guided texts to all readers of files: `make fuzz`.

Each reader in `tests/package/importers/fuzz_targets.py` runs for the same time, in a
separate process with limited memory. If atheris is installed, coverage guides the
choice of texts for Python readers. Otherwise, and for compiled readers, texts are
randomly mutated seeds. Texts of n bytes with which a reader crashes, takes over 2 s +
20 us * n, or over 64 MiB + 40 n of memory, are stored in ``build/fuzz/TARGET``, and the
exit status is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "fuzz"
_MAX_MEMORY_BYTES = 4 << 30
_MAX_BYTES = 32_768
#: Timeout of libFuzzer for endless calls, above the limit of `fuzz_targets.run_target`
_TIMEOUT_SECONDS = 60

IMPORTERS = ROOT / "tests" / "package" / "importers"
sys.path[:0] = [str(IMPORTERS), str(IMPORTERS / "simgrid")]


def main() -> int:
    """Run all targets for equal times, and print one line for each."""
    parser = argparse.ArgumentParser(description="Fuzz the readers of machines.")
    parser.add_argument("--seconds", type=int, default=600, help="for all targets")
    parser.add_argument("--only", nargs="+", metavar="TARGET", help="these targets")
    parser.add_argument("--child", metavar="TARGET", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return _fuzz_target(args.child, args.seconds)
    from fuzz_targets import TARGETS

    names = args.only or list(TARGETS)
    share = max(1, args.seconds // len(names))
    failed = [name for name in names if not _run_target(name, share)]
    outcome = f"failed: {', '.join(failed)}" if failed else "all well"
    print(f"{len(names)} targets, {share} s each; {outcome}")
    return 1 if failed else 0


def _run_target(name: str, seconds: int) -> bool:
    home = WORK / name
    home.mkdir(parents=True, exist_ok=True)
    words = ["--child", name, "--seconds", str(seconds)]
    log = home / "log.txt"
    with log.open("wb") as stream:
        status = subprocess.run(
            [sys.executable, __file__, *words],
            stdout=stream,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            check=False,
        ).returncode
    text = log.read_text(errors="replace")
    runs = re.findall(r"number_of_executed_units: (\d+)", text)
    print(f"{name:16} {int(runs[-1]) if runs else 0:>10,} texts", end="  ")
    print("ok" if status == 0 else f"FAILED, see {log.relative_to(ROOT)}", flush=True)
    return status == 0


def _fuzz_target(name: str, seconds: int) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
    try:
        import atheris
    except ModuleNotFoundError:
        import fuzz_targets

        return _feed_random_texts(fuzz_targets, name, seconds)
    with atheris.instrument_imports(include=["topoloom"]):
        import fuzz_targets
    if fuzz_targets.TARGETS[name].compiled:
        return _feed_random_texts(fuzz_targets, name, seconds)
    home = WORK / name
    corpus = home / "corpus"
    corpus.mkdir(exist_ok=True)
    words: set[str] = set()
    for number, seed in enumerate(fuzz_targets.TARGETS[name].seeds):
        (corpus / f"seed{number}").write_text(seed, encoding="utf-8")
        words |= set(re.findall(r"[A-Za-z_][A-Za-z_0-9.\-]*[=:(]?", seed))
    dictionary = home / "words.txt"
    # libFuzzer refuses a file without words.
    dictionary.write_text(
        "".join(f'"{word}"\n' for word in sorted(words)[:2000] or ["0"])
    )

    def feed_bytes(data: bytes) -> None:
        fuzz_targets.run_target(name, data.decode(errors="replace"))

    options = [
        f"-max_total_time={seconds}",
        f"-max_len={_MAX_BYTES}",
        f"-timeout={_TIMEOUT_SECONDS}",
        f"-rss_limit_mb={_MAX_MEMORY_BYTES >> 20}",
        f"-artifact_prefix={home}/",
        f"-dict={dictionary}",
        "-print_final_stats=1",
    ]
    atheris.Setup([__file__, str(corpus), *options], feed_bytes)
    atheris.Fuzz()
    return 0


def _feed_random_texts(fuzz_targets: ModuleType, name: str, seconds: int) -> int:
    rng = random.Random()
    seeds = fuzz_targets.TARGETS[name].seeds
    end = time.monotonic() + seconds
    runs = 0
    while time.monotonic() < end:
        text = fuzz_targets.mutate_seeds(rng, seeds)
        with contextlib.ExitStack() as on_failure:
            on_failure.callback((WORK / name / "crash.txt").write_text, text)
            fuzz_targets.run_target(name, text)
            on_failure.pop_all()
        runs += 1
    print(f"number_of_executed_units: {runs}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
