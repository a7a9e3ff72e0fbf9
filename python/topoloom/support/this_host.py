# SPDX-License-Identifier: BSD-3-Clause
"""Compares host names with the local host."""

from __future__ import annotations

import socket


def is_this_host(name: str) -> bool:
    """Return whether a name is the local host or loopback; ignore the domain."""
    here = socket.gethostname().partition(".")[0]
    bare = name.partition(".")[0]
    return bare in ("localhost", here) or name.startswith("127.") or name == "::1"
