# SPDX-License-Identifier: BSD-3-Clause
"""Reads expert routing: loads by layer and expert, and the experts of tokens.

A table (``.csv``) has a line per layer and a column per expert. SGLang's JSON has
``logical_count``. NumPy's ``.npz`` has ``topk_ids``, ``loads``, or both.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom._core import Error
from topoloom.support.files import prefix_errors, read_bytes, read_text
from topoloom.support.json_values import parse_json
from topoloom.support.npz_archive import open_archive
from topoloom.support.units import counted

#: Names of the arrays that are read.
_ARRAYS = ("loads", "topk_ids")


class ExpertRouting(NamedTuple):
    """The load of each expert, and the experts of each token.

    Attributes
    ----------
    loads : float64 array of shape ``(layers, experts)``
        Tokens of each expert; all zero for layers without experts.
    topk_ids : int64 array of shape ``(layers, tokens, per_token)``, or None
        Experts of each token, -1 for none.
    is_counted
        Whether `loads` was computed from `topk_ids` instead of recorded separately.
    """

    loads: NDArray[np.float64]
    topk_ids: NDArray[np.int64] | None = None
    is_counted: bool = False

    @property
    def layers(self) -> NDArray[np.int64]:
        """The numbers of the layers that have experts."""
        return np.flatnonzero(self.loads.sum(axis=1) > 0)

    def select_half(self, first: int) -> NDArray[np.int64] | None:
        """Return every second token of the layers with experts, one row per token."""
        if self.topk_ids is None:
            return None
        part = self.topk_ids[self.layers, first::2]
        return part.reshape(-1, part.shape[2])

    @property
    def search_loads(self) -> NDArray[np.float64]:
        """The loads for a search; excludes tokens in ``select_half(1)``."""
        return self._count_choices(0) if self.is_counted else self.loads[self.layers]

    @property
    def evaluation_loads(self) -> NDArray[np.float64]:
        """The loads for evaluation: loads of the tokens in ``select_half(1)``."""
        return (
            self.loads[self.layers] if self.topk_ids is None else self._count_choices(1)
        )

    def sample_layers(self, count: int) -> ExpertRouting:
        """Select up to `count` evenly spaced layers with experts."""
        layers = self.layers
        at = np.linspace(0, len(layers) - 1, min(count, len(layers))).astype(np.int64)
        part = layers[at]
        tokens = None if self.topk_ids is None else self.topk_ids[part]
        return self._replace(loads=self.loads[part], topk_ids=tokens)

    @property
    def repeated_choices(self) -> int:
        """The number of tokens that list an expert twice, summed over all layers."""
        if self.topk_ids is None:
            return 0
        ordered = np.sort(self.topk_ids, axis=2)
        again = (ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0)
        return int(again.any(axis=2).sum())

    def _count_choices(self, first: int) -> NDArray[np.float64]:
        """Count how often each expert is chosen, by every second token."""
        assert self.topk_ids is not None
        return _count_tokens(self.topk_ids[self.layers, first::2], self.loads.shape[1])


def read_routing(path: str | Path) -> ExpertRouting:
    """Read loads, and tokens if the file contains tokens.

    Raises
    ------
    Error
        If a format or the shape of an array is unknown, a load is negative or infinite,
        an expert is unknown, or all loads are 0.
    """
    path = Path(path)
    with prefix_errors(path):
        if path.suffix in (".npz", ".npy"):
            found = _make_routing(_load_arrays(path))
        elif path.suffix == ".json":
            found = ExpertRouting(_read_logical_counts(parse_json(read_text(path))))
        else:
            found = ExpertRouting(_parse_table(read_text(path)))
        return _check_routing(found)


def _parse_table(text: str) -> NDArray[np.float64]:
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        row = line.partition("#")[0]
        words = row.split("," if "," in row else None)  # float() strips blanks
        if not row.strip():
            continue
        try:
            rows.append([float(word) for word in words])
        except ValueError:
            raise Error(
                f"line {number}: expected the loads of a layer's experts: numbers, "
                "separated by commas or blanks"
            ) from None
        if len(rows[-1]) != len(rows[0]):
            raise Error(
                f"line {number}: {counted(len(rows[-1]), 'expert')}, but "
                f"{len(rows[0])} before"
            )
    if not rows:
        raise Error("has no layers; give one per line")
    return np.array(rows, np.float64)


def _read_logical_counts(document: Any) -> NDArray[np.float64]:
    if not isinstance(document, dict) or "logical_count" not in document:
        raise Error("no 'logical_count', which SGLang's recorder writes")
    try:
        counts = np.array(document["logical_count"], np.float64)
    except (ValueError, TypeError):
        raise Error("logical_count is not an array of numbers") from None
    return _sum_steps(counts, "logical_count")


def _sum_steps(counts: NDArray[Any], what: str) -> NDArray[np.float64]:
    """Sum an array over its leading axis of steps, if it has one."""
    if counts.ndim == 3:
        with np.errstate(over="ignore"):
            counts = counts.sum(axis=0)
    if counts.ndim != 2 or 0 in counts.shape:
        raise Error(
            f"{what} has the shape {counts.shape}; expected (layers, experts), or "
            "(steps, layers, experts)"
        )
    return counts.astype(np.float64)


def _load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    # Read the whole file at once, because it may be replaced meanwhile.
    stream = io.BytesIO(read_bytes(path))
    try:
        found = open_archive(path, stream)
        if isinstance(found, np.ndarray):
            return {"loads": found}
        with found as archive:
            used = {name: archive[name] for name in archive if name in _ARRAYS}
            names = sorted(archive)
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error):
        raise Error("neither text nor complete arrays of NumPy") from None
    if not used:
        raise Error(
            f"has {', '.join(names) or 'no arrays'}; expected 'loads' of shape "
            "(layers, experts), or 'topk_ids' (layers, tokens, experts chosen)"
        )
    return used


def _make_routing(given: dict[str, NDArray[Any]]) -> ExpertRouting:
    for name, array in given.items():
        if array.dtype.kind not in "iuf":
            raise Error(f"{name} is not an array of numbers, but of {array.dtype}")
    tokens = _parse_tokens(given["topk_ids"]) if "topk_ids" in given else None
    if "loads" in given:
        return ExpertRouting(_sum_steps(given["loads"], "loads"), tokens)
    assert tokens is not None
    experts = int(tokens.max()) + 1
    if tokens.min() < -1 or experts > 1 << 20:
        raise Error("topk_ids is out of range: expected 0 to 2^20 - 1, or -1 for none")
    return ExpertRouting(_count_tokens(tokens, experts), tokens, is_counted=True)


def _count_tokens(tokens: NDArray[np.int64], experts: int) -> NDArray[np.float64]:
    rows = [np.bincount(row[row >= 0], minlength=experts) for row in tokens]
    return np.stack(rows).astype(np.float64)


def _parse_tokens(ids: NDArray[Any]) -> NDArray[np.int64]:
    if ids.ndim != 3 or 0 in ids.shape:
        raise Error(
            f"topk_ids has the shape {ids.shape}; expected (layers, tokens, experts "
            "chosen)"
        )
    if ids.dtype.kind == "f":
        raise Error("topk_ids contains fractions; expected expert numbers")
    kept = (ids >= 0).any(axis=(0, 2))
    if kept.sum() < 2:
        raise Error("topk_ids has fewer than two tokens that choose an expert")
    return ids[:, kept].astype(np.int64)


def _check_routing(routing: ExpertRouting) -> ExpertRouting:
    loads, ids, _ = routing
    if len(bad := np.argwhere(~(np.isfinite(loads) & (loads >= 0)))):
        layer, expert = bad[0]
        raise Error(
            f"layer {layer}, expert {expert} has the load {loads[layer, expert]:g}; "
            "loads are finite numbers of 0 or more"
        )
    with np.errstate(over="ignore"):
        sums = loads.sum(axis=1)
    if not np.isfinite(sums).all():
        raise Error(
            f"the loads of layer {int(np.argmin(np.isfinite(sums)))} exceed a 64-bit "
            "float in sum; scale all loads down"
        )
    if not len(routing.layers):
        raise Error("no layer has a load")
    if ids is not None:
        if len(ids) != len(loads):
            raise Error(f"loads of {len(loads)} layers, topk_ids of {len(ids)}")
        if ids.min() < -1 or ids.max() >= loads.shape[1]:
            raise Error(
                f"topk_ids range from {ids.min()} to {ids.max()}; expected 0 to "
                f"{loads.shape[1] - 1}, or -1 for none"
            )
    return routing
