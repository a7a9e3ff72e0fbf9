# SPDX-License-Identifier: BSD-3-Clause
"""Notebook output of machines, graphs, judgements and placements."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
import zlib
from typing import Any

import numpy as np
import pytest

import topoloom

NASTY = "</div><script>alert(1)</script>"


def make_values() -> dict[str, Any]:
    graph = topoloom.graphs.stencil([4, 4], points=5, bytes=1000)
    machine = topoloom.Machine("torus:4x4x2")
    allocation = topoloom.Allocation.whole(machine)
    placement = topoloom.place(graph, allocation).placement
    judgement = topoloom.judge(graph, allocation, placement)
    values = {"hop_bytes": 1234567, NASTY: 1}
    file = topoloom.PlacementFile(
        machine, allocation, placement, values=values, mapper=NASTY, graph=NASTY
    )
    return {"graph": graph, "machine": machine, "judgement": judgement, "file": file}


@pytest.mark.parametrize("kind", ["graph", "machine", "judgement", "file"])
def test_notebooks_get_a_well_formed_fragment_without_scripts(kind: str) -> None:
    shown = make_values()[kind]._repr_html_()
    tree = ET.fromstring(re.sub(r"(<img[^>]*)>", r"\1/>", shown))
    assert "script" not in {element.tag for element in tree.iter()}
    assert tree.find(".//table") is not None
    assert len(shown) < 60_000


def test_machines_show_cables_and_large_machines_only_facts() -> None:
    shown = make_values()["machine"]._repr_html_()
    # 4 x 4 x 2 without wraparound cables: 24 along x, 24 along y, 16 along z.
    assert shown.count("M") == 64
    assert shown.count("<circle") == 32
    large = topoloom.Machine("torus:64x64x64")._repr_html_()
    assert "<svg" not in large
    assert "262,144" in large


def test_a_graph_shows_its_matrix() -> None:
    graph = topoloom.graphs.ring(4, 10)
    found = re.search(r"base64,([^\"]*)", graph._repr_html_())
    assert found is not None
    png = base64.b64decode(found[1])
    packed = png[png.index(b"IDAT") + 4 : png.index(b"IEND") - 8]
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(4, 5)
    dark = lines[:, 1:] < 255
    assert (dark == (np.eye(4, k=1) + np.eye(4, k=-3)).astype(bool)).all()


def test_a_judgement_shows_its_measures_and_every_loaded_link() -> None:
    judgement = make_values()["judgement"]
    shown = judgement._repr_html_()
    assert f"{judgement.hop_bytes:,}" in shown
    counts = re.findall(r"<title>links: (\d+) link", shown)
    assert sum(map(int, counts)) == np.count_nonzero(judgement.loads)
