# SPDX-License-Identifier: BSD-3-Clause
"""Detect commands that start torchrun."""

from __future__ import annotations

import shlex

import pytest

from topoloom.launch.apply.torch_command import is_torchrun


@pytest.mark.parametrize(
    ("command", "starts_torchrun"),
    [
        ("torchrun --nnodes 2 train.py", True),
        ("/opt/bin/torchrun train.py", True),
        ("python3 -u -m torch.distributed.run train.py", True),
        ("python -m torch.distributed.launch train.py", True),
        ("env A=1 torchrun train.py", True),
        ("ibrun torchrun train.py", True),
        ("mpirun -n 2 torchrun train.py", True),
        ("mpirun -n 2 bash -c 'cd x; torchrun train.py'", True),
        ("mpirun -n 2 ./start.sh torchrun train.py", True),
        ("mpirun -n 2 ./hello --log torchrun", False),
        ("mpirun -n 2 python train.py torchrun", False),
        ("python train.py torchrun", False),
        ("python -m torch.distributed.runs", False),
        ("./torchrun.d/hello", False),
        ("./app --log torchrun", False),
        ("./app --log torchrun --steps 5", False),
        ("./app input torchrun 5", False),
        ("timeout 60 ./app --log torchrun x", False),
        ("sh -c './app --log torchrun x'", False),
        ("sh run.sh --launcher torchrun x", False),
        ("srun.none -n 2 sh start.sh torchrun train.py", True),
        ("nice -n 5 numactl -C 0-3 --localalloc torchrun train.py", True),
        ("python -W ignore -m torch.distributed.run train.py", True),
        ("bash -lc 'cd x && A=1 exec torchrun train.py'", True),
        ("sh -c 'exec \"$@\"' _ torchrun train.py", True),
        ("docker run --rm nvcr.io/x torchrun train.py", True),
    ],
)
def test_torchrun_is_recognized_only_as_a_program(
    command: str, starts_torchrun: bool
) -> None:
    assert is_torchrun(shlex.split(command)) == starts_torchrun
