# SPDX-License-Identifier: BSD-3-Clause
"""The store of a world in which nobody else is."""


class FakeStore:
    """Keeps nothing."""
