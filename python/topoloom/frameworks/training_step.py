# SPDX-License-Identifier: BSD-3-Clause
"""Training steps by model name, and the checks that a job fits a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import NamedTuple

from topoloom._core import Error
from topoloom.frameworks.job import Job
from topoloom.frameworks.megatron import MegatronJob
from topoloom.frameworks.traffic_rules import (
    ELEMENT_BYTES,
    DataTypes,
    find_traffic_rules,
)
from topoloom.frameworks.transformer_model import MODELS, Model
from topoloom.frameworks.transformer_traffic import count_traffic
from topoloom.graphs.axes import Traffic
from topoloom.support.name_lookup import describe_unknown_name

#: Keys of a step that are not dimensions of the model.
STEP_KEYS = ("sequence", "batches", *DataTypes._fields)

#: First release of Megatron-Core in which tp may exceed the heads of keys and values.
_SPLIT_HEADS_SINCE = (0, 16)


class TrainingStep(NamedTuple):
    """A training step of a model, which may run on any mesh.

    Attributes
    ----------
    model
        Dimensions of the transformer.
    sequence
        Number of tokens per sequence.
    batches
        Number of micro-batches per rank, with one sequence each.
    types
        Data types that replace the defaults of the framework, by field of `DataTypes`.
    """

    model: Model
    sequence: int
    batches: int
    types: Mapping[str, str] = {}

    def traffic(self, job: Mapping[str, int] | Job) -> list[Traffic]:
        """Compute a rank's traffic along the axes of a framework's job or of a mesh.

        Raises
        ------
        topoloom.Error
            If an axis size does not divide the model or sequence.
        """
        axes = job if isinstance(job, Mapping) else job.axes
        _check_sizes(self, axes)
        if isinstance(job, MegatronJob):
            _check_key_heads(self.model, job)
        rules = find_traffic_rules(job)
        rules = replace(rules, types=rules.types._replace(**self.types))
        return count_traffic(self.model, axes, self.sequence, self.batches, rules)


def parse_step(text: str) -> TrainingStep:
    """Parse a model name or dimensions: ``qwen3-235b-a22b,sequence=32768,batches=16``.

    Data types are keys, too: ``llama-3.1-405b,gradients=bf16``.

    Raises
    ------
    topoloom.Error
        If a word or model is unknown, or a dimension is missing.
    """
    words = [word.strip() for word in text.split(",")]
    known = {name.lower().replace(" ", "-"): model for name, model in MODELS.items()}
    sizes: dict[str, int] = {"sequence": 4096, "batches": 8}
    types: dict[str, str] = {}
    own = [field.name for field in fields(Model)]
    chosen: Model | None = None
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            if word.lower() not in known:
                raise Error(describe_unknown_name("model", word, known))
            chosen = known[word.lower()]
        elif key in DataTypes._fields:
            types[key] = _parse_type(key, value)
        elif key not in (*sizes, *own):
            raise Error(describe_unknown_name("dimension", key, [*STEP_KEYS, *own]))
        elif not re.fullmatch("[1-9][0-9]{0,11}", value):
            raise Error(f"{key} must be an integer of 1 or more, not '{value}'")
        else:
            sizes[key] = int(value)
    given = {name: sizes[name] for name in own if name in sizes}
    model = _make_model(text, chosen, given, list(known))
    return TrainingStep(model, sizes["sequence"], sizes["batches"], types)


def _make_model(
    text: str, chosen: Model | None, given: Mapping[str, int], known: list[str]
) -> Model:
    if chosen is not None:
        return replace(chosen, **given)
    own = [field.name for field in fields(Model)]
    missing = [name for name in own[:6] if name not in given]
    if missing:
        raise Error(
            f"the model '{text}' lacks {', '.join(missing)}; or name one of "
            f"{', '.join(known)}"
        )
    return Model(**given)


def _parse_type(key: str, text: str) -> str:
    """Parse the data type of a key; no framework reduces gradients in fp8."""
    allowed = [name for name in ELEMENT_BYTES if key != "gradients" or name != "fp8"]
    if text not in allowed:
        raise Error(f"{key} must be one of {', '.join(allowed)}, not '{text}'")
    return text


def _check_sizes(step: TrainingStep, axes: Mapping[str, int]) -> None:
    """Raise an error if the size of an axis does not divide the model or sequence."""
    model = step.model
    tp, cp, ep, pp = (axes.get(axis, 1) for axis in ("tp", "cp", "ep", "pp"))
    if ep > 1 and model.experts == 1:
        raise Error(f"ep is {ep}, but the model has no experts")
    if ep > model.experts:
        raise Error(f"ep is {ep}, but the model has {model.experts} experts per layer")
    if model.heads % tp:
        raise Error(
            f"tp is {tp}, which does not divide the {model.heads} attention heads "
            "of the model"
        )
    if pp > model.layers:
        raise Error(f"pp is {pp}, but the model has {model.layers} layers")
    if step.sequence % cp:
        raise Error(
            f"cp is {cp}, which does not divide the sequence of {step.sequence} tokens"
        )


def _check_key_heads(model: Model, job: MegatronJob) -> None:
    """Raise an error if Megatron cannot split the heads of keys and values over tp."""
    if model.kv_heads % job.tp == 0:
        return
    if job.release < _SPLIT_HEADS_SINCE:
        raise Error(
            f"tp is {job.tp}, which does not divide the {model.kv_heads} heads of keys "
            "and values; Megatron-Core requires this until 0.16"
        )
    if job.tp % model.kv_heads:
        raise Error(
            f"tp is {job.tp}, but must divide the {model.kv_heads} heads of keys and "
            "values of the model, or be a multiple of them"
        )
