# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of ibstat and ibv_devinfo are named, with what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error
from topoloom.machines.machine_file import load_machine

IBSTAT = """CA 'mlx5_0'
\tCA type: MT4123
\tNumber of ports: 1
\tNode GUID: 0xb8599f0300fc6de4
\tSystem image GUID: 0xb8599f0300fc6de4
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 200
\t\tBase lid: 12
\t\tPort GUID: 0xb8599f0300fc6de4
\t\tLink layer: InfiniBand
CA 'mlx5_1'
\tNode GUID: 0xb8599f0300fc6de5
\tPort 1:
\t\tState: Down
\t\tPhysical state: Disabled
\t\tRate: 40
"""
DEVINFO = """hca_id:\tmlx5_0
\ttransport:\t\t\tInfiniBand (0)
\tnode_guid:\t\t\tb859:9f03:00fc:6de4
\tphys_port_cnt:\t\t\t1
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_ACTIVE (4)
\t\t\tactive_width:\t\t4X (2)
\t\t\tactive_speed:\t\t50.0 Gbps (64)
"""


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            IBSTAT,
            (
                "the output of ibstat lists the adapters of one host, but no cables",
                "mlx5_0 port 1 (0xb8599f0300fc6de4) active at 200 Gbit/s",
                "mlx5_1 port 1 (0xb8599f0300fc6de5) down at 40 Gbit/s",
                "pass the output of ibnetdiscover",
                "with --network 200Gbit/s",
            ),
        ),
        (
            DEVINFO,
            (
                "the output of ibv_devinfo lists",
                "mlx5_0 port 1 (b859:9f03:00fc:6de4) active at 200 Gbit/s",
            ),
        ),
        (DEVINFO.replace("active_speed", "x"), ("6de4) active; pass the output",)),
    ],
)
def test_adapters_of_one_host_are_described(
    text: str, parts: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "host.txt"
    path.write_text(text)
    with pytest.raises(Error) as raised:
        load_machine(path)
    for part in parts:
        assert part in str(raised.value)
