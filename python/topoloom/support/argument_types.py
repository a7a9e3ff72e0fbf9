# SPDX-License-Identifier: BSD-3-Clause
"""One clear line for a call of a public Python function with a wrong type.

What its annotations say is checked, down to the elements of sequences and the fields
of named tuples and data classes, before anything is read or computed.
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

from topoloom.support.call_errors import misuse, wrong_type

_SEQUENCES = (collections.abc.Sequence, list, tuple)
_MAPPINGS = (collections.abc.Mapping, dict)


def checked(function: Any, module: str) -> Any:
    """Wrap a function, as `module` offers it to users."""
    signature = inspect.signature(function)
    names = function.__globals__

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            said = misuse(function.__name__, signature, args, kwargs)
            raise TypeError(f"{function.__name__}(): {said}") from None
        for name, value in given.items():
            hint = _resolved(signature.parameters[name].annotation, names)
            if said := _misfit(name, value, hint):
                raise TypeError(f"{function.__name__}(): {said}")
        return function(*args, **kwargs)

    call.__module__ = module
    return call


@functools.cache
def _evaluated(text: str, module: str) -> Any:
    import sys

    return eval(text, dict(vars(sys.modules[module])))


def _resolved(annotation: Any, names: dict[str, Any]) -> Any:
    if isinstance(annotation, str):
        return _evaluated(annotation, names["__name__"])
    return annotation


def _misfit(name: str, value: Any, hint: Any) -> str:
    """Say what is wrong with a value, or with a part of it; "" if nothing is."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint in (Any, object) or origin is Literal:
        return ""
    if _is_array(hint):
        fits = hasattr(value, "__array__") or isinstance(value, list | tuple)
        return "" if fits else _wrong(name, value, hint)
    if origin in (Union, types.UnionType):
        return _misfit_of_all(name, value, hint, inside)
    if origin in _SEQUENCES:
        return _misfit_in_sequence(name, value, hint, inside)
    if origin in _MAPPINGS:
        if not isinstance(value, collections.abc.Mapping):
            return _wrong(name, value, hint)
        pairs = (
            _misfit(f"the key {key!r:.60} of {name}", key, inside[0])
            or _misfit(f"{name}[{key!r:.60}]", one, inside[1])
            for key, one in value.items()
        )
        return next(filter(None, pairs), "")
    if origin is IO:
        return "" if hasattr(value, "write") else _wrong(name, value, hint)
    if origin is collections.abc.Callable:
        return "" if callable(value) else _wrong(name, value, hint)
    return _misfit_of_class(name, value, hint)


def _misfit_of_all(name: str, value: Any, hint: Any, kinds: tuple[Any, ...]) -> str:
    said = [_misfit(name, value, kind) for kind in kinds]
    if not all(said):
        return ""
    inner = [one for one in said if not one.startswith(f"{name} must")]
    return inner[0] if inner else _wrong(name, value, hint)


def _misfit_in_sequence(name: str, value: Any, hint: Any, inside: Any) -> str:
    numbers = inside[0] in (int, float)
    is_array = numbers and getattr(value, "ndim", 0) == 1
    if isinstance(value, str | bytes) or not (
        is_array or isinstance(value, collections.abc.Sequence)
    ):
        return _wrong(name, value, hint)
    kinds = list(inside)
    if get_origin(hint) is tuple and kinds[-1] is not Ellipsis:
        if len(value) != len(kinds):
            return f"{name} must have {len(kinds)} items, not {len(value)}"
    else:
        kinds = [inside[0]] * len(value)
    parts = zip(range(len(value)), value, kinds, strict=True)
    said = (_misfit(f"{name}[{at}]", one, kind) for at, one, kind in parts)
    return next(filter(None, said), "")


def _misfit_of_class(name: str, value: Any, hint: Any) -> str:
    hint = type(None) if hint is None else hint
    wanted = {int: Integral, float: Real}.get(hint, hint)
    if not isinstance(wanted, type):
        return ""
    if getattr(wanted, "_is_protocol", False):
        return "" if callable(value) else _wrong(name, value, collections.abc.Callable)
    if not isinstance(value, wanted):
        return _wrong(name, value, hint)
    for field, kind in _fields(wanted).items():
        if said := _misfit(f"{name}.{field}", getattr(value, field), kind):
            return said
    return ""


@functools.cache
def _fields(kind: type) -> dict[str, Any]:
    """List the fields of a named tuple or a data class with what they hold."""
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
        name: _evaluated(text, module) if isinstance(text, str) else text
        for name, text in texts.items()
    }


def _is_array(hint: Any) -> bool:
    """Whether it is NDArray, or ArrayLike, a union."""
    named = getattr(get_origin(hint), "__name__", "")
    return named == "ndarray" or "_SupportsArray" in str(hint)


def _wrong(name: str, value: Any, hint: Any) -> str:
    return wrong_type(name, _shown(hint), value)


def _shown(hint: Any) -> str:
    """Write a type as users know it."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if _is_array(hint):
            return "array"
        return " | ".join(dict.fromkeys(_shown(kind) for kind in inside))
    if hint in (None, type(None)):
        return "None"
    if collections.abc.Callable in (hint, origin):
        return "callable"
    if _is_array(hint):
        return "array"
    if origin in (*_SEQUENCES, *_MAPPINGS):
        kinds = ", ".join("..." if one is ... else _shown(one) for one in inside)
        return f"{origin.__name__}[{kinds}]"
    if hint is Path:
        return "Path"
    return getattr(hint, "__name__", str(hint))
