# SPDX-License-Identifier: BSD-3-Clause
"""The registry of formats that describe machines; a new one: a file and a line here."""

from __future__ import annotations

from topoloom.discover.described import Importer

IMPORTERS: tuple[Importer, ...] = ()
