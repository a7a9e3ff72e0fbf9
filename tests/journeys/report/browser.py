# SPDX-License-Identifier: BSD-3-Clause
"""A headless browser that opens reports and records errors."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


#: Long enough for heavily loaded machines.
TIMEOUT_MS = 600_000


@dataclass
class OpenPage:
    """A page with its console errors and network requests."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextlib.contextmanager
def start_chromium() -> Iterator[Browser]:
    """Start Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    assert program is not None, "chromium is not on PATH; run tools/setup.sh test"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=ARGUMENTS, timeout=TIMEOUT_MS
        )
        try:
            yield browser
        finally:
            browser.close()


def open_report(browser: Browser, path: Path, **settings: Any) -> OpenPage:
    """Open a report file, and wait until its pictures are drawn."""
    settings.setdefault("viewport", {"width": 1200, "height": 900})
    opened = OpenPage(browser.new_page(**settings))
    page = opened.page
    page.set_default_timeout(TIMEOUT_MS)
    page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    page.on("console", lambda message: opened.complaints.append(message.text))
    page.on("dialog", lambda dialog: opened.complaints.append(dialog.message))
    page.on("request", lambda request: opened.requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn]")
    return opened
