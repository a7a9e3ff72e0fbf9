# SPDX-License-Identifier: BSD-3-Clause
"""Communication graphs as ``.npz`` files, which `scipy.sparse.load_npz` can read.

``format``, ``shape``, ``indptr``, ``indices`` and ``data`` (bytes) are SciPy's arrays.
Topoloom adds ``messages``, ``load``, ``self_bytes``, ``self_messages``,
``topoloom_format``, ``topoloom_version``, and, if some ranks stand for others,
``proxied``. Extra arrays are ``phase*`` and ``profile_*``; others are not read.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph, Error
from topoloom.support.files import open_atomically, open_regular, prefix_errors
from topoloom.support.npz_archive import Archive, open_archive

FORMAT = "topoloom-graph"
VERSION = 1
_GRAPH_ARRAYS = {
    "format",
    "shape",
    "indptr",
    "indices",
    "data",
    "messages",
    "load",
    "self_bytes",
    "self_messages",
    "proxied",
    "topoloom_format",
    "topoloom_version",
}
_EXTRA_PREFIXES = ("phase", "profile_")
#: Limits on ranks: that of the text formats, and for the rows of small files.
_MAX_RANKS, _MIN_RANKS = 1 << 26, 1 << 18
_Arrays = dict[str, NDArray[Any]]


def save_npz(
    path: str | Path, graph: CommGraph, extra: Mapping[str, Any] | None = None
) -> None:
    """Write a graph; `extra` contains further arrays by name."""
    extra = dict(extra or {})
    if clash := _GRAPH_ARRAYS.intersection(extra):
        raise Error(f"extra arrays must not be called {', '.join(sorted(clash))}")
    arrays: dict[str, Any] = {
        "format": np.array(b"csr"),
        "shape": np.array([graph.rank_count, graph.rank_count], dtype=np.int64),
        "indptr": np.asarray(graph.first).astype(np.int64),
        "indices": np.asarray(graph.peer).astype(np.int32),
        "data": np.asarray(graph.bytes),
        "messages": np.asarray(graph.messages),
        "load": np.asarray(graph.load),
        "self_bytes": np.asarray(graph.self_bytes),
        "self_messages": np.asarray(graph.self_messages),
        "topoloom_format": np.array(FORMAT),
        "topoloom_version": np.array(VERSION),
    }
    if len(proxied := np.asarray(graph.proxied)):
        arrays["proxied"] = proxied.astype(np.int64)
    arrays.update({name: np.asarray(value) for name, value in extra.items()})
    with open_atomically(path) as stream:
        np.savez(stream, **arrays)


def is_archive(path: str | Path) -> bool:
    """Return whether a file is an archive of NumPy arrays."""
    if Path(path).suffix == ".npz":
        return True
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as stream:
        return stream.read(2) == b"PK"


def load_npz(path: str | Path) -> tuple[CommGraph, _Arrays]:
    """Read a graph or a square SciPy matrix; also return extra arrays."""
    arrays = _read_arrays(path)
    with prefix_errors(path):
        is_graph = "topoloom_format" in arrays
        if is_graph:
            _check_format(arrays)
        if is_graph:
            graph = _make_topoloom_graph(arrays)
        else:
            most = _MIN_RANKS + Path(path).stat().st_size
            graph = _make_scipy_graph(arrays, min(most, _MAX_RANKS))
    return graph, {k: v for k, v in arrays.items() if k not in _GRAPH_ARRAYS}


def _read_arrays(path: str | Path) -> _Arrays:
    with open_regular(path) as stream:
        if not stream.read(1):
            raise Error(f"{path}: the file is empty")
    try:
        found = open_archive(path)
        if not isinstance(found, Archive):
            raise Error(f"{path}: not an .npz archive, but a single array")
        with found as archive:
            return {name: archive[name] for name in archive if _is_used(name)}
    except (
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        KeyError,
        EOFError,
        MemoryError,
        NotImplementedError,
        SyntaxError,
        TypeError,
        AttributeError,
    ) as error:
        if isinstance(error, Error):
            raise
        raise Error(f"{path}: not a readable .npz archive, or truncated") from None


def _is_used(name: str) -> bool:
    return name in _GRAPH_ARRAYS | {"row", "col"} or name.startswith(_EXTRA_PREFIXES)


def _check_format(arrays: _Arrays) -> None:
    found = str(arrays["topoloom_format"])
    if found != FORMAT:
        raise Error(f"holds '{found}', expected '{FORMAT}'")
    version = arrays.get("topoloom_version")
    if version is None or str(version) != str(VERSION):
        raise Error(
            f"{FORMAT} version {version}, but this Topoloom reads version {VERSION}"
        )


def _make_topoloom_graph(arrays: _Arrays) -> CommGraph:
    first = _convert_integers(arrays, "indptr")
    count = len(first) - 1
    shape = _convert_integers(arrays, "shape")
    if count < 1 or shape.tolist() != [count, count]:
        raise Error(f"shape {shape.tolist()} does not fit an indptr of {count + 1}")
    load = _get_array(arrays, "load")
    if load.dtype.kind != "f":
        raise Error("'load' must be an array of floating point numbers")
    peer = _convert_ids(_convert_integers(arrays, "indices"), count)
    _check_rows(first, peer)
    return CommGraph.from_csr(
        first.astype(np.uint64),
        peer,
        _convert_integers(arrays, "data"),
        _convert_integers(arrays, "messages"),
        load.astype(np.float64),
        _convert_integers(arrays, "self_bytes"),
        _convert_integers(arrays, "self_messages"),
        _read_proxied(arrays, count),
    )


def _read_proxied(arrays: _Arrays, count: int) -> NDArray[np.uint32] | None:
    if "proxied" not in arrays:
        return None
    ranks = _convert_integers(arrays, "proxied")
    if ranks.size and ranks.max() >= count:
        raise Error(
            f"'proxied' names rank {ranks.max()}, but ranks are 0 to {count - 1}"
        )
    return ranks.astype(np.uint32)


def _check_rows(first: NDArray[np.int64], peer: NDArray[np.uint32]) -> None:
    """Raise an error if rows are inconsistent, or peers are not ascending."""
    if first[0] != 0 or first[-1] != len(peer) or (np.diff(first) < 0).any():
        raise Error("'indptr' does not fit 'indices'")
    falls = np.flatnonzero(peer[1:] <= peer[:-1]) + 1
    wrong = falls[first[np.searchsorted(first, falls)] != falls]
    if len(wrong):
        rank = int(np.searchsorted(first, wrong[0], side="right")) - 1
        raise Error(f"rank {rank} names peer {peer[wrong[0]]} twice or out of order")


def _make_scipy_graph(arrays: _Arrays, max_ranks: int) -> CommGraph:
    shape = _convert_integers(arrays, "shape")
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 1:
        raise Error(f"shape {shape.tolist()} is not that of a square matrix")
    count = int(shape[0])
    if count > max_ranks:
        raise Error(f"{count} ranks; at most {max_ranks} fit a file of this size")
    kind = _get_array(arrays, "format").item()
    layout = kind.decode(errors="replace") if isinstance(kind, bytes) else str(kind)
    if layout == "coo":
        source, target = (
            _convert_integers(arrays, "row"),
            _convert_integers(arrays, "col"),
        )
    elif layout in ("csr", "csc"):
        first = _convert_integers(arrays, "indptr")
        target = _convert_integers(arrays, "indices")
        if len(first) != count + 1 or first[0] != 0 or first[-1] != len(target):
            raise Error("'indptr' does not fit 'shape' and 'indices'")
        if (np.diff(first) < 0).any():
            raise Error("'indptr' decreases")
        source = np.repeat(np.arange(count), np.diff(first))
    else:
        raise Error(f"sparse format '{layout}' cannot be read; save as csr, csc or coo")
    if layout == "csc":
        source, target = target, source
    data = _convert_integers(arrays, "data")
    if not len(source) == len(target) == len(data):
        raise Error("'data' and the indices differ in length")
    return CommGraph.from_edges(
        count, _convert_ids(source, count), _convert_ids(target, count), data
    )


def _get_array(arrays: _Arrays, name: str) -> NDArray[Any]:
    if name not in arrays:
        raise Error(f"has no array '{name}'")
    return arrays[name]


def _convert_integers(arrays: _Arrays, name: str) -> NDArray[np.int64]:
    """Convert to a one-dimensional int64 array; raise an error for negative numbers."""
    array = _get_array(arrays, name)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise Error(f"'{name}' must be a one-dimensional array of numbers")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise Error(f"'{name}' contains a number that is not finite")
    if array.size and array.min() < 0:
        where = int(np.argmax(array < 0))
        raise Error(f"'{name}[{where}]' is negative")
    if array.size and array.max() > np.iinfo(np.int64).max:
        raise Error(f"'{name}' contains a number over 2^63 - 1")
    whole = array.astype(np.int64)
    if array.dtype.kind == "f" and (whole != array).any():
        where = int(np.argmax(whole != array))
        raise Error(f"'{name}[{where}]' is {array[where]}, not an integer")
    return whole


def _convert_ids(ids: NDArray[np.int64], count: int) -> NDArray[np.uint32]:
    if ids.size and ids.max() >= count:
        where = int(np.argmax(ids))
        raise Error(
            f"edge {where} names rank {ids[where]}, but ranks are 0 to {count - 1}"
        )
    return ids.astype(np.uint32)
