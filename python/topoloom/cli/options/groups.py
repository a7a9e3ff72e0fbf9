# SPDX-License-Identifier: BSD-3-Clause
"""Groups of options that a command receives as a single parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar, get_type_hints

Result = TypeVar("Result")


def flatten_option_groups(function: Callable[..., Result]) -> Callable[..., Result]:
    """Replace each parameter of `function` whose type is a NamedTuple by that type's
    fields, and so on in these fields.

    `make_command` turns the fields into options; `function` still receives one value.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    flat = [
        each
        for parameter in parameters
        for each in _flatten(parameter.name, hints[parameter.name], parameter.default)
    ]

    @wraps(function)
    def flat_function(**values: Any) -> Result:
        for name, hint in hints.items():
            if _is_group(hint):
                values[name] = _collect_group(hint, values)
        return function(**values)

    flat_function.__annotations__ = {one.name: one.annotation for one in flat}
    flat_function.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    del flat_function.__wrapped__
    return flat_function


def _is_group(hint: Any) -> bool:
    return hasattr(hint, "_fields")


def _flatten(name: str, hint: Any, default: Any) -> Iterator[inspect.Parameter]:
    """List the parameter, or those of the fields of its group."""
    if not _is_group(hint):
        kind = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(name, kind, default=default, annotation=hint)
        return
    hints = get_type_hints(hint, include_extras=True)
    for field in hint._fields:
        yield from _flatten(field, hints[field], hint._field_defaults[field])


def _collect_group(group: Any, values: dict[str, Any]) -> Any:
    """Make the group from values of its fields, which are removed from `values`."""
    hints = get_type_hints(group, include_extras=True)
    return group(
        **{
            field: _collect_group(hints[field], values)
            if _is_group(hints[field])
            else values.pop(field)
            for field in group._fields
        }
    )
