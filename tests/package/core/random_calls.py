# SPDX-License-Identifier: BSD-3-Clause
"""Calls of public functions with random arguments, which are often wrong.

`test_wrong_calls.py` makes some of them. `make fuzz-calls` runs this file, which makes
10^5 calls, with the compiled module under AddressSanitizer. Functions and arguments are
random: each argument fits its parameter, belongs to another machine, or has any type. A
call returns or raises a one-line error that names the invalid argument.
"""

from __future__ import annotations

import argparse
import faulthandler
import inspect
import math
import os
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from list_public_functions import PublicFunction, list_public_functions
from random_arguments import ArgumentSource

import topoloom
from topoloom import Error, _core

#: Parameters that every call sets.
LIMITS = ("seconds", "work", "search", "budget")
#: Calls that take longer are reported with a stack trace.
SECONDS = 600
_ALLOWED = (ValueError, TypeError, MemoryError, OverflowError, IndexError)
#: Exceptions that functions written in Python raise themselves.
_ALLOWED_IN_PYTHON = (Error, TypeError, OSError, MemoryError)
_PACKAGE = Path(topoloom.__file__).parent


def draw_arguments(
    function: PublicFunction, source: ArgumentSource
) -> tuple[list[Any], dict[str, Any]]:
    """Draw the arguments of a call."""
    args: list[Any] = []
    names: dict[str, Any] = {}
    if function.owner is not None:
        args.append(_draw_self(function.owner, source))
    fitting = (
        source.draw_matching_arguments(function.name)
        if source.rng.random() < 0.7
        else {}
    )
    if function.owner in fitting:
        args[0] = fitting[function.owner]
    leave_rest = False
    for parameter in function.parameters:
        limits = parameter.name in LIMITS  # without a limit a search may take long
        if parameter.has_default and not limits and source.rng.random() < 0.6:
            leave_rest = True
            continue
        value = source.draw_argument(parameter)
        if parameter.name in fitting and source.rng.random() < 0.92:
            value = fitting[parameter.name]
        if parameter.name == "seconds" and not isinstance(value, float):
            value = source.rng.choice((0.01, 0.02, -1, math.nan, "x"))
        if parameter.name == "most" and isinstance(value, int):
            value = min(value, 5000)  # messages of 2^63 bytes can have many segments
        if leave_rest or parameter.by_name:
            names[parameter.name] = value
        else:
            args.append(value)
    if source.rng.random() < 0.01:
        args.append(source.draw_any_value())
    if source.rng.random() < 0.01:
        names["surprise"] = 1
    return args, names


def _draw_self(owner: str, source: ArgumentSource) -> Any:
    if source.rng.random() < 0.01:
        kind = getattr(_core, owner)
        return kind.__new__(kind)
    return source.rng.choice(source.pools[owner])


def call_function(
    function: PublicFunction, args: list[Any], names: dict[str, Any]
) -> tuple[str, str | None]:
    """Call the function; return its outcome and any violation."""
    in_python = inspect.isfunction(function.call)
    allowed = _ALLOWED_IN_PYTHON if in_python else _ALLOWED
    try:
        value = function.call(*args, **names)
    except allowed as error:
        kind, text = type(error).__name__, str(error)
        if in_python:
            text = text.replace("a\nb", "ab")  # the path argument has a newline
            if (file := _find_foreign_file(error)) and not isinstance(error, OSError):
                return kind, f"{kind} comes out of {file}: {text}"
        if not text.strip() or "\n" in text:
            return kind, f"{kind} is not one line: {text!r}"
        if re.search(r"std::|vector::|basic_string|bad_|_M_", text):
            return kind, f"{kind} names nothing of the caller's: {text!r}"
        return kind, None
    except Exception as error:
        return type(error).__name__, f"raises {type(error).__name__}: {error}"
    if function.name in ("hops", "distance") and np.max(value, initial=0) >= 65535:
        return "returned", f"returns {value}"
    return "returned", None


def _find_foreign_file(error: BaseException) -> str:
    """Return the file that raised an error if it is outside the package, else ""."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    file = Path(frame.f_code.co_filename)
    return "" if _PACKAGE in file.parents or file == Path(__file__) else str(file)


def _format_value(value: Any) -> str:
    try:
        return repr(value)
    except TypeError:  # never initialized
        return f"{type(value).__name__}()"


def format_call(
    function: PublicFunction, args: list[Any], names: dict[str, Any]
) -> str:
    """Format the call as Python code."""
    parts = [_format_value(arg) for arg in args]
    parts += [f"{name}={_format_value(arg)}" for name, arg in names.items()]
    return f"{function.name}({', '.join(parts)})".replace("\n", " ")[:2000]


def make_random_calls(
    call_count: int, seed: int, only_function: str | None = None
) -> int:
    """Make `call_count` random calls; print failures, and count all other outcomes."""
    warnings.simplefilter("ignore")  # nanobind's error for uninitialized objects
    functions = [f for f in list_public_functions() if only_function in (None, f.name)]
    source = ArgumentSource(seed)
    missing = {f.owner for f in functions if f.owner} - source.pools.keys()
    assert not missing, f"no objects of {missing} to call"
    bad: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    fine: Counter[str] = Counter()
    longest = (0.0, "")
    with Path("last-call.txt").open("w+") as last:
        for _ in range(call_count):
            function = source.rng.choice(functions)
            args, names = draw_arguments(function, source)
            text = format_call(function, args, names)
            last.seek(0)
            last.write(text)
            last.truncate()
            last.flush()
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            start = time.perf_counter()
            end, wrong = call_function(function, args, names)
            ends[end] += 1
            if end == "returned":
                fine[function.name] += 1
            longest = max(longest, (time.perf_counter() - start, text))
            faulthandler.cancel_dump_traceback_later()
            if wrong is not None:
                bad[function.name] += 1
                if bad[function.name] <= 3:
                    print(f"{text}\n    {wrong}")
    print(
        f"{call_count} calls of {len(functions)} functions, seed {seed}: "
        f"{sum(bad.values())} ended badly ({ends}); never returned: "
        f"{sorted({f.name for f in functions} - fine.keys())}; "
        f"the longest took {longest[0]:.2f} s: {longest[1][:200]}"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Call public functions at random.")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="FUNCTION")
    args = parser.parse_args()
    os.chdir(tempfile.mkdtemp())
    sys.exit(make_random_calls(args.calls, args.seed, args.only))
