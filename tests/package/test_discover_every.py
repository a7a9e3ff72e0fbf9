# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every importer: it knows its own files, and no text breaks it."""

from __future__ import annotations

import string

import pytest
from fat_tree_dump import fat_tree
from hypothesis import given, settings
from hypothesis import strategies as st
from test_discover_cloud import AWS, GOOGLE, ORACLE
from test_discover_hwloc import VIRTUAL, Fake
from test_discover_ibnetdiscover import CAPTURE
from test_discover_nccl import HGX, LOPSIDED, PCI_ONLY, RING
from test_discover_scotch import READ as TARGETS
from test_discover_simgrid import READ as PLATFORMS
from test_discover_slingshot import BARE, CARDS, SWITCHES, XNAMES
from test_discover_slurm import (
    ADDRESSES,
    BLOCKS,
    PRINTED,
    PRINTED_BLOCKS,
    REGIONS,
    TORUS,
    TREE,
    YAML,
)
from test_discover_tofu import HOSTS, RANKS
from test_discover_xtdb2proc import XC, XE
from test_discover_xtprocadmin import HEAD, cabinets

from topoloom import Error, Machine
from topoloom.discover.importers import IMPORTERS

#: importer -> texts in its format
SAMPLES = {
    "hwloc": [VIRTUAL, Fake([("Package", 2), ("L3Cache", 2), ("Core", 2)]).xml()],
    "slurm-conf": [TREE, PRINTED, BLOCKS, PRINTED_BLOCKS],
    "slurm-yaml": [YAML, TORUS, REGIONS],
    "slurm-address": [ADDRESSES],
    "ibnetdiscover": [CAPTURE, CAPTURE + fat_tree(1, 1, 2, 1, 1).tables()],
    "xtprocadmin": [HEAD + "".join(cabinets(3, chassis=2, blades=2))],
    "xtdb2proc": [XE, XC],
    "slingshot": [CARDS, XNAMES, BARE, SWITCHES],
    "tofu": [HOSTS, RANKS],
    "nccl": [HGX, PCI_ONLY, RING, LOPSIDED],
    "aws": [AWS],
    "google": [GOOGLE],
    "oracle": [ORACLE],
    "scotch": [target for target, _ in TARGETS],
    "simgrid": [platform for platform, _ in PLATFORMS],
}
READERS = {importer.name: importer.read for importer in IMPORTERS}
_PIECES = st.text(string.printable + "\0\u00e9\u0665\ud800", max_size=4)


@st.composite
def mutated(draw: st.DrawFn, texts: list[str]) -> str:
    """Cut, double or overwrite pieces of one of the texts."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 40)))
        middle = draw(_PIECES | st.just(text[start:end] * 2))
        text = text[:start] + middle + text[end:]
    return text


def test_every_importer_is_there_once_and_has_samples() -> None:
    assert [importer.name for importer in IMPORTERS] == list(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_text_is_taken_by_its_importer_only(name: str) -> None:
    for text in SAMPLES[name]:
        assert [one.name for one in IMPORTERS if one.recognizes(text)] == [name]


@pytest.mark.parametrize("name", SAMPLES)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_broken_text_is_read_or_refused_by_line(
    name: str, data: st.DataObject
) -> None:
    text = data.draw(mutated(SAMPLES[name]))
    complaint = ""
    try:
        described = READERS[name](text)
    except Error as error:
        complaint = str(error)
    if complaint:
        assert complaint.startswith("line ")
    elif described.hosts:
        assert Machine(described.text).node_count == len(described.hosts)
