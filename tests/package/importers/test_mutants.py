# SPDX-License-Identifier: BSD-3-Clause
"""Importers notice one damaged part of a file; `make fuzz-mutants` tries them all."""

from __future__ import annotations

import itertools

import pytest
from mutants import is_noticed, list_mutants
from test_all_importers import SAMPLES

from topoloom.machines.import_formats import IMPORTERS, Importer

#: Mutants of a sample, and samples of a format.
MUTANTS, MOST_SAMPLES = 12, 3


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
def test_importers_notice_a_damaged_part(importer: Importer) -> None:
    for text in SAMPLES[importer.name][:MOST_SAMPLES]:
        for mutant in itertools.islice(list_mutants(importer.name, text), MUTANTS):
            assert is_noticed(importer, text, mutant.text), mutant.damage
