# SPDX-License-Identifier: BSD-3-Clause
"""Invalid input gives one line on stderr and exit status 2, and writes no files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

HALO = ["stencil2d", "--grid", "4x4"]


@pytest.fixture
def run_refused(topoloom: Command):
    """Run a command that must fail with status 2; return its error line."""

    def command(*words: object) -> str:
        before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
        outcome = topoloom(*words)
        assert outcome.status == 2, outcome
        assert outcome.out == ""
        lines = outcome.err.splitlines()
        assert len(lines) == 1, outcome.err
        assert lines[0].startswith("topoloom: ")
        assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before
        return lines[0]

    return command


def write_inputs(topoloom: Command) -> None:
    assert topoloom("pattern", "generate", *HALO, "-o", "p.npz").status == 0
    assert topoloom("map", "p.npz", "-m", "torus:4x4", "-o", "x.json").status == 0
    Path("program.c").write_text("#include <mpi.h>\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["recrod"], "did you mean 'record'"),
        (["--no-such-option"], "'topoloom' has no option '--no-such-option'"),
        (
            ["map", "p.npz", "--machne", "torus:4x4"],
            "'topoloom map' has no option '--machne' (did you mean '--machine'?)",
        ),
        (["map"], "GRAPH is missing"),
        (["map", "p.npz"], "--machine is missing; add it, such as"),
        (["map", "p.npz", "--machine"], "--machine has no value"),
        (["map", "p.npz", "-m"], "-m has no value"),
        (
            ["map", "p.npz", "-m", "torus:4x4", "--seed", "x"],
            "--seed must be an integer, such as 4, not 'x'",
        ),
        (
            ["map", "p.npz", "-m", "torus:4x4", "--seed", "-1"],
            "--seed must be 0 or more",
        ),
        (["map", "p.npz", "-m", "torus:4x4", "--work", "-1"], "--work must be"),
        (["map", "p.npz", "-m", "torus:4x4", "--threads", "-2"], "--threads must be"),
        (["map", "p.npz", "-m", "torus:4x4", "--time", "soon"], "duration 'soon'"),
        (["map", "p.npz", "-m", "tours:4x4"], "torus"),
        (["map", "p.npz", "-m", "torus:4xx4"], "column"),
        (["map", "p.npz", "-m", "hoper"], "did you mean 'hopper'"),
        (["map", "p.npz", "-m", "none.toml"], "none.toml"),
        (["map", "p.npz", "-m", "none.graph"], "none.graph"),
        (["map", "p.npz", "-m", "graph:4:0-1,2-3"], "disconnected"),
        (["map", "p.npz", "-m", "torus:4x4", "--mapper", "ggee"], "did you mean 'gge'"),
        (["map", "p.npz", "-m", "torus:4x4", "--mapper", ""], "mapper"),
        (
            ["map", "p.npz", "-m", "torus:4x4", "--mapper", "gge+swpa"],
            "did you mean 'swap'",
        ),
        (["map", "p.npz", "-m", "torus:4x4", "--mapper", "gge(x=1)"], "gge"),
        (
            ["map", "p.npz", "-m", "torus:3x3"],
            "only 9 slots (9 nodes with 1 each); describe the cores of a node (+node:",
        ),
        (
            ["pattern", "import", "program.c", "-o", "x.npz"],
            "looks like metis; if it is not, pass --format; see",
        ),
        (
            ["map", "program.c", "-m", "torus:4x4"],
            "if it is not, convert it with 'topoloom pattern import --format NAME'",
        ),
        (["map", "none.npz", "-m", "torus:4x4"], "none.npz"),
        (["map", ".", "-m", "torus:4x4"], ".prof"),
        (["map", "p.npz", "-m", "torus:4x4", "-a", "none.txt"], "none.txt"),
        (["map", "p.npz", "-m", "torus:4x4", "-a", "n[0-3"], "brackets"),
        (["map", "p.npz", "-m", "torus:4x4", "-a", "n[0-16]"], "n16 would be node 16"),
        (["map", "p.npz", "-m", "torus:4x4", "-a", "n[0-9,3]"], "n3 is named twice"),
        (
            ["map", "p.npz", "-m", "torus:4x4", "-a", "n1,n2", "--nodes", "3"],
            "are mutually exclusive",
        ),
        (["map", "p.npz", "-m", "torus:4x4", "--nodes", "17"], "17"),
        (["map", "p.npz", "-m", "torus:4x4", "--nodes", "0"], "must be 1 or more"),
        (
            ["map", "p.npz", "-m", "torus:5x5", "--nodes", "16", "--fragments", "0"],
            "0",
        ),
        (
            ["map", "p.npz", "-m", "torus:4x4", "-o", "none/x.json"],
            "no directory 'none'",
        ),
        (["map", "p.npz", "-m", "torus:4x4", "-o", "."], "."),
        (["judge", "p.npz"], "--machine is missing"),
        (["judge", "p.npz", "p.npz"], "is a communication graph, not a placement"),
        (["judge", "x.json", "p.npz"], ""),
        (["judge", "p.npz", "x.json", "-m", "torus:4x4"], "leave out"),
        (["judge", "p.npz", "x.json", "--hottest", "-1"], "--hottest"),
        (
            ["compare", "p.npz", "-m", "torus:4x4", "--mappers", "block,,gge"],
            "--mappers has an empty item in 'block,,gge'; remove a comma",
        ),
        (["model", "predict", "hdr", "--sizes", "8,,9"], "--sizes has an empty item"),
        (["compare", "p.npz", "-m", "torus:4x4", "--mappers", "mahd+swpa"], "'swap'"),
        (["compare", "p.npz", "-m", "torus:4x4", "--mappers", "swap"], "swap"),
        (["pattern", "generate", "stencil4d"], "did you mean 'stencil"),
        (["pattern", "generate", "stencil3d"], "needs --grid"),
        (["pattern", "generate", "stencil3d", "--grid", "8x8"], "a grid of 3 axes"),
        (
            ["pattern", "generate", "stencil3d", "--grid", "8x8x"],
            "cannot read the grid",
        ),
        (["pattern", "generate", "stencil2d", "--grid", "0x8"], "without ranks"),
        (["pattern", "generate", "stencil2d", "--grid", "99999999x99999999"], ""),
        (
            ["pattern", "generate", "stencil2d", "--grid", "4x4", "--bytes", "-1"],
            "bytes",
        ),
        (
            ["pattern", "generate", "stencil2d", "--grid", "4x4", "--bytes", "nan"],
            "bytes",
        ),
        (
            ["pattern", "generate", "stencil2d", "--grid", "4x4", "-o", "p.txt"],
            "written as .npz",
        ),
        (["pattern", "generate", "ring"], "needs --ranks"),
        (["pattern", "generate", "ring", "--ranks", "0"], "must be 1 or more"),
        (["pattern", "generate", "binomial", "--ranks", "4", "--root", "4"], "root"),
        (
            [
                "pattern",
                "generate",
                "random-geometric",
                "--ranks",
                "4",
                "--average-degree",
                "nan",
            ],
            "degree",
        ),
        (["pattern", "import"], "FILE is missing"),
        (["pattern", "import", "none.mtx"], "none.mtx"),
        (["pattern", "import", "p.npz", "--format", "metsi"], "did you mean 'metis'"),
        (["pattern", "generate", "ring", "file"], "unexpected argument 'file'"),
        (["machine", "show"], "MACHINE is missing"),
        (["machine", "show", "torus:0x4"], "0"),
        (["machine", "show", "torus:4x4,nods=2"], "nodes"),
        (["machine", "show", "torus"], "has no size; add it, as in torus:"),
        (["machine", "show", "folder"], "folder: Is a directory"),
        (["machine", "show", "folder/none"], "folder/none: No such file"),
        (["machine", "show", ""], "MACHINE is empty"),
        (["machine", "show", "nothing"], "topoloom list machines"),
        (["machine", "export", "torus:4x4", "-o", "none/m.toml"], "no directory"),
        (["allocate", "-m", "torus:4x4", "--nodes", "17"], "17"),
        (["allocate", "-m", "torus:4x4", "--nodes", "-3"], "-3"),
        (["allocate", "-m", "torus:4x4", "--nodes", f"{2**31}"], "must be below 2^31"),
        (["allocate", "-m", "torus:4x4", "-a", ""], "-a is empty"),
        (["list", "mappres"], "did you mean 'mappers'"),
        (["export", "x.json", "--to", "rankfil"], "openmpi-rankfile"),
        (["export", "none.json", "--to", "list"], "none.json"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(
    topoloom: Command, run_refused, words: list[str], message: str
) -> None:
    write_inputs(topoloom)
    Path("folder").mkdir()
    assert message in run_refused(*words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["map", "-o", "none/x.json"], "none/x.json: there is no directory 'none'"),
        (["map", "-o", "folder"], "folder: Is a directory"),
        (["compare", "--figure", "none/x.png"], "there is no directory 'none'"),
        (["compare", "--figure", "x.gif"], "figures are .svg, .png, .pdf"),
        (["judge", "--figure", "x.gif"], "figures are .svg, .png, .pdf"),
        (["run", "-o", "none/x.json", "--"], "there is no directory 'none'"),
    ],
)
def test_unwritable_files_are_refused_before_any_work(
    topoloom: Command, run_refused, words: list[str], message: str
) -> None:
    Path("folder").mkdir()
    command, *options = words
    # The graph and the program do not exist: outputs are checked first.
    assert message in run_refused(command, "-m", "torus:4x4", *options, "none.npz")


@pytest.mark.parametrize("other", [["-o", "m.toml"], []])
def test_if_one_of_two_outputs_fails_neither_is_written(
    topoloom: Command, run_refused, other: list[str]
) -> None:
    figure = ["--figure", "none/m.png"]
    nodes = ["-m", "torus:4x4", "--nodes", "4"]
    assert "no directory 'none'" in run_refused("allocate", *nodes, *other, *figure)


def test_an_error_names_the_requested_file_and_no_temporary_file(run_refused) -> None:
    line = run_refused("machine", "export", "torus:4x4", "-o", "/proc/m.toml")
    assert line.startswith("topoloom: /proc/m.toml: ")


MATRIX = b"%%MatrixMarket matrix coordinate integer general\n"
BAD_GRAPHS = {
    "empty.npz": b"",
    "garbage.npz": b"\x00\x01\x02" * 100,
    "truncated.npz": None,
    "empty.mtx": b"",
    "truncated.mtx": MATRIX + b"4 4 9\n1 2 3\n",
    "range.mtx": MATRIX + b"4 4 1\n1 5 3\n",
    "negative.mtx": MATRIX + b"4 4 1\n1 2 -3\n",
    "nan.mtx": b"%%MatrixMarket matrix coordinate real general\n4 4 1\n1 2 nan\n",
    "twice.graph": b"2 1\n2 2\n1 1\n",
    "range.graph": b"2 1\n3\n1\n",
    "garbage.graph": b"\xff\xfe\x00",
    "short.mat": b"0 1 2\n1 0\n",
    "garbage.prof": b"hello\n",
    "negative.prof": b"E\t0\t1\t-5 bytes\t1 msgs sent\n",
    "garbage": b"\x7fELF\x00\x00",
}
WITH_GRAPH = [
    ["map", "FILE", "-m", "torus:4x4", "-o", "out.json"],
    ["judge", "FILE", "-m", "torus:4x4"],
    ["compare", "FILE", "-m", "torus:4x4"],
    ["pattern", "import", "FILE", "-o", "out.npz"],
]


@pytest.mark.parametrize("name", BAD_GRAPHS)
@pytest.mark.parametrize("words", WITH_GRAPH, ids=lambda words: words[0])
def test_bad_graphs_are_refused_by_every_command(
    topoloom: Command, run_refused, name: str, words: list[str]
) -> None:
    content = BAD_GRAPHS[name]
    if content is None:
        topoloom("pattern", "generate", *HALO, "-o", "p.npz")
        content = Path("p.npz").read_bytes()[:700]
    Path(name).write_bytes(content)
    assert name in run_refused(*[name if word == "FILE" else word for word in words])


MACHINE = 'format = "topoloom-machine"\nversion = 1\n[topology]\n'
BAD_MACHINES = {
    "empty.toml": "",
    "syntax.toml": "[topology\n",
    "version.toml": 'format = "topoloom-machine"\nversion = 99\n',
    "format.toml": 'format = "topoloom-graph"\nversion = 1\n',
    "key.toml": MACHINE + 'kidn = "torus"\n',
    "nan.toml": MACHINE + 'kind = "torus"\nsize = [nan]\n',
    "negative.toml": MACHINE + 'kind = "torus"\nsize = [-4]\n',
    "apart.graph": "4 2\n2\n1\n4\n3\n",
    "truncated.graph": "4 3\n2\n1 3\n",
}
WITH_MACHINE = [
    ["map", "p.npz", "-m", "FILE", "-o", "out.json"],
    ["judge", "p.npz", "-m", "FILE"],
    ["compare", "p.npz", "-m", "FILE"],
    ["machine", "import", "FILE", "-o", "out.toml"],
    ["allocate", "-m", "FILE", "--nodes", "3", "-o", "out.txt"],
]


@pytest.mark.parametrize("name", BAD_MACHINES)
@pytest.mark.parametrize("words", WITH_MACHINE, ids=lambda words: words[0])
def test_bad_machines_are_refused_by_every_command(
    topoloom: Command, run_refused, name: str, words: list[str]
) -> None:
    topoloom("pattern", "generate", *HALO, "-o", "p.npz")
    Path(name).write_text(BAD_MACHINES[name])
    assert name in run_refused(*[name if word == "FILE" else word for word in words])


BAD_ALLOCATIONS = {
    "empty.txt": b"",
    "garbage.txt": b"\x00\xff",
    "range.txt": b"0\n16\n",
    "negative.txt": b"0\n-1\n",
    "nan.txt": b"nan\n",
    "twice.txt": b"3\n3\n",
    "few.txt": b"0\n1\n",
    "outside.txt": b"0 0\n4 0\n",
}


@pytest.mark.parametrize("name", BAD_ALLOCATIONS)
@pytest.mark.parametrize("command", ["map", "judge", "compare"])
def test_bad_allocations_are_refused_by_every_command(
    topoloom: Command, run_refused, name: str, command: str
) -> None:
    topoloom("pattern", "generate", *HALO, "-o", "p.npz")
    Path(name).write_bytes(BAD_ALLOCATIONS[name])
    output = ["-o", "out.json"] if command == "map" else []
    line = run_refused(command, "p.npz", "-m", "torus:4x4", "-a", name, *output)
    assert name in line or name == "few.txt"


@pytest.mark.parametrize("words", [["judge", "p.npz"], ["export", "--to", "list"]])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "\x00garbage",
        lambda text: text.replace('"version": 1', '"version": 2'),
        lambda text: text.replace("topoloom-placement", "topoloom-graph"),
        lambda text: text.replace("torus:4x4", "torus:2x2"),
        lambda text: json.dumps({**json.loads(text), "placement": [0] * 16}),
        lambda text: json.dumps({**json.loads(text), "placement": [-1] * 16}),
        lambda text: json.dumps({**json.loads(text), "placement": [1e300] * 16}),
        lambda text: text.replace('"seed": 1', '"seed": NaN'),
    ],
)
def test_bad_placements_are_refused_by_every_command(
    topoloom: Command, run_refused, words: list[str], change
) -> None:
    write_inputs(topoloom)
    Path("bad.json").write_text(change(Path("x.json").read_text()))
    position = 2 if words[0] == "judge" else 1
    assert "bad.json" in run_refused(*words[:position], "bad.json", *words[position:])


def test_a_placement_for_another_graph_is_refused(
    topoloom: Command, run_refused
) -> None:
    write_inputs(topoloom)
    topoloom("pattern", "generate", "ring", "--ranks", 5, "-o", "ring.npz")
    assert "places 16 ranks, but ring.npz has 5" in run_refused(
        "judge", "ring.npz", "x.json"
    )


def test_an_output_file_is_unchanged_after_an_error(topoloom: Command) -> None:
    write_inputs(topoloom)
    before = Path("x.json").read_bytes()
    Path("bad.npz").write_bytes(b"bad")
    assert topoloom("map", "bad.npz", "-m", "torus:4x4", "-o", "x.json").status == 2
    assert Path("x.json").read_bytes() == before


def test_invalid_arrays_in_an_npz_file_are_refused(
    topoloom: Command, run_refused
) -> None:
    write_inputs(topoloom)
    with np.load("p.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name, wrong in {
        "indices": arrays["indices"] + 100,
        "data": -arrays["data"],
        "messages": arrays["messages"] * np.nan,
        "topoloom_version": np.array(9),
    }.items():
        np.savez("bad.npz", **{**arrays, name: wrong})
        assert "bad.npz" in run_refused("judge", "bad.npz", "-m", "torus:4x4")
