# SPDX-License-Identifier: BSD-3-Clause
"""Packs arrays and texts for a page by filtering, deflating and base64 encoding.

The filters are those of HDF5: first delta encoding, if it makes the data smaller, then
byte shuffling. `assets/pack.js` unpacks the arrays.
"""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from topoloom.figure.links import Array

_TYPES = {"u1": "Uint8", "u2": "Uint16", "u4": "Uint32", "f4": "Float32"}


class PackedArrays:
    """A set of named arrays, each deflated separately."""

    def __init__(self) -> None:
        self.index: dict[str, dict[str, Any]] = {}
        self._parts: list[bytes] = []

    @property
    def size(self) -> int:
        """Total length of the encoded arrays in characters."""
        return sum(4 * -(-len(part) // 3) for part in self._parts)

    def add_integers(self, name: str, values: Array) -> None:
        """Add integers from 0 to 2^32 - 1, in as few bytes as the largest requires."""
        largest = int(values.max(initial=0))
        kind = "u1" if largest < 2**8 else "u2" if largest < 2**16 else "u4"
        self._add_array(name, np.ascontiguousarray(values).astype("<" + kind), kind)

    def add_numbers(self, name: str, values: Array) -> None:
        """Add numbers, rounded to five digits; integers up to 2^17 are exact."""
        bits = np.ascontiguousarray(values).astype("<f4").view("<u4")
        self._add_array(name, ((bits + 0x40) & 0xFFFFFF80).view("<f4"), "f4")

    def add_strings(self, name: str, lines: list[str]) -> None:
        """Add strings without line breaks; unencodable characters become ``?``."""
        text = "\n".join(line.replace("\n", " ") for line in lines)
        data = np.frombuffer(text.encode(errors="replace"), dtype=np.uint8)
        self._store_part(
            name, zlib.compress(data.tobytes(), 9), "text", len(data), False
        )

    def format_html(self) -> str:
        """Format all arrays as HTML elements of the page."""
        return "".join(base64.b64encode(part).decode() for part in self._parts)

    def _add_array(self, name: str, values: Array, kind: str) -> None:
        values = values.reshape(-1)
        plain = zlib.compress(_split_bytes(values), 6)
        bits = values.view("<u4") if kind == "f4" else values
        steps = np.diff(bits, prepend=bits[:1] * 0)
        stepped = zlib.compress(_split_bytes(steps), 6)
        shorter = min(plain, stepped, key=len)
        self._store_part(name, shorter, _TYPES[kind], len(values), shorter is stepped)

    def _store_part(
        self, name: str, part: bytes, kind: str, count: int, steps: bool
    ) -> None:
        at = self.size
        self._parts.append(part)
        self.index[name] = {
            "type": kind,
            "count": count,
            "at": at,
            "end": self.size,
            "steps": steps,
        }


def _split_bytes(values: Array) -> bytes:
    data = values.view(np.uint8).reshape(len(values), values.itemsize)
    return np.ascontiguousarray(data.T).tobytes()
