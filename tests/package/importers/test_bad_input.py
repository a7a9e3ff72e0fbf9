# SPDX-License-Identifier: BSD-3-Clause
"""Invalid or contradictory machine files give one line with position and cause."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_all_importers import SAMPLES
from test_hwloc import VIRTUAL
from test_ibnetdiscover import CAPTURE
from test_nccl import HGX
from test_scotch import READ as TARGETS
from test_simgrid import READ as PLATFORMS
from test_slurm import TORUS, TREE, YAML

from topoloom import Error, load_machine

XML = {"hwloc": VIRTUAL, "nccl": HGX, "simgrid": PLATFORMS[0][0]}
JSON = {name: SAMPLES[name][0] for name in ("aws", "google", "oracle", "kubernetes")}
LAUGHS = (
    '<!DOCTYPE topology [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
)
ABROAD = '<!DOCTYPE topology [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
METIS = "4 4 1\n2 1 4 2\n1 1 3 1\n2 1 4 1\n3 1 1 2\n"
TOML = """format = "topoloom-machine"
version = 1
[topology]
kind = "graph"
nodes = 2
switches = 1
links = ["0-2@2GB/s", "1-2@2GB/s"]
"""


def load_refusal_reason(file: Path) -> str:
    """Load a file; return the one-line reason if it is refused."""
    what = ""
    try:
        load_machine(file)
    except Error as error:
        what = str(error)
    assert "\n" not in what
    assert len(what) <= len(str(file)) + 402
    return what


def find_error_message(tmp_path: Path, data: str | bytes, name: str = "net.txt") -> str:
    """Load an invalid file; check that the error names it, and return the reason."""
    file = tmp_path / name
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    what = load_refusal_reason(file)
    assert what.startswith(str(file))
    return what.removeprefix(f"{tmp_path}/")


@pytest.mark.parametrize("name", ["net.txt", "m.toml", "m.graph"])
@pytest.mark.parametrize("data", [b"", b" \n\t\n"])
def test_an_empty_file_is_reported_as_empty(
    name: str, data: bytes, tmp_path: Path
) -> None:
    assert find_error_message(tmp_path, data, name) == f"{name}: the file is empty"


@pytest.mark.parametrize("name", ["net.txt", "m.toml"])
@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\xff" * 100, b"SwitchName=\0=a"]
)
def test_a_binary_file_is_reported_as_binary(
    name: str, data: bytes, tmp_path: Path
) -> None:
    assert find_error_message(tmp_path, data, name) == f"{name}: not a text file"


@pytest.mark.parametrize("name", SAMPLES)
def test_a_truncated_file_is_read_or_refused_by_line(name: str, tmp_path: Path) -> None:
    text = SAMPLES[name][0]
    file = tmp_path / "net.txt"
    refused = 0
    for end in range(len(text) // 3, len(text), max(1, len(text) // 40)):
        file.write_text(text[:end])
        what = load_refusal_reason(file)
        refused += bool(what)
        assert not what or what.startswith(str(file))
    assert refused or name in ("slurm-address", "slingshot", "tofu", "xtprocadmin")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("digits", ["9" * 18, "9" * 5000, "-1"])
def test_numbers_of_any_size_are_read_or_refused(
    name: str, digits: str, tmp_path: Path
) -> None:
    text = SAMPLES[name][0]
    file = tmp_path / "net.txt"
    numbers = list(re.finditer(r"\d+", text))
    for number in numbers[:: max(1, len(numbers) // 25)]:
        file.write_text(text[: number.start()] + digits + text[number.end() :])
        what = load_refusal_reason(file)
        assert not what or what.startswith(str(file))


@pytest.mark.parametrize("name", XML)
@pytest.mark.parametrize("doctype", [LAUGHS, ABROAD])
def test_xml_with_entities_is_refused(name: str, doctype: str, tmp_path: Path) -> None:
    body = re.sub(r"<\?xml[^>]*>|<!DOCTYPE[^>]*>", "", XML[name]).strip()
    what = find_error_message(tmp_path, f'<?xml version="1.0"?>\n{doctype}\n{body}')
    assert what.startswith("net.txt:2: the DOCTYPE declares entities")


@pytest.mark.parametrize("name", XML)
def test_deeply_nested_xml_is_refused(name: str, tmp_path: Path) -> None:
    head, last, tail = XML[name].rpartition("</")
    deep = "<object>" * 50_000 + "</object>" * 50_000
    what = find_error_message(tmp_path, head + deep + last + tail)
    assert "elements are nested more than 200 deep" in what


@pytest.mark.parametrize("name", JSON)
def test_deeply_nested_json_is_refused(name: str, tmp_path: Path) -> None:
    start, _, rest = JSON[name].rpartition("}")
    deep = "[" * 100_000 + "]" * 100_000
    what = find_error_message(tmp_path, f'{start}, "deep": {deep}}}{rest}')
    assert re.match(r"net\.txt:\d+: .*nested", what)


def test_deeply_nested_yaml_and_toml_is_refused(tmp_path: Path) -> None:
    deep = "[" * 10_000 + "]" * 10_000
    what = find_error_message(tmp_path, f"{YAML}- topology: deep\n  tree: {deep}\n")
    assert "nested over 32 deep" in what
    what = find_error_message(tmp_path, f"deep = {deep}\n", "m.toml")
    assert "nested too deeply" in what


def replace_once(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # Only one end of the cable lists it.
        (
            replace_once(CAPTURE, '[9]\t"S-0002c90200415680"[9]', '[8]\t"S-0002c9'),
            r"net.txt:\d+: cannot read the port",
        ),
        (
            re.sub(r"\n\[9\].*\n", "\n", CAPTURE, count=1),
            r"net.txt:\d+: the cable from .* is listed at this end only",
        ),
        # A switch or a node appears twice.
        (TREE + TREE, r"net.txt:\d+: switch \w+ is listed twice, first on line \d+"),
        (CAPTURE * 2, r"net.txt:\d+: S-\w+ is listed twice, first on line \d+"),
        (
            "SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n3\n"
            "SwitchName=c Switches=a,b\n",
            "net.txt:2: node n3 is under switch b and under a .line 1.",
        ),
        # References to parts that the file lacks.
        (
            "SwitchName=a Nodes=n1\nSwitchName=b Switches=a,x\n",
            "net.txt:2: switch b has the child x, which no line describes",
        ),
        (
            re.sub(r"\nCa\b.*\n(.*\n)?\[1\].*\n", "\n", CAPTURE, count=1),
            r"net.txt:\d+: the cable leads to H-\w+, which has no block",
        ),
        (replace_once(TORUS, "x: 2", "x: 3"), r"net.txt:\d+: "),
        # No bandwidth, size, lane count or core count can be zero.
        (
            "torus2D 0 4\n",
            "net.txt:1: the extent of an axis is 0, expected 1 to 16384",
        ),
        ("cmplt 0\n", "net.txt:1: the number of terminals is 0"),
        (
            re.sub('bw="[^"]*"', 'bw="0Gbps"', XML["simgrid"]),
            r"net.txt:\d+: bw: a bandwidth must be above 0",
        ),
        (re.sub(r"\b4x([A-Z]+)", r"0x\1", CAPTURE), r"net.txt:\d+: no width and speed"),
        (
            re.sub('count="[0-9]+"', 'count="0"', HGX),
            r"net.txt:\d+: an nvlink with a count of 0",
        ),
        (
            "- topology: t\n  torus3d:\n    toruses:\n    - torus: t\n"
            "      dims: {x: 0, y: 1, z: 1}\n      nodes: a\n",
            "net.txt:5: 0 is not from 1 to 16384",
        ),
        # hwloc 1 has a separate tag for caches, and its files have no version.
        (
            '<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc.dtd">\n'
            '<topology>\n<object type="Machine" os_index="0" cpuset="0x1">\n'
            '<object type="Cache" depth="2" cpuset="0x1"/>\n</object></topology>\n',
            "net.txt:3: this is XML of hwloc 1; export it again",
        ),
        # Routes in one direction only.
        (
            '<?xml version="1.0"?>\n<platform version="4.1"><zone id="z" '
            'routing="Floyd">\n<host id="a" speed="1f"/><host id="b" speed="1f"/>\n'
            '<link id="l" bandwidth="1GBps" latency="1us"/>\n<route src="a" dst="b" '
            'symmetrical="NO"><link_ctn id="l"/></route></zone></platform>\n',
            "net.txt:2: routes do not join hosts 'a' and 'b' both ways",
        ),
    ],
)
def test_contradictory_files_are_refused_with_line_and_cause(
    text: str, message: str, tmp_path: Path
) -> None:
    assert re.match(message, find_error_message(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (replace_once(METIS, "1 1 3 1", "1 1 3 0"), "m.graph:3: "),
        (replace_once(METIS, "1 1 3 1", "3 1"), r"m.graph:\d: "),
        (replace_once(METIS, "2 1 4 2", "2 1 9 2"), "m.graph:2: "),
        (
            replace_once(METIS, "4 4 1", "4 5 1"),
            "m.graph: the header announces 5 edges",
        ),
        (replace_once(METIS, "4 4 1", "4 4000000000000 1"), r"m.graph:\d: "),
        (METIS[:20], r"m.graph:\d: "),
        (METIS + "1 1\n", r"m.graph:\d: "),
        ("\x00\x01\x02", "m.graph:"),
    ],
)
def test_a_wrong_metis_graph_names_its_line(
    text: str, message: str, tmp_path: Path
) -> None:
    assert re.match(message, find_error_message(tmp_path, text, "m.graph"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            replace_once(TOML, "0-2@2GB/s", "0-2@0GB/s"),
            "m.toml: .*above 0|m.toml: .*0GB/s",
        ),
        (replace_once(TOML, "1-2@2GB/s", "1-7@2GB/s"), "m.toml: .*7"),
        (replace_once(TOML, "1-2@2GB/s", "0-2@2GB/s"), "m.toml: .*twice"),
        (replace_once(TOML, "nodes = 2", "nodes = 0"), "m.toml: .*"),
        (
            replace_once(TOML, "nodes = 2", f"nodes = {'9' * 5000}"),
            "m.toml: .*: a number is too long",
        ),
        (replace_once(TOML, "nodes = 2", "nodes = 2\nnodes = 3"), "m.toml:6: not TOML"),
        (TOML[:60], "m.toml: not TOML: Unterminated string"),
        (TOML[:-8], "m.toml:?.*not TOML"),
    ],
)
def test_a_wrong_description_names_its_line_or_key(
    text: str, message: str, tmp_path: Path
) -> None:
    assert re.match(message, find_error_message(tmp_path, text, "m.toml"))


def test_the_unmodified_samples_are_valid(tmp_path: Path) -> None:
    for name, text in {
        "m.graph": METIS,
        "m.toml": TOML,
        "t.tgt": TARGETS[0][0],
    }.items():
        (tmp_path / name).write_text(text)
        load_machine(tmp_path / name)
