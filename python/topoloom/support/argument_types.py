# SPDX-License-Identifier: BSD-3-Clause
"""Checks argument types of public Python functions against their annotations.

The check includes the elements of sequences, and the fields of named tuples and data
classes. The check runs before the function and raises TypeError with a one-line
message.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import inspect
import types
from numbers import Integral, Real
from pathlib import Path
from typing import IO, Any, Literal, Union, get_args, get_origin

from topoloom.support.call_errors import describe_misuse, describe_wrong_type

_SEQUENCES = (collections.abc.Sequence, list, tuple)
_MAPPINGS = (collections.abc.Mapping, dict)


def add_type_checks(function: Any, module: str) -> Any:
    """Wrap a public function of `module` so that it checks argument types."""
    signature = inspect.signature(function)
    names = function.__globals__

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            error = describe_misuse(function.__name__, signature, args, kwargs)
            raise TypeError(f"{function.__name__}(): {error}") from None
        for name, value in given.items():
            hint = _resolve_annotation(signature.parameters[name].annotation, names)
            if error := _describe_mismatch(name, value, hint):
                raise TypeError(f"{function.__name__}(): {error}")
        return function(*args, **kwargs)

    call.__module__ = module
    return call


@functools.cache
def _evaluate_annotation(text: str, module: str) -> Any:
    import sys

    return eval(text, dict(vars(sys.modules[module])))


def _resolve_annotation(annotation: Any, names: dict[str, Any]) -> Any:
    if isinstance(annotation, str):
        return _evaluate_annotation(annotation, names["__name__"])
    return annotation


def _describe_mismatch(name: str, value: Any, hint: Any) -> str:
    """Describe the type error in a value or its elements; "" if the types match."""
    origin, type_arguments = get_origin(hint), get_args(hint)
    if hint in (Any, object) or origin is Literal:
        return ""
    if _is_array(hint):
        fits = hasattr(value, "__array__") or isinstance(value, list | tuple)
        return "" if fits else _describe_type_error(name, value, hint)
    if origin in (Union, types.UnionType):
        return _describe_union_mismatch(name, value, hint, type_arguments)
    if origin in _SEQUENCES:
        return _describe_sequence_mismatch(name, value, hint, type_arguments)
    if origin in _MAPPINGS:
        if not isinstance(value, collections.abc.Mapping):
            return _describe_type_error(name, value, hint)
        pairs = (
            _describe_mismatch(f"the key {key!r:.60} of {name}", key, type_arguments[0])
            or _describe_mismatch(f"{name}[{key!r:.60}]", one, type_arguments[1])
            for key, one in value.items()
        )
        return next(filter(None, pairs), "")
    if origin is IO:
        return (
            "" if hasattr(value, "write") else _describe_type_error(name, value, hint)
        )
    if origin is collections.abc.Callable:
        return "" if callable(value) else _describe_type_error(name, value, hint)
    return _describe_field_mismatch(name, value, hint)


def _describe_union_mismatch(
    name: str, value: Any, hint: Any, kinds: tuple[Any, ...]
) -> str:
    errors = [_describe_mismatch(name, value, kind) for kind in kinds]
    if not all(errors):
        return ""
    inner = [one for one in errors if not one.startswith(f"{name} must")]
    return inner[0] if inner else _describe_type_error(name, value, hint)


def _describe_sequence_mismatch(
    name: str, value: Any, hint: Any, type_arguments: Any
) -> str:
    numbers = type_arguments[0] in (int, float)
    is_array = numbers and getattr(value, "ndim", 0) == 1
    if isinstance(value, str | bytes) or not (
        is_array or isinstance(value, collections.abc.Sequence)
    ):
        return _describe_type_error(name, value, hint)
    kinds = list(type_arguments)
    if get_origin(hint) is tuple and kinds[-1] is not Ellipsis:
        if len(value) != len(kinds):
            return f"{name} must have {len(kinds)} items, not {len(value)}"
    else:
        kinds = [type_arguments[0]] * len(value)
    parts = zip(range(len(value)), value, kinds, strict=True)
    errors = (_describe_mismatch(f"{name}[{at}]", one, kind) for at, one, kind in parts)
    return next(filter(None, errors), "")


def _describe_field_mismatch(name: str, value: Any, hint: Any) -> str:
    hint = type(None) if hint is None else hint
    wanted = {int: Integral, float: Real}.get(hint, hint)
    if not isinstance(wanted, type):
        return ""
    if getattr(wanted, "_is_protocol", False):
        members = {one for one in vars(wanted) if one == "__call__" or one[0] != "_"}
        if all(hasattr(value, one) for one in members):
            return ""
        kind = collections.abc.Callable if "__call__" in members else hint
        return _describe_type_error(name, value, kind)
    if not isinstance(value, wanted):
        return _describe_type_error(name, value, hint)
    for field, kind in _get_field_types(wanted).items():
        if error := _describe_mismatch(f"{name}.{field}", getattr(value, field), kind):
            return error
    return ""


@functools.cache
def _get_field_types(kind: type) -> dict[str, Any]:
    """Map the field names of a named tuple or a data class to their annotations."""
    if dataclasses.is_dataclass(kind):
        named = {one.name: one.type for one in dataclasses.fields(kind)}
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        named = dict(inspect.get_annotations(kind))
    else:
        return {}
    module = kind.__module__
    texts = {
        name: getattr(hint, "__forward_arg__", hint) for name, hint in named.items()
    }
    return {
        name: _evaluate_annotation(text, module) if isinstance(text, str) else text
        for name, text in texts.items()
    }


def _is_array(hint: Any) -> bool:
    """Return whether the annotation is `NDArray` or `ArrayLike`."""
    named = getattr(get_origin(hint), "__name__", "")
    return named == "ndarray" or "_SupportsArray" in str(hint)


def _describe_type_error(name: str, value: Any, hint: Any) -> str:
    return describe_wrong_type(name, _format_type(hint), value)


def _format_type(hint: Any) -> str:
    """Format a type as in Python source."""
    origin, type_arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if _is_array(hint):
            return "array"
        return " | ".join(dict.fromkeys(_format_type(kind) for kind in type_arguments))
    if hint in (None, type(None)):
        return "None"
    if collections.abc.Callable in (hint, origin):
        return "callable"
    if _is_array(hint):
        return "array"
    if origin in (*_SEQUENCES, *_MAPPINGS):
        kinds = ", ".join(
            "..." if one is ... else _format_type(one) for one in type_arguments
        )
        return f"{origin.__name__}[{kinds}]"
    if hint is Path:
        return "Path"
    return getattr(hint, "__name__", str(hint))
