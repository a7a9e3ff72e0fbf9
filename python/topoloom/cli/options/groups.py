# SPDX-License-Identifier: BSD-3-Clause
"""Groups of options that a verb receives as a single parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, get_type_hints

Result = TypeVar("Result")


def flatten_option_groups(verb: Callable[..., Result]) -> Callable[..., Result]:
    """Replace each parameter of `verb` whose type is a NamedTuple by that type's
    fields.

    `make_command` turns the fields into options; `verb` still receives one value.
    """
    hints = get_type_hints(verb, include_extras=True)
    groups: dict[str, Any] = {}
    flat: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(verb).parameters.items():
        group = hints[name]
        if not hasattr(group, "_fields"):
            fields = {name: (hints[name], parameter.default)}
        else:
            groups[name] = group
            annotations = get_type_hints(group, include_extras=True)
            fields = {
                field: (annotations[field], group._field_defaults[field])
                for field in group._fields
            }
        for field, (annotation, default) in fields.items():
            kind = inspect.Parameter.KEYWORD_ONLY
            flat.append(
                inspect.Parameter(field, kind, default=default, annotation=annotation)
            )

    @wraps(verb)
    def flat_verb(**values: Any) -> Result:
        for name, group in groups.items():
            values[name] = group(
                **{field: values.pop(field) for field in group._fields}
            )
        return verb(**values)

    flat_verb.__annotations__ = {one.name: one.annotation for one in flat}
    flat_verb.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    del flat_verb.__wrapped__
    return flat_verb
