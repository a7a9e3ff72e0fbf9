# SPDX-License-Identifier: BSD-3-Clause
"""JSON files of link loads, valid and invalid."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from topoloom import Error, Machine
from topoloom.machines.link_loads import load_link_loads, save_link_loads

MACHINE = Machine("mesh:3")
GOOD = {
    "format": "topoloom-loads",
    "version": 1,
    "machine": "mesh:3",
    "loads": [0] * MACHINE.link_count,
}


def test_saved_link_loads_are_read_back(tmp_path: Path) -> None:
    loads = np.arange(MACHINE.link_count) / 2
    save_link_loads(tmp_path / "l.json", MACHINE, loads)
    assert load_link_loads(tmp_path / "l.json", MACHINE).tolist() == loads.tolist()
    document = json.loads((tmp_path / "l.json").read_text())
    assert document == {**GOOD, "loads": loads.tolist()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("{", "not JSON"),
        ("[1]", 'not a topoloom-loads file: it has no "format"'),
        (
            json.dumps({**GOOD, "format": "topoloom-placement"}),
            "is a placement, not a file of link loads",
        ),
        (json.dumps({**GOOD, "version": 2}), "version 2, but this Topoloom reads"),
        (json.dumps({**GOOD, "machine": "mesh:4"}), "is for mesh:4, not for mesh:3"),
        (json.dumps({**GOOD, "loads": [1]}), "1 loads for the"),
        (json.dumps({**GOOD, "loads": {}}), '"loads" must be a list'),
        (json.dumps({**GOOD, "loads": [0, -1, *GOOD["loads"]][:4]}), "loads[1] is -1"),
        (json.dumps({**GOOD, "loads": [0, 0, "3", 0]}), "loads[2] is '3', expected"),
        (json.dumps({**GOOD, "loads": [True, 0, 0, 0]}), "loads[0] is True, expected"),
        (json.dumps({**GOOD, "loads": [1e300, 0, 0, 0]}), "bytes, 0 to 2^52"),
        (json.dumps({**GOOD, "loads": [float("nan")] * 4}), "contains NaN, which is"),
    ],
)
def test_errors_in_load_files_name_the_file(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "l.json").write_text(text)
    with pytest.raises(Error) as caught:
        load_link_loads(tmp_path / "l.json", MACHINE)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "l.json"))
