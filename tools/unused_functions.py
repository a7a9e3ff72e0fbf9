#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""List functions of the core that neither libtopoloom nor the Python module uses.

Links the objects of a build again as one library, with only the exported functions as
roots, and reads which functions the linker removes. Such functions are either never
called, or inlined in all calls; then they can be static or in an anonymous namespace.
The exit status is 1 if the linker removes any.

Usage: tools/unused_functions.py [BUILD]
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REMOVED = re.compile(r"section '\.text\.(?:unlikely\.|hot\.)?(_ZNK?8topoloom\w+)'")
ALLOWED = {
    "topoloom::NetworkView::describe[abi:cxx11]",  # required by the concept Topology
    "topoloom::LinkLoads::loads",  # used by tests as a reference
}


def run_command(*words: str | Path, text: str | None = None) -> str:
    """Run a command; return its standard output and standard error."""
    return subprocess.run(
        words,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    ).stdout


def find_removed_functions(build: Path) -> set[str]:
    """Link the libraries as one; return the mangled names of removed functions."""
    objects = [
        *build.glob("CMakeFiles/topoloom.dir/**/*.o"),
        *build.glob("bindings/CMakeFiles/_core.dir/**/*.o"),
    ]
    core = build / "libtopoloom_core.a"
    others = [*build.glob("bindings/libnanobind*.a")]
    if not objects or not others or not core.exists():
        sys.exit(f"{build} has no complete build; run make build")
    with tempfile.TemporaryDirectory() as folder:
        said = run_command(
            "c++",
            "-shared",
            "-Wl,--gc-sections,--print-gc-sections,--exclude-libs,ALL",
            *objects,
            "-Wl,--whole-archive",
            core,
            "-Wl,--no-whole-archive",
            *others,
            "-o",
            Path(folder) / "all.so",
        )
    return set(REMOVED.findall(said))


def find_external_functions(build: Path) -> set[str]:
    """Return the mangled names of external functions that the core defines."""
    listed = run_command("nm", "--defined-only", build / "libtopoloom_core.a")
    return set(re.findall(r"^\w+ T (\w+)$", listed, re.MULTILINE))


def main() -> None:
    """Print unused functions, one per line."""
    build = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release"
    removed = sorted(find_removed_functions(build) & find_external_functions(build))
    names = run_command("c++filt", text="\n".join(removed)).splitlines()
    unused = [name for name in names if name.partition("(")[0] not in ALLOWED]
    if unused:
        print("no library uses these functions of the core; delete them:")
        print("\n".join(f"  {name}" for name in unused))
        sys.exit(1)


if __name__ == "__main__":
    main()
