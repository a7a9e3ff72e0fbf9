# SPDX-License-Identifier: BSD-3-Clause
"""Proof that the ranks of a running program are where a placement puts them."""

from __future__ import annotations

from topoloom.preload.verify.proof import Proof, Seen
from topoloom.preload.verify.witness import Witness

__all__ = ["Proof", "Seen", "Witness"]
