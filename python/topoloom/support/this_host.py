# SPDX-License-Identifier: BSD-3-Clause
"""Which names stand for the host that we are on."""

from __future__ import annotations

import socket


def is_this_host(name: str) -> bool:
    """Return whether it names this host, with or without a domain, or loops back."""
    here = socket.gethostname().partition(".")[0]
    bare = name.partition(".")[0]
    return bare in ("localhost", here) or name.startswith("127.") or name == "::1"
