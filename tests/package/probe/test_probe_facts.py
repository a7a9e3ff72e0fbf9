# SPDX-License-Identifier: BSD-3-Clause
"""If edited keys of a file prevent its display, errors name the keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error
from topoloom.tasks.machines.probe import read_probe_results


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("probe = 3", "[probe] must be a table"),
        ("[probe]\nmodels = [1]", "probe.models[0] must be a table"),
        ("[[probe.models]]\nshort_seconds = 1e-6", "probe.models[0].level is missing"),
        (
            "[[probe.models]]\nlevel = 'x'\nshort_seconds = 'y'",
            "short_seconds must be a number",
        ),
        (
            "[[probe.models]]\nlevel = 'x'\nshort_seconds = nan",
            "short_seconds must be finite",
        ),
        ("[probe]\nchannels = [{}]", "probe.channels[0].pattern is missing"),
        ("[[probe.suspects]]\nkind = 'host'", "probe.suspects[0].hosts is missing"),
        ("[probe]\ndoubts = [nan]", "probe.doubts[0] must be a string"),
        ("[probe]\nshared_links = 'x'", "probe.shared_links must be a list"),
        ("[probe]\nhosts = ['a', 'a']", "probe.hosts names a host twice"),
        (
            "[probe]\nhosts = ['a']\nhost_of = [0, 1]",
            "probe.host_of must name each of 1 hosts",
        ),
        (
            "[probe]\nhost_of = [0, 1]\ngroups = [[0], [0]]",
            "probe.groups must have each of 2 ranks once",
        ),
        ("[probe]\ngroups = [[0], 1]", "must have ranks or groups, not both"),
    ],
)
def test_keys_with_values_that_no_probe_writes_are_refused(
    tmp_path: Path, lines: str, message: str
) -> None:
    file = tmp_path / "m.toml"
    file.write_text(lines + "\n")
    with pytest.raises(Error) as raised:
        read_probe_results(str(file))
    assert str(raised.value).startswith(f"{file}: ")
    assert str(raised.value).endswith(message)


def test_unprobed_machines_have_no_probe_facts(tmp_path: Path) -> None:
    assert read_probe_results("torus:4x4") == {}
    file = tmp_path / "m.toml"
    file.write_text("[topology]\nkind = 'torus'\n")
    assert read_probe_results(str(file)) == {}
