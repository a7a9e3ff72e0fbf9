# SPDX-License-Identifier: BSD-3-Clause
"""One-line errors for wrong arguments of functions in the compiled core.

The message contains the argument, the required type and a hint how to convert. If no
cause is found, nanobind's message with arguments and signature is unchanged.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

from topoloom.support.name_lookup import suggest

#: (required type, actual type) -> hint how to convert
_REMEDIES = {
    ("CommGraph", "str"): "load it with topoloom.load_graph(path)",
    ("CommGraph", "ndarray"): "make one with CommGraph.from_edges()",
    ("Machine", "str"): "make it with topoloom.load_machine(text)",
    ("Machine", "Allocation"): "pass its .machine",
    ("Allocation", "str"): "load it with topoloom.load_allocation(machine, text)",
    ("Allocation", "Machine"): "for the whole machine, pass Allocation.whole(machine)",
    ("Allocation", "AllocatedHosts"): "pass its .allocation",
    ("Placement", "str"): "load it with topoloom.load_placement(path).placement",
    ("Placement", "list"): "make it with Placement(allocation, slots)",
    ("Placement", "ndarray"): "make it with Placement(allocation, slots)",
    ("Placement", "PlaceResult"): "pass its .placement",
    ("Placement", "PlacementFile"): "pass its .placement",
}
#: (function, argument) -> example value
_EXAMPLES = {
    ("Machine", "text"): "such as 'torus:4x4'; topoloom.load_machine() reads files",
    ("Objective", "name"): "such as 'congestion'",
    ("Schedule", "name"): "one of topoloom.schedules.schedules(), such as 'ring'",
    ("Schedule", "operation"): "such as 'allgather'",
}
_BUILTIN_TYPES = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "None": (type(None),),
}
_PLACEHOLDER = re.compile(r"\\([0-9]+)")


class _Annotation:
    """A string whose ``repr`` has no quotes, for use as an annotation."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def add_call_errors(function: Any, module: str) -> Any:
    """Wrap a core function that `module` exports, to raise one-line errors."""
    signatures: Any = getattr(function, "__nb_signature__", ())
    if len(signatures) != 1:
        return function
    text, documentation, defaults = signatures[0]
    signature = _read_signature(text, defaults or ())

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if f"{function.__name__}() does not take (" not in str(error):
                raise
        name = function.__name__
        raise TypeError(
            f"{name}() does not take these arguments; see help({module}.{name})"
        )

    call.__module__ = module
    call.__doc__ = documentation
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def describe_call_error(function: Any, args: list[Any], kwargs: dict[str, Any]) -> str:
    """Describe the argument error in a call of a core function; "" if none is found.

    The core calls this function; `args` does not contain ``self``.
    """
    signatures = function.__nb_signature__
    if len(signatures) != 1:
        return ""
    text, _, defaults = signatures[0]
    if re.search(r"\(self, arg: ", text):  # the function is the setter of a property
        return ""
    name = function.__qualname__.removesuffix(".__init__")
    misuse = describe_misuse(name, _read_signature(text, defaults or ()), args, kwargs)
    return f"{name}(): {misuse}" if misuse else ""


def _read_signature(text: str, defaults: tuple[Any, ...]) -> inspect.Signature:
    """Parse a signature printed by nanobind; indices stand for default values."""
    inside, _, result = text[text.index("(") + 1 :].rpartition(") -> ")
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = []
    value: Any
    for part in _split_outside_brackets(inside, ", "):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        if part in ("/", "self", ""):
            continue
        declared, _, default = part.partition(" = ")
        name, _, annotation = declared.partition(": ")
        number = _PLACEHOLDER.fullmatch(default)
        value = inspect.Parameter.empty
        if default:
            value = defaults[int(number[1])] if number else ast.literal_eval(default)
        shown = _Annotation(_strip_modules(annotation))
        parameters.append(
            inspect.Parameter(name, kind, default=value, annotation=shown)
        )
    return inspect.Signature(
        parameters, return_annotation=_Annotation(_strip_modules(result))
    )


def _strip_modules(annotation: str) -> str:
    """Remove module names from a type."""
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", annotation)


def _split_outside_brackets(text: str, separator: str) -> list[str]:
    """Split at separators outside brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at])
            start = at + len(separator)
    return [*parts, text[start:]]


def describe_misuse(
    function: str,
    signature: inspect.Signature,
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> str:
    """Describe the first wrong argument; "" if none is found."""
    known = signature.parameters
    for name in kwargs:
        if name not in known:
            return (
                f"there is no argument '{name}'{suggest(name, known)}; it takes "
                f"{', '.join(known)}"
            )
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        return f"{error}; it takes {', '.join(known)}"
    for name, value in bound.arguments.items():
        wanted = known[name].annotation.text
        if not any(
            _is_accepted(value, kind) for kind in _split_outside_brackets(wanted, " | ")
        ):
            return describe_wrong_type(name, wanted, value, function)
        if isinstance(value, int) and not 0 <= value < 2**63:
            return f"{name} is {value}, which is out of range"
    return ""


def _is_accepted(value: Any, kind: str) -> bool:
    if kind in _BUILTIN_TYPES:
        return isinstance(value, _BUILTIN_TYPES[kind])
    if kind.startswith("NDArray"):  # The core checks the elements.
        return value is not None
    if kind.startswith("Callable"):
        return callable(value)
    if kind.startswith(("Sequence", "list", "tuple")):
        return hasattr(value, "__len__") and not isinstance(value, str)
    return kind in _list_type_names(value)


def _list_type_names(value: Any) -> Iterator[str]:
    return (base.__name__ for base in type(value).__mro__)


def describe_wrong_type(name: str, wanted: str, value: Any, function: str = "") -> str:
    """Describe the required and the actual type of an argument, and how to convert."""
    if wanted.startswith("NDArray"):
        alone = "number, " if re.search(r"\| (float|int)\b", wanted) else ""
        wanted = f"{alone}array or list of numbers"
    given = "str" if hasattr(value, "__fspath__") else type(value).__name__
    shown = repr(value) if isinstance(value, str | int | float) else ""
    shown = f" {shown[:60]}" if shown else ""
    remedy = _EXAMPLES.get((function, name)) or _REMEDIES.get((wanted, given), "")
    article = "an" if wanted[0] in "AEIOaeio" else "a"
    type_name = type(value).__name__
    text = f"{name} must be {article} {wanted}, not {type_name}{shown}"
    return f"{text}; {remedy}" if remedy else text
