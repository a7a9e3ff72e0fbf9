# SPDX-License-Identifier: BSD-3-Clause
"""Fits models to files of measured times, and predicts times with models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from topoloom._core import NetworkModel
from topoloom.model.channels import PairCurves, make_pair_curve
from topoloom.model.fit import Fit, fit_model, fit_split
from topoloom.model.model_toml import ModelFile
from topoloom.model.samples import read_pairs, read_pings
from topoloom.support.files import prefix_errors
from topoloom.support.parameter_error import check_int64

if TYPE_CHECKING:
    from topoloom.documents.models import ModelFitDocument


@dataclass(frozen=True)
class FittedModel:
    """A model fitted to the times in a file, and its errors."""

    file: ModelFile
    fit: Fit

    def document(self) -> ModelFitDocument:
        """Make the output of ``--json``."""
        fit, errors = self.fit, np.abs(self.fit.errors)
        samples = zip(fit.sizes, fit.measured, fit.predicted, strict=True)
        return {
            **self.file.document(),
            "worst_error": float(errors.max()),
            "mean_error": float(errors.mean()),
            "sizes": [
                {
                    "bytes": int(size),
                    "measured_seconds": measured,
                    "predicted_seconds": predicted,
                }
                for size, measured, predicted in samples
            ],
        }


@dataclass(frozen=True)
class MessageTime:
    """Seconds until a message arrives, and CPU seconds of sender and receiver."""

    bytes: int
    seconds: float
    arrival_seconds: float
    cpu_seconds: float


def fit_file(
    pings: str | Path, *, round_trip: bool = False, split: int | None = None
) -> FittedModel:
    """Fit a model to sizes and times; with `split`, by `fit_split`."""
    path = Path(pings)
    sizes, times = read_pings(path)
    one_way = times / 2 if round_trip else times
    with prefix_errors(path):
        if split is None:
            fit = fit_model(sizes, one_way)
        else:
            fit = fit_split(sizes, one_way, split)
    summary = f"fitted to {len(sizes)} times of {len(fit.sizes)} sizes"
    source = f"{path.name}, by topoloom model fit"
    return FittedModel(ModelFile(fit.model, path.stem, summary, source), fit)


def load_pair_curves(
    pairs: str | Path, size: int, *, round_trip: bool = False
) -> PairCurves:
    """Read times of pairs that exchange messages of `size` bytes concurrently.

    The result has one curve per pattern in the file, or a single unnamed curve.
    """
    check_int64("size", size, 1)
    counts, times, runs, patterns = read_pairs(pairs)
    one_way = times / 2 if round_trip else times
    names = np.array([""] * len(counts) if patterns is None else patterns)
    curves = {}
    for name in dict.fromkeys(names.tolist()):
        of = np.flatnonzero(names == name)
        runs_of = None if runs is None else [runs[sample] for sample in of]
        with prefix_errors(f"{pairs}: {name}" if name else pairs):
            curves[name] = make_pair_curve(counts[of], one_way[of], size, runs_of)
    return PairCurves(curves)


def predict_times(
    model: NetworkModel, sizes: Sequence[int], processes: int = 1
) -> list[MessageTime]:
    """Predict message times if `processes` processes of a node send concurrently."""
    check_int64("processes", processes, 1)
    times = []
    for size in dict.fromkeys(sizes):
        time = model.time(size, processes)
        times.append(
            MessageTime(size, time, model.latency(size) + time, model.cpu(size))
        )
    return times
