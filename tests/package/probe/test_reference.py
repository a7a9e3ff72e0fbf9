# SPDX-License-Identifier: BSD-3-Clause
"""Modified probe files are refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error
from topoloom.probe.reference import read_reference

LINES = {
    "hosts": '["a", "b", "c"]',
    "unit_groups": "[[0, 1], [0, 1, 2]]",
    "long_bytes": "262144",
    "pair_seconds": "{ echo = { near = 1e-6, far = 2e-6 }, burst = { far = 1e-3 } }",
}


def write_file(folder: Path, **changed: str | None) -> Path:
    file = folder / "m.toml"
    lines = LINES | changed
    text = "".join(f"{key} = {value}\n" for key, value in lines.items() if value)
    file.write_text(f"[probe]\n{text}")
    return file


def test_pairs_of_a_group_have_the_near_time(tmp_path: Path) -> None:
    reference = read_reference(write_file(tmp_path, unit_groups="[[0, 1]]"))
    assert reference.get_expected_seconds("echo", 0, 1) == 1e-6
    assert reference.get_expected_seconds("echo", 1, 2) == 2e-6
    assert reference.get_expected_seconds("burst", 0, 1) == 1e-3


def format_suspect(kind: str, hosts: str, of: str, way: str = "both") -> str:
    return (
        f'[{{ kind = "{kind}", hosts = {hosts}, of = "{of}", times_as_long = 3.0, '
        f'way = "{way}", direction = "" }}]'
    )


def test_expected_times_include_known_slow_hosts(tmp_path: Path) -> None:
    slow = write_file(
        tmp_path, suspects=format_suspect("host", '["b"]', "bandwidth", "out")
    )
    reference = read_reference(slow)
    # Only the bandwidth term is three times as large.
    longer = 2 * (1e-3 - 2 * 1e-6)
    assert reference.get_expected_seconds("burst", 1, 0) == pytest.approx(1e-3 + longer)
    assert reference.get_expected_seconds("burst", 0, 1) == 1e-3
    # A round trip of 512 bytes, in which one direction is slow.
    later = longer * 512 / (4 * 262144) / 2
    assert reference.get_expected_seconds("echo", 0, 1) == pytest.approx(1e-6 + later)
    link = write_file(
        tmp_path, suspects=format_suspect("link", '["a", "b"]', "latency")
    )
    reference = read_reference(link)
    assert reference.get_expected_seconds("echo", 1, 0) == pytest.approx(3e-6)
    assert reference.get_expected_seconds("burst", 0, 1) == pytest.approx(
        1e-3 + 2 * 2e-6
    )
    assert reference.get_expected_seconds("echo", 0, 2) == 1e-6


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, None) for key in LINES),
        ("hosts", '"a"'),
        ("hosts", "[1, 2]"),
        ("unit_groups", "[1, 2]"),
        ("unit_groups", '[["a"]]'),
        ("long_bytes", '"x"'),
        ("long_bytes", "-1"),
        ("pair_seconds", "[1]"),
        ("suspects", format_suspect("host", '["d"]', "latency")),
        ("suspects", format_suspect("link", '["a"]', "latency")),
        ("suspects", "[{}]"),
        ("pair_seconds", "{ echo = 'x', burst = { far = 1e-3 } }"),
        ("pair_seconds", "{ echo = {}, burst = { far = 1e-3 } }"),
        ("pair_seconds", "{ echo = { near = 0.0 }, burst = { far = 1e-3 } }"),
        ("pair_seconds", "{ echo = { near = nan }, burst = { far = 1e-3 } }"),
    ],
)
def test_invalid_keys_of_a_probe_reference_are_refused(
    tmp_path: Path, key: str, value: str | None
) -> None:
    file = write_file(tmp_path, **{key: value})
    with pytest.raises(Error, match=r"m\.toml: ") as raised:
        read_reference(file)
    assert "\n" not in str(raised.value)
