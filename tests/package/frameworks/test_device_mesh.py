# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on a device mesh: groups are slices of a rank array, in supported orders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.frameworks.device_mesh import ORDERED, DeviceMeshJob

AXES = ("pp", *ORDERED)
SIZES = st.fixed_dictionaries({axis: st.sampled_from([1, 2, 3]) for axis in AXES})


@given(SIZES)
def test_groups_are_lines_of_the_rank_array(sizes: dict[str, int]) -> None:
    job = DeviceMeshJob(**sizes)
    layouts = job.layouts()
    for layout in layouts:
        names = [axis for axis in layout.name.split("-") if sizes[axis] > 1]
        array = np.arange(job.ranks).reshape([sizes[axis] for axis in names])
        for at, axis in enumerate(names):
            lines = np.moveaxis(array, at, -1).reshape(-1, sizes[axis])
            assert sorted(layout.groups(axis).tolist()) == sorted(lines.tolist())
        kept = [axis for axis in names if axis != "pp"]
        assert kept == sorted(kept, key=ORDERED.index)
    others = sum(sizes[axis] > 1 for axis in ORDERED)
    assert len(layouts) == (others + 1 if sizes["pp"] > 1 else 1)
    assert layouts[0].name.startswith("pp") == (sizes["pp"] > 1)


def test_settings_are_a_line_of_python() -> None:
    job = DeviceMeshJob(replicate=2, shard=4, tp=8)
    (line,) = job.settings(job.layouts()[0].name)
    assert line == (
        "init_device_mesh('cuda', (2, 4, 8), "
        "mesh_dim_names=('replicate', 'shard', 'tp'))"
    )


def test_refused_device_meshes_have_a_reason() -> None:
    with pytest.raises(Error, match="cp = -1; it must be at least 1"):
        DeviceMeshJob(cp=-1)
