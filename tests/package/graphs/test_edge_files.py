# SPDX-License-Identifier: BSD-3-Clause
"""Edge lists, matrices with fractions, and files of NetworkX and igraph."""

from __future__ import annotations

import random
from pathlib import Path

import networkx
import numpy as np
import pytest
import scipy.io
import scipy.sparse

from topoloom import CommGraph, Error, load_graph
from topoloom.graphs.graph_file import SCALED_FORMATS, read_graph

EDGES = [(0, 1, 100, 3), (1, 2, 7, 1), (3, 0, 50, 2), (0, 1, 5, 1)]
ENDINGS = (".mat", ".mtx", ".edges", ".gr", ".gml", ".graphml")
SUMMED = CommGraph.from_edges(4, *zip(*EDGES, strict=True))


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";", ", "])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 3, 2), (3, 2, 0, 1)])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_have_any_order_and_separator(
    separator: str, order: tuple[int, ...], end: str, tmp_path: Path
) -> None:
    names = ("Source", "dst", "bytes", "messages")
    rows = [[names[at] for at in order]]
    rows += [[str(edge[at]) for at in order] for edge in EDGES]
    for comment in ("", "# "):
        text = comment + end.join(separator.join(row) for row in rows) + end
        (tmp_path / "e.csv").write_text(text, newline="")
        assert load_graph(tmp_path / "e.csv") == SUMMED


def test_quotes_of_spreadsheets_are_removed(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text('"src","dst","bytes"\n"0","1","8"\n')
    assert load_graph(tmp_path / "e.csv").total_bytes == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("src,dst,bytes\n0,1,\n", ":2: a cell is empty; write 0"),
        ("0,,1,5\n", ":1: a cell is empty"),
        ('0,1,"",5\n', ":1: a cell is empty"),
        ("src,dst,bytes,time\n0,1,5,2\n", ":1: column 'time' is none of source,"),
        ("src,dst,size,bytes\n0,1,5,2\n", ":1: two columns are bytes"),
        ("src,bytes\n0,1\n", ":1: no column is target"),
        ("0;1;2,5\n", ":1: commas between semicolons"),
        ("0 1 5\n0 1\n", ":2: expected the number of bytes"),
        ("0 1 0.5\n", ":1: .*integer, but is 0.5; scale all values$"),
    ],
)
def test_invalid_edge_lists_are_refused_with_the_line(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "e.edges").write_text(text)
    with pytest.raises(Error, match=rf"e\.edges{message}"):
        load_graph(tmp_path / "e.edges")


@pytest.mark.parametrize("text", ["0 1 2\n1 2 2\n2 0 1\n", "0,1,9,1\n" * 4])
def test_numbers_that_fit_two_formats_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text(text)
    with pytest.raises(Error, match=r"dense matrix or an edge list.*dense, edges"):
        load_graph(tmp_path / "e.txt")
    assert load_graph(tmp_path / "e.txt", "edges").rank_count in (2, 3)


def test_a_large_dense_matrix_is_recognized_by_content(tmp_path: Path) -> None:
    matrix = np.arange(90_000).reshape(300, 300)
    np.savetxt(tmp_path / "m.txt", matrix, fmt="%d")
    np.savetxt(tmp_path / "m.csv", matrix, fmt="%d", delimiter=",")
    for name in ("m.txt", "m.csv"):
        assert np.array_equal(load_graph(tmp_path / name).to_scipy().toarray(), matrix)


def write_fractions(folder: Path, matrix: np.ndarray) -> list[Path]:
    """Write a matrix in all formats with fractions."""
    rows = list(zip(*np.nonzero(matrix), strict=True))
    edges = [(int(u), int(v), float(matrix[u, v])) for u, v in rows]
    np.savetxt(folder / "m.mat", matrix, fmt="%.17g")
    scipy.io.mmwrite(folder / "m.mtx", scipy.sparse.coo_array(matrix), precision=17)
    (folder / "m.edges").write_text("".join(f"{u} {v} {x!r}\n" for u, v, x in edges))
    arcs = "".join(f"a {u + 1} {v + 1} {x!r}\n" for u, v, x in edges)
    (folder / "m.gr").write_text(f"p sp {len(matrix)} {len(edges)}\n{arcs}")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(matrix)))
    graph.add_weighted_edges_from(edges)
    networkx.write_gml(graph, folder / "m.gml")
    networkx.write_graphml(graph, folder / "m.graphml")
    return [folder / f"m{end}" for end in ENDINGS]


@pytest.mark.parametrize("seed", range(3))
def test_all_formats_scale_alike(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.round(rng.random((5, 5)) * (rng.random((5, 5)) < 0.5), 3)
    matrix[0, 4] = matrix[4, 0] = 0.125
    expected = CommGraph.from_scipy(scipy.sparse.coo_array(np.rint(matrix * 1000)))
    files = write_fractions(tmp_path, matrix)
    assert len(files) == len(SCALED_FORMATS)
    for file in files:
        graph, remarks = read_graph(file, scale=1000)
        assert np.array_equal(graph.to_scipy().toarray(), expected.to_scipy().toarray())
        assert remarks == ["values were multiplied by 1000"]
        with pytest.raises(Error, match="integer"):
            load_graph(file)
        coarse = int((np.abs(matrix * 10 - np.rint(matrix * 10)) > 1e-9).sum())
        (remark,) = read_graph(file, scale=10).remarks
        assert remark == f"values were multiplied by 10; {coarse} were rounded"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@ mpiP\n@ Command : a.out\n", "is a report of mpiP, which has no bytes per"),
        ("# darshan log version: 3.41\n", "is a log of Darshan"),
    ],
)
def test_files_of_profilers_say_what_to_use(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "x.out").write_text(text)
    with pytest.raises(Error, match=rf"x\.out: {message}.*topoloom record"):
        load_graph(tmp_path / "x.out")


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf")])
def test_a_scale_is_positive(scale: float, tmp_path: Path) -> None:
    with pytest.raises(Error, match="the scale must be a positive number"):
        load_graph(tmp_path / "x.mtx", scale=scale)


def test_formats_of_bytes_have_no_scale(tmp_path: Path) -> None:
    (tmp_path / "x.graph").write_text("2 1\n2\n1\n")
    with pytest.raises(
        Error, match=r"is metis, whose values are bytes; a scale is for"
    ):
        load_graph(tmp_path / "x.graph", scale=2)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("end", ["gml", "graphml"])
def test_labels_of_networkx_are_ranks(end: str, directed: bool, tmp_path: Path) -> None:
    order = random.Random(1).sample(range(6), 6)
    graph = networkx.DiGraph() if directed else networkx.Graph()
    graph.add_nodes_from(order)
    for u, v in [(0, 3), (5, 1), (2, 4), (2, 2)]:
        graph.add_edge(u, v, bytes=10 * u + v, messages=2, color="red")
    getattr(networkx, f"write_{end}")(graph, tmp_path / f"g.{end}")
    found, remarks = read_graph(tmp_path / f"g.{end}")
    assert found == CommGraph.from_networkx(graph)
    assert remarks == ["edge attribute 'color' is not used (4 values)"]


def test_files_without_bytes_or_with_entities_are_refused(tmp_path: Path) -> None:
    networkx.write_gml(networkx.path_graph(3), tmp_path / "g.gml")
    with pytest.raises(Error, match=r"edge .* has no number as 'weight'"):
        load_graph(tmp_path / "g.gml")
    (tmp_path / "g.graphml").write_text(
        '<!DOCTYPE x [<!ENTITY a "aa">]><graphml><graph><node id="&a;"/></graph>'
        "</graphml>"
    )
    with pytest.raises(Error, match="DOCTYPE or entities"):
        load_graph(tmp_path / "g.graphml")
