# SPDX-License-Identifier: BSD-3-Clause
"""Reads communication graphs from valid and invalid files of all formats."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, strategies as st

from topoloom import CommGraph, Error, load_graph, save_graph
from topoloom.graphs import stencil
from topoloom.graphs.graph_file import FORMATS, read_graph
from topoloom.graphs.npz import load_npz
from topoloom.model import load_model
from topoloom.schedules.choose import Call
from topoloom.schedules.exports import goal
from topoloom.schedules.exports.request import ExportRequest


def list_edges(graph: CommGraph) -> dict[tuple[int, int], int]:
    first = graph.first.astype(int)
    return {
        (u, int(graph.peer[e])): int(graph.bytes[e])
        for u in range(graph.rank_count)
        for e in range(first[u], first[u + 1])
    }


def test_a_saved_graph_is_read_back_completely(tmp_path: Path) -> None:
    graph = CommGraph.from_edges(
        4,
        np.array([0, 1, 2, 2], dtype=np.uint32),
        np.array([1, 0, 2, 3], dtype=np.uint32),
        np.array([10, 20, 5, 7]),
        np.array([1, 2, 9, 3]),
        np.array([1.0, 2.5, 3.0, 4.0]),
        proxied=np.array([3, 1], dtype=np.uint32),
    )
    save_graph(tmp_path / "g.npz", graph, {"phase_1": np.arange(3)})
    again, extra = load_npz(tmp_path / "g.npz")
    assert again == graph
    assert again.proxied.tolist() == [1, 3]
    for name in ("first", "peer", "bytes", "messages", "load"):
        assert getattr(again, name).tolist() == getattr(graph, name).tolist()
    assert again.self_bytes.tolist() == [0, 0, 5, 0]
    assert again.self_messages.tolist() == [0, 0, 9, 0]
    assert extra["phase_1"].tolist() == [0, 1, 2]


def test_scipy_reads_saved_graphs(tmp_path: Path) -> None:
    graph = stencil([3, 4], 5, True, 100)
    save_graph(tmp_path / "g.npz", graph)
    matrix = scipy.sparse.load_npz(tmp_path / "g.npz").todok()
    assert {(int(u), int(v)): int(b) for (u, v), b in matrix.items()} == list_edges(
        graph
    )


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", [np.int64, np.float64, np.uint8, np.bool_])
def test_files_of_scipy_are_read(layout: str, kind: Any, tmp_path: Path) -> None:
    dense = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=kind)
    scipy.sparse.save_npz(
        tmp_path / "m.npz", scipy.sparse.coo_matrix(dense).asformat(layout)
    )
    graph = load_graph(tmp_path / "m.npz")
    assert list_edges(graph) == {(0, 1): 1, (1, 0): 1, (1, 2): 1}
    assert graph.self_bytes.tolist() == [0, 0, 1]


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.tuples(
                    st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 2**40)
                ),
                max_size=40,
            ),
        )
    )
)
def test_any_graph_survives_a_round_trip_through_a_file(
    tmp_path_factory: pytest.TempPathFactory,
    messages: tuple[int, list[tuple[int, int, int]]],
) -> None:
    count, listed = messages
    columns = [np.array([edge[i] for edge in listed], dtype=np.int64) for i in range(3)]
    graph = CommGraph.from_edges(
        count, columns[0].astype(np.uint32), columns[1].astype(np.uint32), columns[2]
    )
    file = tmp_path_factory.mktemp("graphs") / "g.npz"
    save_graph(file, graph)
    again = load_graph(file)
    assert list_edges(again) == list_edges(graph)
    assert again.self_bytes.tolist() == graph.self_bytes.tolist()


HEAD = "%%MatrixMarket matrix coordinate integer general\n"
MATRIX_MARKET = HEAD + "% a comment\n3 3 2\n1 2 10\n2 3 20\n"
METIS = "% triangle\n3 3 001\n2 5 3 7\n1 5 3 9\n1 7 2 9\n"
DENSE = "0 10 0\n0 0 20\n0 0 0\n"
EDGES = "0 1 10\n1 2 20\n"
DIMACS = "c x\np sp 3 2\na 1 2 10\na 2 3 20\n"
GML = """graph [
  directed 1
  node [ id 0 label "0" ]
  node [ id 1 label "1" ]
  node [ id 2 label "2" ]
  edge [ source 0 target 1 weight 10 ]
  edge [ source 1 target 2 weight 20 ]
]
"""
GRAPHML = """<graphml><key id="w" for="edge" attr.name="bytes" attr.type="long"/>
<graph edgedefault="directed"><node id="n0"/><node id="n1"/><node id="n2"/>
<edge source="n0" target="n1"><data key="w">10</data></edge>
<edge source="n1" target="n2"><data key="w">20</data></edge></graph></graphml>
"""
MONITORING = "E\t0\t1\t10 bytes\t2 msgs sent\nI\t1\t2\t20 bytes\t1 msgs sent\n"


PATH = {(0, 1): 10, (1, 2): 20}
TRIANGLE = {(0, 1): 5, (0, 2): 7, (1, 0): 5, (1, 2): 9, (2, 0): 7, (2, 1): 9}


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    [
        ("x.mtx x.txt x", MATRIX_MARKET, PATH),
        ("x.graph x.txt", METIS, TRIANGLE),
        ("x.mat x.txt", DENSE, PATH),
        ("x.prof x.txt", MONITORING, PATH),
        ("x.mat x.csv", "0,10,0\n0,0,20\n0,0,0\n", PATH),
        ("x.edges x.txt x.csv x", EDGES, PATH),
        ("x.gr x.txt", DIMACS, PATH),
        ("x.gml x.txt", GML, PATH),
        ("x.graphml x.txt", GRAPHML, PATH),
    ],
    ids=[
        *("matrix-market", "metis", "dense", "monitoring"),
        *("comma-separated", "edges", "dimacs", "gml", "graphml"),
    ],
)
def test_a_format_is_recognized_by_name_and_content(
    names: str, text: str, expected: dict[tuple[int, int], int], tmp_path: Path
) -> None:
    for name in names.split():
        (tmp_path / name).write_text(text)
        graph = load_graph(tmp_path / name)
        assert list_edges(graph) == expected
        assert graph.messages.sum() == len(expected) + (text == MONITORING)


def test_monitoring_output_of_all_ranks_is_read_from_a_directory(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "prof"
    folder.mkdir()
    for rank, line in enumerate(MONITORING.splitlines()):
        (folder / f"phase_1_{rank}.prof").write_text(line + "\n")
    for source in (folder, f"{folder}/phase_1_*.prof", f"{folder}/*_[01].prof"):
        assert list_edges(load_graph(source)) == {(0, 1): 10, (1, 2): 20}
    (folder / "phase_1_1.prof").write_text("E\t1\t2\tmany bytes\t1 msgs sent\n")
    with pytest.raises(Error, match=r"phase_1_1\.prof:1:"):
        load_graph(folder)


@pytest.mark.parametrize(
    ("text", "remarks"),
    [
        # Open MPI 2, and development versions of 3
        (
            "# POINT TO POINT\nI\t0\t1\t16 bytes\t2 msgs sent\t0,0,0,0,2\n"
            "E\t0\t1\t4 bytes\t1 msgs sent\n# RMA\nR\t0\t1\t8 bytes\t1 msgs sent\n",
            [],
        ),
        # Open MPI 3.1 to 5, as 4.1.4 wrote it
        (
            "# POINT TO POINT\nE\t0\t1\t16 bytes\t2 msgs sent\t0,0,0,0,2\n"
            "I\t0\t1\t4 bytes\t1 msgs sent\n# OSC\nR\t0\t1\t8 bytes\t1 msgs sent\n"
            "# COLLECTIVES\nC\t0\t1\t4 bytes\t1 msgs sent\n"
            "D\tMPI_COMM_WORLD\tprocs: 0,1\nO2A\t0\t4 bytes\t1 msgs sent\n",
            ["1 line of collectives (C) left out: lines I have their messages"],
        ),
    ],
)
def test_monitoring_output_of_all_versions_of_open_mpi(
    text: str, remarks: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "p.0.prof"
    path.write_text(text)
    found = read_graph(path)
    assert list(found.remarks) == remarks
    assert list_edges(found.graph) == {(0, 1): 20, (1, 0): 8}


def test_a_directory_without_monitoring_profiles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"no \.prof file"):
        load_graph(tmp_path)


def test_a_wrongly_guessed_format_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "edges.txt"
    file.write_text("# a comment\nE\t0 1 1024 1\n")
    with pytest.raises(
        Error, match=r":2: .*looks like monitoring.*goal, monitoring, .*chakra\)$"
    ):
        load_graph(file)
    with pytest.raises(Error) as caught:
        load_graph(file, "monitoring")
    assert "--format" not in str(caught.value)


def test_an_unknown_format_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(Error, match="did you mean 'metis'"):
        load_graph(tmp_path / "x", "mets")


def write_valid_file(kind: str, folder: Path) -> Path:
    """Write a small graph in the format `kind`."""
    file = folder / f"g{FORMATS[kind][1][0]}"
    texts = {
        "matrix-market": MATRIX_MARKET,
        "metis": METIS,
        "dense": DENSE,
        "monitoring": MONITORING,
        "edges": EDGES,
        "dimacs": DIMACS,
        "gml": GML,
        "graphml": GRAPHML,
    }
    if kind == "npz":
        save_graph(file, stencil([3], 3, True, 8))
    else:
        file.write_text(texts[kind])
    return file


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("matrix-market", HEAD + "3 3 1\n1 2 -10\n"),
        ("metis", "3 1\n2\n1\n4\n"),
        ("dense", "0 1 2\n0 1\n0 0 0\n"),
        ("monitoring", "Q\t0\t1\t10 bytes\t2 msgs sent\n"),
    ],
)
def test_invalid_texts_name_the_file_in_one_line(
    kind: str, text: str, tmp_path: Path
) -> None:
    file = tmp_path / f"bad{FORMATS[kind][1][0]}"
    file.write_text(text)
    with pytest.raises(Error) as caught:
        load_graph(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    "content",
    [b"", b"  \n", b"\x00\xff\x80\x01" * 50, b"PK\x03\x04garbage", b"%PDF-1.4\n"],
)
def test_garbage_is_refused_by_every_reader(
    kind: str, content: bytes, tmp_path: Path
) -> None:
    file = tmp_path / f"bad{FORMATS[kind][1][0]}"
    file.write_bytes(content)
    with pytest.raises(Error) as caught:
        load_graph(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "kind", ["npz", "matrix-market", "metis", "dimacs", "gml", "graphml"]
)
@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.8])
def test_truncated_files_are_refused(
    kind: str, fraction: float, tmp_path: Path
) -> None:
    file = write_valid_file(kind, tmp_path)
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * fraction)])
    with pytest.raises(Error):
        load_graph(file)


@pytest.mark.parametrize("position", range(0, 1500, 150))
def test_a_damaged_archive_is_refused_or_read_correctly(
    position: int, tmp_path: Path
) -> None:
    file = write_valid_file("npz", tmp_path)
    whole = list_edges(load_graph(file))
    data = bytearray(file.read_bytes())
    data[position] ^= 0xFF
    file.write_bytes(data)
    with contextlib.suppress(Error):
        assert list_edges(load_graph(file)) == whole


def test_invalid_arrays_in_an_archive_are_named(tmp_path: Path) -> None:
    file = tmp_path / "g.npz"
    save_graph(file, stencil([4], 3, True, 8))
    with np.load(file) as archive:
        good = {name: archive[name] for name in archive.files}
    changes: list[tuple[dict[str, Any], str]] = [
        (
            {"topoloom_format": np.array("topoloom-placement")},
            "expected 'topoloom-graph'",
        ),
        ({"topoloom_version": np.array(2)}, "version 2"),
        ({"indices": good["indices"] + 1}, "rank 4, but ranks are 0 to 3"),
        ({"indices": good["indices"][:-1]}, ""),
        ({"indices": -good["indices"]}, "negative"),
        ({"data": -good["data"]}, "negative"),
        ({"data": good["data"] * np.nan}, "not finite"),
        ({"data": good["data"] + 0.5}, "not an integer"),
        ({"indptr": good["indptr"][::-1]}, ""),
        ({"shape": np.array([3, 3])}, "does not fit"),
        ({"shape": np.array([[4, 4]])}, "one-dimensional"),
        ({"load": good["load"] * np.nan}, ""),
        ({"load": -good["load"]}, ""),
        ({"indices": np.zeros_like(good["indices"])}, ""),
        ({"data": np.array(["a"] * 8)}, "numbers"),
        ({"proxied": np.array([1, 4])}, "'proxied' names rank 4, but ranks are 0 to 3"),
        ({"proxied": np.array([1, 1])}, "rank 1 is named twice"),
    ]
    for change, message in changes:
        with file.open("wb") as stream:
            np.savez(stream, **{**good, **change})
        with pytest.raises(Error) as caught:
            load_graph(file)
        assert message in str(caught.value)
        assert str(file) in str(caught.value)
    for name in good:
        if name != "topoloom_format":
            with file.open("wb") as stream:
                np.savez(stream, **{k: v for k, v in good.items() if k != name})
            if name != "format":
                with pytest.raises(Error, match=name.removeprefix("topoloom_")):
                    load_graph(file)


def test_a_matrix_that_is_not_square_is_refused(tmp_path: Path) -> None:
    scipy.sparse.save_npz(tmp_path / "m.npz", scipy.sparse.csr_matrix(np.ones((2, 3))))
    with pytest.raises(Error, match="square"):
        load_graph(tmp_path / "m.npz")


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    with (tmp_path / "m.npz").open("wb") as stream:
        np.savez(stream, data=np.array([{}], dtype=object))
    with pytest.raises(Error, match="npz"):
        load_graph(tmp_path / "m.npz")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    file = write_valid_file("npz", tmp_path)
    before = file.read_bytes()
    with pytest.raises(Error, match="must not be called"):
        save_graph(file, stencil([4], 3, True, 8), {"data": np.zeros(1)})
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("name", ["ring", "recursive-doubling", "halving"])
def test_the_goal_file_of_a_schedule_has_its_messages(
    name: str, tmp_path: Path
) -> None:
    call = Call("allreduce", 8, 4096)
    text = goal.write(ExportRequest(call, name, load_model("hdr").model))
    _, source, target, sizes = call.schedule(name).all_messages()
    expected = CommGraph.from_edges(8, source, target, sizes)
    for file in ("a.goal", "a.txt"):  # recognized by suffix and by content
        (tmp_path / file).write_text(text)
        found = load_graph(tmp_path / file)
        assert list_edges(found) == list_edges(expected)
        assert found.messages.tolist() == expected.messages.tolist()


def test_a_goal_file_with_a_cyclic_wait_is_refused(tmp_path: Path) -> None:
    ranks = [
        f"rank {me} {{\na: recv 8b from {1 - me}\nb: send 8b to {1 - me}\n"
        "b requires a\n}\n"
        for me in (0, 1)
    ]
    (tmp_path / "a.goal").write_text("num_ranks 2\n" + "".join(ranks))
    with pytest.raises(Error) as refused:
        load_graph(tmp_path / "a.goal")
    (line,) = str(refused.value).splitlines()
    assert "cycle" in line
    assert "recv 8b from 1 of rank 0 (line 3)" in line
