# SPDX-License-Identifier: BSD-3-Clause
"""Switches in TOML: keys, effects and errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from topoloom import CommGraph, Error, Machine
from topoloom.simulate import bind_switch, load_simulator
from topoloom.simulate.switch_toml import (
    SwitchModel,
    load_machine_switch,
    load_switch,
    switch_names,
)
from topoloom.simulate.switches import simulate

MACHINE = "mesh:3,bandwidth=1GB/s,latency=100ns+node:1,startup=0us,latency=0us"


def simulate_message(size: int, switch: SwitchModel) -> float:
    ends = np.array([0], np.uint32), np.array([1], np.uint32)
    graph = CommGraph.from_edges(2, *ends, np.array([float(size)]))
    return simulate(Machine(MACHINE), [0, 2], [graph], switch).seconds[0]


def write_file(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(f'format = "topoloom-switch"\nversion = 1\n[switch]\n{text}\n')
    return path


def test_every_included_switch_can_be_simulated_and_has_a_source() -> None:
    ours = {"quantum", "quantum2", "rosetta", "tomahawk-ultra", "tomahawk5"}
    assert {"kumar-2005", *ours} == set(switch_names())
    for name in switch_names():
        switch = load_switch(name)
        assert switch.latency is not None
        # Two links of 100 ns each, and three switches.
        found = simulate_message(8, switch)
        assert found == pytest.approx(200e-9 + 3 * switch.latency, rel=0.2)


def test_keys_set_the_named_options(tmp_path: Path) -> None:
    switch = load_switch(
        write_file(
            tmp_path,
            'latency = "1 us"\nvirtual_channels = 2\nbuffer = "64 KiB"\nflit = "32 B"\n'
            'payload = "2 KiB"\nheader = "32 B"\nswitching = "cut-through"\n'
            'router = "voq"\nrouting = "minimal-adaptive"\narbiter = "age"\n'
            'allocator = "islip"\niterations = 1\ninjection = "2 GB/s"',
        )
    )
    assert switch == SwitchModel(
        1e-6, 2, 65536, 32, 2048, 32, "cut-through", "voq", "minimal-adaptive", "age",
        "islip", 1, 2e9,
    )  # fmt: skip


def test_headers_and_latencies_take_time() -> None:
    plain = SwitchModel(flit=64, payload=1024, header=1)
    half = SwitchModel(flit=64, payload=1024, header=1024)
    assert simulate_message(10**6, half) == pytest.approx(
        simulate_message(10**6, plain) * 32 / 17, rel=0.02
    )
    slow = SwitchModel(flit=64, latency=2e-6)
    fast = SwitchModel(flit=64, latency=1e-6)
    assert simulate_message(8, slow) - simulate_message(8, fast) == pytest.approx(
        3e-6, rel=0.03
    )


def test_a_machine_file_can_have_a_switch(tmp_path: Path) -> None:
    head = 'format = "topoloom-machine"\nversion = 1\n[topology]\nkind = "torus"\n'
    path = tmp_path / "m.toml"
    path.write_text(head + 'size = [4]\n[switch]\nlatency = "2 us"\n')
    assert load_machine_switch(str(path)) == SwitchModel(latency=2e-6)
    path.write_text(head + "size = [4]\n")
    assert load_machine_switch(str(path)) is None
    assert load_machine_switch("torus:4") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('latencies = "1 us"', "switch.latencies.*switch.latency"),
        ("latency = 1", "switch.latency must be a string with a unit"),
        ("virtual_channels = 0", "switch.virtual_channels must be 1 or more"),
        ('arbiter = "oldest"', "arbiter 'oldest'"),
        ('flit = "0 B"', "switch.flit must be a byte or more"),
        ("payload = true", "switch.payload must be a string"),
        ("flit = '2 MiB'", r"switch\.flit must be at most 1 MiB"),
        ("virtual_channels = 33", r"switch\.virtual_channels must be at most 32"),
        ("buffer = '0 B'", r"switch\.buffer must be a byte or more"),
        ("switching = 'wormhole'", r"switch\.switching: output-queued"),
        ("allocator = 'wavefront'", r"switch\.allocator and switch\.iterations"),
        ("iterations = 2", r"switch\.allocator and switch\.iterations"),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = write_file(tmp_path, text)
    with pytest.raises(Error, match=message) as caught:
        load_switch(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_unknown_names_and_simulators_without_switches_are_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(Error, match=r"no switch 'rosette'.*rosetta"):
        load_switch("rosette")
    other = tmp_path / "other.toml"
    other.write_text("name = 'nothing'")
    with pytest.raises(Error, match=r"\[switch\] is missing"):
        load_switch(other)
    other.write_text("")
    with pytest.raises(Error, match="the file is empty"):
        load_switch(other)
    with pytest.raises(Error, match="simgrid does not simulate switches"):
        bind_switch(load_simulator("simgrid"), "simgrid", "rosetta")
