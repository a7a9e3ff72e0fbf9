# SPDX-License-Identifier: BSD-3-Clause
"""Stub of the store of a fake world."""


class FakeStore:
    """Keeps nothing."""
