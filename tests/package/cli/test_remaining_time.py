# SPDX-License-Identifier: BSD-3-Clause
"""Long tasks report their remaining time once if there is no progress bar."""

from __future__ import annotations

import pytest

from topoloom.cli.forecast import Forecast


@pytest.mark.parametrize(
    ("done_steps", "remaining_time"),
    [
        (500, None),  # 500 of 1000 in 20 s: 20 s remain
        (100, "3 min"),
        (10, "33 min"),
        (1, "6 h"),
    ],
)
def test_a_long_remaining_time_is_reported_once(
    done_steps: int, remaining_time: str | None
) -> None:
    lines: list[str] = []
    now = iter([5.0, 6.0, 25.0, 30.0])
    forecast = Forecast("1/2 block", "packets", lines.append, lambda: next(now))
    forecast(0, 1000)
    for _ in range(2):
        forecast(done_steps, 1000)
    expected = (
        f"topoloom: 1/2 block: {done_steps} of 1,000 packets in 20 s; the rest takes"
    )
    assert lines == ([f"{expected} about {remaining_time}"] if remaining_time else [])


def test_no_remaining_time_is_reported_before_progress() -> None:
    lines: list[str] = []
    now = iter([0.0, 100.0, 200.0])
    forecast = Forecast("1/2 block", "packets", lines.append, lambda: next(now))
    forecast(0, 10**12)
    forecast(10**6, 10**12)
    assert len(lines) == 1
    assert lines[0].endswith("the rest takes about 2,315 days")
