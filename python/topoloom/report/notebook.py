# SPDX-License-Identifier: BSD-3-Clause
"""Shows objects in a notebook as a small table and a static image, without scripts."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from topoloom.machines.outline import outline
from topoloom.placements.measures import MEASURES, format_measures
from topoloom.report.histogram import HEIGHT, WIDTH, make_histogram
from topoloom.report.matrix import make_finest_level
from topoloom.report.scene import find_wrapping_links, make_scene
from topoloom.support.html_fragment import html_fragment, make_html_table
from topoloom.support.units import format_bytes

if TYPE_CHECKING:
    from topoloom._core import CommGraph, Judgement, Machine
    from topoloom.figure.links import Array

MAX_DRAWN = 4_000  # maximum number of drawn links in a small picture of a machine
CELLS = 64  # maximum number of matrix cells per side
_SEEN_FROM = np.array([[0.88, 0.0, -0.48], [0.18, 0.93, 0.33]])  # view direction


def machine_html(machine: Machine) -> str:
    """Format the size and the parts of a machine, and its links if there are few."""
    facts = {
        "nodes": f"{machine.node_count:,}",
        "slots": f"{machine.slot_count:,}",
        "links": f"{machine.link_count:,}",
    }
    picture = _draw_scene(machine) if machine.link_count <= MAX_DRAWN else ""
    parts = html.escape("\n".join(outline(machine)))
    table = make_html_table(facts)
    return html_fragment(machine.name, picture, table, f"<pre>{parts}</pre>")


def graph_html(graph: CommGraph) -> str:
    """Format the size and the matrix of a communication graph."""
    facts = {
        "ranks": f"{graph.rank_count:,}",
        "pairs": f"{graph.edge_count:,}",
        "messages": f"{graph.total_messages:,}",
        "bytes": format_bytes(graph.total_bytes),
    }
    return html_fragment(
        "communication graph", _draw_matrix(graph), make_html_table(facts)
    )


def judgement_html(judgement: Judgement) -> str:
    """Format the measures of a judgement, and a histogram of link loads."""
    known = {name: getattr(judgement, name, None) for name in MEASURES}
    values = {name: value for name, value in known.items() if value is not None}
    table = make_html_table(format_measures(values))
    return html_fragment("judgement", _draw_bars(judgement), table)


def _format_svg(width: float, height: float, label: str, shapes: Iterable[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{html.escape(label)}">'
        f"{''.join(shapes)}</svg>"
    )


def _draw_scene(machine: Machine) -> str:
    scene = make_scene(machine)
    links = range(machine.link_count)
    ends = np.array([machine.link_ends(link) for link in links], dtype=np.int64)
    ends = ends.reshape(-1, 2)
    inside = (
        find_wrapping_links(scene, [int(extent) for extent in machine.shape], ends) == 0
    )
    view = np.eye(2, 3) if scene.flat else _SEEN_FROM
    at = scene.coordinates @ view.T * [1, -1]
    at -= at.min(axis=0)
    at *= 300 / max(float(at.max(initial=0)), 1e-9)
    at += 6
    lines = "".join(
        f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
        for (x1, y1), (x2, y2) in at[np.unique(np.sort(ends[inside]), axis=0)]
    )
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="currentColor"/>'
        for (x, y), nodes in zip(at, scene.nodes, strict=True)
        if nodes
    )
    width, height = at.max(axis=0) + 6
    path = f'<path d="{lines}" fill="none" stroke="#888" stroke-width="0.7"/>'
    return _format_svg(width, height, f"links of {machine.name}", [path, dots])


def _draw_bars(judgement: Judgement) -> str:
    from topoloom.figure.links import LoadUnit

    loads = np.asarray(judgement.loads)
    counted = make_histogram(
        (loads, loads[:0]), ["links", ""], LoadUnit(np.ones(1), in_seconds=False)
    )
    bars = [
        f'<rect x="{bar.x / 2:.1f}" y="{bar.y / 2:.1f}" width="{bar.width:.1f}" '
        f'height="{bar.height / 2:.1f}" fill="#1b4f8a">'
        f"<title>{html.escape(bar.text)}</title></rect>"
        for bar in counted.bars
    ]
    most = html.escape(counted.x_ticks[-1][1])
    axis = (
        f'<path d="M0 {HEIGHT / 2:.1f}H{WIDTH / 2:.1f}" stroke="#888"/>'
        '<g fill="currentColor" font-size="11">'
        f'<text y="{HEIGHT / 2 + 13:.1f}">0 B</text>'
        f'<text x="{WIDTH / 2:.1f}" y="{HEIGHT / 2 + 13:.1f}" text-anchor="end">'
        f"{most}</text></g>"
    )
    label = "links by the bytes they carry; heights are logarithmic"
    return _format_svg(WIDTH / 2, HEIGHT / 2 + 18, label, [*bars, axis])


def _draw_matrix(graph: CommGraph) -> str:
    level = make_finest_level(graph, np.arange(graph.rank_count))
    while graph.rank_count > CELLS * level.width:
        level = level.coarsen()
    across = -(-graph.rank_count // level.width)
    gray = np.full((across, across), 255, dtype=np.uint8)
    if len(level.bytes):
        share = np.log1p(level.bytes) / np.log1p(level.bytes.max())
        gray[level.row, level.column] = 200 - 200 * share
    label = f"bytes from each rank (down) to each (across), {level.width} per cell"
    picture = base64.b64encode(_encode_png(gray)).decode()
    return (
        f'<img alt="{html.escape(label)}" title="{html.escape(label)}" width="192" '
        'style="image-rendering:pixelated;border:1px solid #888" '
        f'src="data:image/png;base64,{picture}">'
    )


def _encode_png(gray: Array) -> bytes:
    """Encode a picture of 8 bits per pixel as PNG (ISO/IEC 15948)."""
    height, width = gray.shape

    def make_chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    lines = np.concatenate([np.zeros((height, 1), np.uint8), gray], axis=1)
    head: Any = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            make_chunk(b"IHDR", head),
            make_chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            make_chunk(b"IEND", b""),
        ]
    )
