# SPDX-License-Identifier: BSD-3-Clause
"""Hosts simulated by SimGrid, connected to one switch by links of 10 GB/s and 1 us."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from exchange.programs import PLATFORM


def hosts_options(folder: Path, hosts: int, settings: Mapping[str, str]) -> list[str]:
    """Write a platform; return the options of smpirun for one rank per host.

    Parameters
    ----------
    settings
        Settings of SimGrid, such as ``{"smpi/test": "1e-6"}``.
    """
    platform, hostfile = folder / "platform.xml", folder / "hosts"
    platform.write_text(PLATFORM.format(last=hosts - 1))
    hostfile.write_text("".join(f"n{i}\n" for i in range(hosts)))
    options = [f"--cfg={name}:{value}" for name, value in settings.items()]
    return ["-hostfile", str(hostfile), "-platform", str(platform), *options]
