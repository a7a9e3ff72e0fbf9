# SPDX-License-Identifier: BSD-3-Clause
"""Named assignments of eight threads to a ring bus."""

from __future__ import annotations

from topoloom._core import named_affinities

#: Named assignments: a summary, and the element of every thread.
NAMED = {name: (what, tuple(at)) for name, what, at in named_affinities()}
RANDOM = "random"
RANDOM_SUMMARY = "what a runtime may do by default: any; several are drawn"
