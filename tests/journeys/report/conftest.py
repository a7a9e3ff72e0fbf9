# SPDX-License-Identifier: BSD-3-Clause
"""The browser shared by the tests of report pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser import start_chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the browser once for all tests."""
    with start_chromium() as started:
        yield started
