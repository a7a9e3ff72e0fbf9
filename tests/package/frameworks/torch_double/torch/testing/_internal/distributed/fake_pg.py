# SPDX-License-Identifier: BSD-3-Clause
"""The store of a fake world."""


class FakeStore:
    """Keeps nothing."""
