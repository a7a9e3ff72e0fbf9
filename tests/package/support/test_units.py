# SPDX-License-Identifier: BSD-3-Clause
"""Quantities with units, read and written."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from topoloom import Error
from topoloom.support.units import (
    format_bytes,
    format_count,
    format_exact_bytes,
    format_seconds,
    format_size,
    parse_bandwidth,
    parse_bytes,
    parse_duration,
    parse_latency,
)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1024", 1024),
        ("64 KiB", 65536),
        ("64KiB", 65536),
        ("1 kB", 1000),
        ("1KB", 1000),
        ("1.5 MB", 1_500_000),
        ("0.5KiB", 512),
        ("2G", 2_000_000_000),
        ("7 B", 7),
        ("0", 0),
    ],
)
def test_bytes_are_read_with_decimal_and_binary_prefixes(
    text: str, amount: int
) -> None:
    assert parse_bytes(text) == amount


@pytest.mark.parametrize(
    "text",
    ["", "KiB", "-1", "1.5", "1 XB", "1 KiBB", "nan", "1e99", "10 PiBi", "1 b/s"],
)
def test_fractional_bytes_are_refused(text: str) -> None:
    with pytest.raises(Error, match="bytes"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("250ms", 0.25), ("2 min", 120), ("3", 3), ("1h", 3600)],
)
def test_durations_default_to_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("9.4 GB/s", 9.4e9),
        ("100 Gbit/s", 12.5e9),
        ("100Gbps", 12.5e9),
        ("25GBps", 25e9),
        ("1 KiB/s", 1024),
        ("5", 5),
    ],
)
def test_bandwidths_are_bytes_per_second(text: str, rate: float) -> None:
    assert parse_bandwidth(text) == pytest.approx(rate)


@pytest.mark.parametrize("text", ["0 GB/s", "-1 GB/s", "9.4 GB", "fast", "9.4 G/s", ""])
def test_invalid_bandwidths_are_refused(text: str) -> None:
    with pytest.raises(Error, match="bandwidth"):
        parse_bandwidth(text)


def test_latencies_are_seconds() -> None:
    for unit in ("us", "µs", "\N{GREEK SMALL LETTER MU}s"):
        assert parse_latency(f"1.3 {unit}") == pytest.approx(1.3e-6)
    with pytest.raises(Error, match="latency"):
        parse_latency("1 min")
    with pytest.raises(Error, match="1e\\+09 s or less"):
        parse_latency("1e308 s")


@given(st.integers(0, 2**40))
def test_written_whole_bytes_are_read_back(amount: int) -> None:
    assert parse_bytes(f"{amount} B") == amount


@given(st.integers(1, 10**6), st.sampled_from(["kB", "MB", "GB", "TB"]))
def test_decimals_are_read_exactly(thousandths: int, unit: str) -> None:
    power = {"kB": 1, "MB": 2, "GB": 3, "TB": 4}[unit]
    written = f"{thousandths // 1000}.{thousandths % 1000:03}{unit}"
    assert parse_bytes(written) == thousandths * 1000 ** (power - 1)


@given(st.integers(0, 2**50))
def test_exact_bytes_are_read_back(amount: int) -> None:
    assert parse_bytes(format_exact_bytes(amount)) == amount
    assert format_exact_bytes(0) == "0 B"


def test_amounts_are_written_with_units() -> None:
    assert format_bytes(0) == "0 B"
    assert format_bytes(1000) == "1000 B"
    assert format_bytes(1024) == "1.0 KiB"
    assert format_bytes(3 * 2**20) == "3.0 MiB"
    assert format_bytes(1024 * 1023.99) == "1.0 MiB"
    assert format_bytes(0.25) == "0.25 B"
    assert [format_size(size) for size in (76, 1500, 4096, 3 * 2**20)] == [
        *("76 B", "1,500 B", "4 KiB", "3 MiB")
    ]
    assert format_count(1234567) == "1,234,567"
    assert format_count(1.5) == "1.500"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (3.27e-7, "327 ns"),
        (1.3e-6, "1.3 us"),
        (0.0240504, "24.05 ms"),
        (1, "1 s"),
        (24_000_400, "24000000 s"),
    ],
)
def test_times_are_written_with_four_digits_and_a_unit(
    seconds: float, text: str
) -> None:
    assert format_seconds(seconds) == text


@given(st.floats(1e-9, 1e6))
def test_a_written_time_is_read_back_approximately(seconds: float) -> None:
    assert parse_duration(format_seconds(seconds)) == pytest.approx(seconds, rel=1e-3)
