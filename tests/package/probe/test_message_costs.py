# SPDX-License-Identifier: BSD-3-Clause
"""The fitted model matches measured times of single and many messages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from topoloom.probe.inference.message_costs import LevelCosts, fit_level_costs
from topoloom.probe.job.samples import Exchange

SIZES = [2**n for n in range(23)]
LATENCY, BETA = 2e-6, 1e-10
#: Eager limit; longer messages use a handshake.
AT_ONCE = 32768


def infer_costs(
    send_time: float, receive_time: float, handshake_time: float
) -> LevelCosts:
    """Infer costs from exchanges with these send, receive and handshake times."""

    def compute_single_time(size: int) -> float:
        first = handshake_time if size > AT_ONCE else 0.0
        return send_time + LATENCY + first + receive_time + BETA * size

    def compute_gap(size: int) -> float:
        return max(send_time, receive_time, BETA * size)

    def make_exchange(kind: str, size: int, window: int, seconds: float) -> Exchange:
        return Exchange(0, "alone", kind, size, window, 0, 1, np.full(5, seconds))

    made = [make_exchange("echo", size, 1, compute_single_time(size)) for size in SIZES]
    for size in SIZES:
        rest = compute_single_time(size) + compute_single_time(1)
        made.append(make_exchange("burst", size, 16, rest + 15 * compute_gap(size)))
    made.append(make_exchange("send-cpu", 8, 1, send_time))
    # The message can proceed only after the receive is posted.
    made.append(make_exchange("receive-cpu", 8, 1, compute_single_time(8)))
    for window in (64, 256):
        both = 2 * compute_single_time(8) + window * (send_time + receive_time)
        made.append(make_exchange("both", 8, window, both))
    costs = fit_level_costs(made)
    assert costs is not None
    return costs


@given(
    send_time=st.floats(1e-7, 5e-7),
    receive_time=st.floats(1e-7, 5e-7),
    handshake_time=st.floats(0, 4e-5),
)
def test_a_single_message_takes_its_measured_time_at_every_size(
    send_time: float, receive_time: float, handshake_time: float
) -> None:
    costs = infer_costs(send_time, receive_time, handshake_time)
    fit = costs.alone.fit
    found = [costs.model.arrival(int(size)) for size in fit.sizes]
    assert found == pytest.approx(fit.measured.tolist(), rel=0.03)


def test_successive_long_messages_overlap_their_handshakes() -> None:
    model = infer_costs(3e-7, 2e-7, handshake_time=3e-5).model
    size = 2 * AT_ONCE
    assert model.arrival(size) == pytest.approx(3.25e-5 + BETA * size, rel=0.02)
    assert model.time(size) == pytest.approx(BETA * size, rel=0.05)
    assert model.arrival(AT_ONCE) == pytest.approx(2.5e-6 + BETA * AT_ONCE, rel=0.02)


@given(send_time=st.floats(1e-7, 5e-7), receive_time=st.floats(1e-7, 5e-7))
def test_overheads_are_inferred_from_windows_of_nonblocking_calls(
    send_time: float, receive_time: float
) -> None:
    costs = infer_costs(send_time, receive_time, 0)
    assert costs.send_cpu == pytest.approx(send_time)
    assert costs.receive_cpu == pytest.approx(receive_time, rel=0.01)
    if (
        receive_time > 1.2 * send_time
    ):  # with several receivers the sender is the bottleneck
        assert costs.model.time(1) == pytest.approx(send_time, rel=0.05)


def test_errors_and_intervals_match_the_written_lines() -> None:
    """Holds even if longer messages are faster and the model raises other times."""

    def compute_seconds(size: int) -> float:
        return 4e-6 + BETA * size if size < 2048 else 3e-6 + 2 * BETA * size

    echoes = [
        Exchange(0, "alone", "echo", size, 1, 0, 1, np.full(3, compute_seconds(size)))
        for size in SIZES
    ]
    costs = fit_level_costs(echoes)
    assert costs is not None
    assert costs.alone.model.time(8) == pytest.approx(compute_seconds(2048), rel=0.001)
    found = costs.alone.document()
    assert found["worst_error"] == pytest.approx(0, abs=1e-6)
    first, second = found["lines"]
    assert first["alpha_interval_seconds"] == pytest.approx([4e-6, 4e-6], rel=0.01)
    assert second["alpha_interval_seconds"] == pytest.approx([3e-6, 3e-6], rel=0.01)


def test_sender_overhead_does_not_exceed_the_gap() -> None:
    """Reading the clock adds to the measured call time, so the export uses the gap."""
    costs = infer_costs(3e-7, 1e-7, 0)
    slow_clock = replace(costs, send_cpu=5e-7)
    assert slow_clock.model.costs.send_cpu == pytest.approx(3e-7, rel=0.01)
