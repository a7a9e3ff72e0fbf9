# SPDX-License-Identifier: BSD-3-Clause
"""Names of this host."""

from __future__ import annotations

import socket


def is_this_host(name: str) -> bool:
    """Whether a name, with or without a domain, or address is this host's."""
    here = socket.gethostname().partition(".")[0]
    bare = name.partition(".")[0]
    return bare in ("localhost", here) or name.startswith("127.") or name == "::1"
