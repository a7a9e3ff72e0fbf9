# SPDX-License-Identifier: BSD-3-Clause
"""Names of the local host."""

from __future__ import annotations

import socket


def is_this_host(name: str) -> bool:
    """Return whether a name is this host's, with or without a domain, or loopback."""
    here = socket.gethostname().partition(".")[0]
    bare = name.partition(".")[0]
    return bare in ("localhost", here) or name.startswith("127.") or name == "::1"
