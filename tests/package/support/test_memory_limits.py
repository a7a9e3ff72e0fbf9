# SPDX-License-Identifier: BSD-3-Clause
"""The memory to read a file is bounded by its size; devices and pipes are refused."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from topoloom import Error
from topoloom.graphs.graph_file import load_graph
from topoloom.graphs.phases import load_phases
from topoloom.support.files import read_text
from topoloom.support.toml_document import read_toml
from topoloom.support.xml_tree import read_xml

MEASURE = """\
import resource, sys
from topoloom import Error, load_machine
from topoloom.graphs.graph_file import load_graph
from topoloom.graphs.traces.flight_recorder import load_dump
from topoloom.graphs.traces.trace_files import read_content
from topoloom.placements.placement_file import load_placement
from topoloom.support.toml_document import read_toml
from topoloom.support.xml_tree import read_xml
from pathlib import Path
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for name in sys.argv[1:]:
    before, path = peak(), Path(name)
    readers = {
        ".npz": load_graph,
        ".toml": read_toml,
        ".xml": lambda path: read_xml(path.read_text()),
        ".pickle": lambda path: load_dump(path.read_bytes()),
        ".gz": read_content,
        ".tgt": load_machine,
        ".json": load_placement,
    }
    try:
        readers[path.suffix](path)
        outcome = "read"
    except Error as error:
        outcome = str(error)
    print(name, path.stat().st_size, peak() - before, outcome, sep="\\t")
"""


def make_npz(path: Path, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)


def write_array(array: NDArray[Any], shape: tuple[int, ...] | None = None) -> bytes:
    """Return the array as a file, whose header states another shape."""
    stream = io.BytesIO()
    header = np.lib.format.header_data_from_array_1_0(array)
    header["shape"] = array.shape if shape is None else shape
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + array.tobytes()


def make_matrix(count: int) -> dict[str, bytes]:
    one = write_array(np.zeros(1, np.int64))
    return {
        "format": write_array(np.array(b"coo")),
        "shape": write_array(np.array([count, count])),
        **dict.fromkeys(["row", "col", "data"], one),
    }


@pytest.fixture
def bombs(tmp_path: Path) -> list[Path]:
    files = {
        "stated": {
            **make_matrix(4),
            "row": write_array(np.zeros(1, np.int64), (2**34,)),
        },
        "ranks": make_matrix(2**26),
        "unused": {**make_matrix(4), "x": write_array(np.zeros(1 << 26, np.int8))},
    }
    for name, members in files.items():
        make_npz(tmp_path / f"{name}.npz", **members)
    memo = b"\x80\x04}r" + struct.pack("<I", 2**31 - 1) + b"."
    (tmp_path / "memo.pickle").write_bytes(memo)
    long = b"\x80\x05\x96" + struct.pack("<Q", 2**33) + b"x."
    (tmp_path / "long.pickle").write_bytes(long)
    nested: list[Any] = []
    for _ in range(60):
        nested = [nested, nested]
    (tmp_path / "nested.pickle").write_bytes(pickle.dumps({"entries": nested}))
    few = {
        **{"format": "topoloom-placement", "version": 1, "machine": "tree:2147483647"},
        **{"allocation": {"nodes": [0, 2**31 - 2]}, "placement": [2**31 - 2]},
        **{"objective": "", "mapper": "", "seed": 1, "work": 1, "topoloom": ""},
        "values": {},
    }
    (tmp_path / "few.json").write_text(json.dumps(few))
    (tmp_path / "dotted.toml").write_text(".".join(["a"] * 10_000) + " = 1\n")
    quoted = " . ".join(["'a'", '"b"'] * 5_000)
    (tmp_path / "table.toml").write_text(f"x = 1\n[{quoted}]\n")
    (tmp_path / "inline.toml").write_text(f"x = {{ {quoted} = 1 }}\n")
    (tmp_path / "complete.tgt").write_text("cmplt 2147483647\n")
    (tmp_path / "tree.tgt").write_text("tleaf 2 65536 1 16384 1\n")
    (tmp_path / "empty.xml").write_text(f"<a>{'<a/>' * 500_000}</a>")
    (tmp_path / "zeros.gz").write_bytes(gzip.compress(bytes(1 << 26)))
    return sorted(each for each in tmp_path.iterdir())


def test_memory_is_bounded_by_the_size_of_the_file(bombs: list[Path]) -> None:
    command = [sys.executable, "-c", MEASURE, *map(str, bombs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == [str(each) for each in bombs], done.stderr
    for name, size, peak, outcome in rows:
        assert int(peak) < (64 << 20) + 40 * int(size), name
        is_honest = Path(name).name in ("empty.xml", "unused.npz", "few.json")
        assert (outcome == "read") == is_honest, (name, outcome)


def test_honest_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        "a.b.c.d = 1\n[e.f.g]\nh = '1.2.3.4.5.6.7.8.9.10'\n"
    )
    assert read_toml(tmp_path / "a.toml")["a"] == {"b": {"c": {"d": 1}}}
    make_npz(tmp_path / "a.npz", **make_matrix(200_000))
    assert load_graph(tmp_path / "a.npz").rank_count == 200_000
    root = read_xml("<a><b/><b x='1'><c/></b></a>")
    assert [each.tag for each in root.walk()] == ["a", "b", "b", "c"]


def test_devices_and_pipes_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "link").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe.npz", tmp_path / "link", Path("/dev/zero")):
        for read in (load_graph, load_phases, read_toml, read_text):
            if read is load_phases and path.suffix != ".npz":
                continue
            with pytest.raises(Error, match="is a device or a pipe; name a file"):
                read(path)
