# SPDX-License-Identifier: BSD-3-Clause
"""Training steps by model name, and the checks that a job fits a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from topoloom._core import Error
from topoloom.frameworks.expert_exchange import DISPATCHERS, ExpertExchange
from topoloom.frameworks.job import Job
from topoloom.frameworks.megatron import MegatronJob
from topoloom.frameworks.model_config import read_model_config
from topoloom.frameworks.named_models import MODELS
from topoloom.frameworks.traffic_rules import (
    ELEMENT_BYTES,
    DataTypes,
    find_traffic_rules,
)
from topoloom.frameworks.transformer_model import Model
from topoloom.frameworks.transformer_traffic import count_traffic
from topoloom.graphs.axes import Traffic
from topoloom.support.name_lookup import describe_unknown_name

#: Keys of a step that are not dimensions of the model.
STEP_KEYS = ("sequence", "batches", *DataTypes._fields, *ExpertExchange._fields)

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
    exchange
        How tokens travel to experts.
    """

    model: Model
    sequence: int
    batches: int
    types: Mapping[str, str] = {}
    exchange: ExpertExchange = ExpertExchange()

    def traffic(self, job: Mapping[str, int] | Job) -> list[Traffic]:
        """Compute a rank's traffic along the axes of a framework's job or of a mesh.

        Raises
        ------
        topoloom.Error
            If an axis size does not divide the model or sequence.
        """
        axes = job if isinstance(job, Mapping) else job.axes
        self.check(job)
        rules = find_traffic_rules(job)
        if self.model.kv_rank and rules.embedding is None and axes.get("tp", 1) > 1:
            raise Error(
                "DeepSpeed's AutoTP of latent attention is not known; use tp=1 or "
                "--traffic"
            )
        rules = replace(rules, types=rules.types._replace(**self.types))
        return count_traffic(
            self.model, axes, self.sequence, self.batches, rules, self.exchange
        )

    def check(self, job: Mapping[str, int] | Job) -> None:
        """Raise `topoloom.Error` if an axis size does not divide model or sequence."""
        _check_sizes(self, job if isinstance(job, Mapping) else job.axes)
        if isinstance(job, MegatronJob):
            _check_key_heads(self.model, job)


def parse_step(text: str) -> TrainingStep:
    """Parse a model and dimensions: ``qwen3-235b-a22b,sequence=32768,batches=16``.

    A model is a name or a ``config.json``; dimensions replace its own. Data types are
    keys, too: ``llama-3.1-405b,gradients=bf16``.

    Raises
    ------
    OSError
        If a file cannot be read.
    topoloom.Error
        If a word or model is unknown, or a dimension is missing or impossible.
    """
    words = [word.strip() for word in text.split(",")]
    known = {name.lower().replace(" ", "-"): model for name, model in MODELS.items()}
    sizes: dict[str, int] = {"sequence": 4096, "batches": 8}
    types: dict[str, str] = {}
    exchange: dict[str, Any] = {}
    own = [field.name for field in fields(Model)]
    optional = [field.name for field in fields(Model) if field.default == 0]
    chosen: Model | None = None
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            chosen = _find_model(word, known)
        elif key in DataTypes._fields:
            types[key] = _parse_type(key, value)
        elif key in ExpertExchange._fields:
            exchange[key] = _parse_exchange(key, value)
        elif key not in (*sizes, *own):
            raise Error(describe_unknown_name("dimension", key, [*STEP_KEYS, *own]))
        elif value == "0" and key in optional:
            sizes[key] = 0
        elif not re.fullmatch("[1-9][0-9]{0,11}", value):
            raise Error(f"{key} must be an integer of 1 or more, not '{value}'")
        else:
            sizes[key] = int(value)
    given = {name: sizes[name] for name in own if name in sizes}
    model = _make_model(text, chosen, given, list(known))
    _check_exchange(exchange, model)
    return TrainingStep(
        model, sizes["sequence"], sizes["batches"], types, ExpertExchange(**exchange)
    )


def _find_model(word: str, known: Mapping[str, Model]) -> Model:
    """Find a model by name, or read its configuration file."""
    if word.lower() in known:
        return known[word.lower()]
    if word.endswith(".json") or "/" in word:
        return read_model_config(Path(word))
    raise Error(
        f"{describe_unknown_name('model', word, known)}; the path of a file "
        "ends with .json or contains '/'"
    )


def _make_model(
    text: str, chosen: Model | None, given: Mapping[str, int], known: list[str]
) -> Model:
    if chosen is not None:
        return _check_model(replace(chosen, **given))
    own = [field.name for field in fields(Model)]
    missing = [name for name in own[:6] if name not in given]
    if missing:
        raise Error(
            f"the model '{text}' lacks {', '.join(missing)}; or name one of "
            f"{', '.join(known)}"
        )
    return _check_model(Model(**given))


def _check_model(model: Model) -> Model:
    """Raise an error if dimensions contradict each other."""
    if model.dense_layers > model.layers:
        raise Error(
            f"dense_layers is {model.dense_layers}, but the model has "
            f"{model.layers} layers"
        )
    for name in ("shared", "dense_layers", "dense_ffn"):
        if model.experts == 1 and getattr(model, name):
            raise Error(f"{name} requires a model with experts; add experts=")
    if model.dense_layers and not model.dense_ffn:
        raise Error("dense_layers requires their feed-forward size; add dense_ffn=")
    if model.kv_rank and not model.value_size:
        raise Error("kv_rank requires the size of a head's value; add value_size=")
    for name in ("q_rank", "rope_size", "value_size"):
        if getattr(model, name) and not model.kv_rank:
            raise Error(f"{name} requires latent attention; add kv_rank=")
    return model


def _parse_type(key: str, text: str) -> str:
    """Parse the data type of a key; no framework reduces gradients in fp8."""
    allowed = [name for name in ELEMENT_BYTES if key != "gradients" or name != "fp8"]
    if text not in allowed:
        raise Error(f"{key} must be one of {', '.join(allowed)}, not '{text}'")
    return text


def _parse_exchange(key: str, text: str) -> str | float:
    """Parse the value of a field of `ExpertExchange`."""
    if key == "dispatcher":
        if text not in DISPATCHERS:
            raise Error(describe_unknown_name("dispatcher", text, DISPATCHERS))
        return text
    if key in ("dispatch", "combine"):
        return ELEMENT_BYTES[_parse_type(key, text)]
    if key == "node" and re.fullmatch("[1-9][0-9]{0,3}", text):
        return int(text)
    if key == "visits" and re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,9})?", text):
        return float(text)
    kind = "an integer of 1 or more" if key == "node" else "a number such as 3.5"
    raise Error(f"{key} must be {kind}, not '{text}'")


def _check_exchange(exchange: Mapping[str, Any], model: Model) -> None:
    """Raise an error if keys of the exchange of tokens have no effect."""
    for key in exchange:
        if model.experts == 1:
            raise Error(f"{key} requires a model with experts")
        if key in ("visits", "node") and exchange.get("dispatcher") != "deepep":
            raise Error(f"{key} requires dispatcher=deepep")


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
