# SPDX-License-Identifier: BSD-3-Clause
"""Fitted network models have the parameters that generated the times."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from topoloom import Error
from topoloom.model import NetworkModel
from topoloom.model.fit import MIN_SIZES, fit_model, fit_split
from topoloom.model.model_names import load_model
from topoloom.model.samples import read_pairs, read_pings

ROOT = Path(__file__).resolve().parents[3]
DOUBLING = [2**i for i in range(23)]
#: Message sizes that are dense enough for regimes as short as those of QsNet.
DENSE = [round(2 ** (i / 3)) for i in range(6, 60)]


def predict_times(model: NetworkModel, sizes: list[int]) -> list[float]:
    return [model.time(size) for size in sizes]


@pytest.mark.parametrize(("name", "sizes"), [("qsnet", DENSE), ("hdr100", DOUBLING)])
def test_planted_regimes_are_found_with_their_limits(
    name: str, sizes: list[int]
) -> None:
    made = load_model(name).model
    fit = fit_model(sizes, predict_times(made, sizes))
    assert len(fit.model.lines) == len(made.lines)
    assert np.abs(fit.errors).max() < 1e-6
    for found, line in zip(fit.model.lines, made.lines, strict=True):
        assert found[:2] == pytest.approx(line[:2], rel=1e-5)


@pytest.mark.parametrize("name", ["myrinet", "slingshot"])
def test_the_planted_maximum_of_lines_is_found(name: str) -> None:
    made = load_model(name).model
    fit = fit_model(DOUBLING, predict_times(made, DOUBLING))
    assert fit.model.takes_largest
    np.testing.assert_allclose(
        [line[:2] for line in sorted(fit.model.lines)],
        [line[:2] for line in sorted(made.lines)],
        rtol=1e-6,
    )


def test_a_noisy_line_is_nearly_always_fitted_by_one_line() -> None:
    line = NetworkModel.regimes([(2e-6, 1e-10, None)])
    kept = 0
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(1, 0.03, (3, len(DOUBLING)))
        fit = fit_model(DOUBLING * 3, (predict_times(line, DOUBLING) * noise).ravel())
        if len(fit.model.lines) == 1:
            ((alpha, beta, _),) = fit.model.lines
            assert alpha == pytest.approx(2e-6, rel=0.05)
            assert beta == pytest.approx(1e-10, rel=0.05)
            kept += 1
    assert kept >= 18


def test_an_outlier_among_samples_of_a_size_is_ignored() -> None:
    clean = predict_times(load_model("hdr").model, DOUBLING)
    noisy = clean * 3
    noisy[5] *= 40
    assert fit_model(DOUBLING * 3, noisy).model.lines == (
        fit_model(DOUBLING, clean).model.lines
    )


def compute_relative_error(x: np.ndarray, t: np.ndarray) -> float:
    """Return the least squared relative error of a line, from the definition."""
    u, v = 1 / t, x / t
    tried = [np.linalg.lstsq(np.column_stack([u, v]), np.ones_like(t), rcond=None)[0]]
    tried += [np.array([u.sum() / (u @ u), 0]), np.array([0, v.sum() / (v @ v)])]
    return min(
        float(np.sum((alpha * u + beta * v - 1) ** 2))
        for alpha, beta in tried
        if alpha >= 0 and beta >= 0
    )


def test_fitted_regime_limits_minimize_the_error() -> None:
    x = np.array([2.0**i for i in range(12)])
    cut = 0
    for seed in range(6):
        random = np.random.default_rng(seed)
        jump = np.where(x > 2 ** random.integers(3, 8), 9e-6, 2e-6)
        t = (jump + 1e-8 * x) * random.uniform(0.9, 1.1, len(x))
        fit = fit_model(x, t)
        assert not fit.model.takes_largest
        regimes = len(fit.model.lines)
        cut += regimes > 1
        places = (
            (0, *inner, len(x)) for inner in combinations(range(1, len(x)), regimes - 1)
        )
        best = min(
            sum(compute_relative_error(x[a:b], t[a:b]) for a, b in pairwise(ends))
            for ends in places
            if min(b - a for a, b in pairwise(ends)) >= MIN_SIZES
        )
        assert np.sum(fit.errors**2) == pytest.approx(best, rel=1e-6)
    assert cut >= 4


def test_no_time_of_a_fit_is_negative() -> None:
    falling = fit_model([1, 2, 4, 8], [4e-6, 3e-6, 2e-6, 1e-6])
    ((_, beta, _),) = falling.model.lines
    assert beta == 0
    steep = fit_model([1, 10, 100], [1e-9, 2e-7, 1.5e-6])
    ((alpha, _, _),) = steep.model.lines
    assert alpha == 0


@pytest.mark.parametrize("name", ["hdr", "hdr100", "infiniband-4x", "slingshot"])
def test_included_models_equal_fits_of_their_measurements(name: str) -> None:
    fit = fit_model(*read_pings(ROOT / "models" / "measured" / f"{name}.csv"))
    model = load_model(name).model
    shipped = [model.time(int(size)) for size in fit.sizes]
    np.testing.assert_allclose(fit.predicted, shipped, rtol=1e-3)


def test_fitted_times_never_decrease_with_the_size() -> None:
    sizes = np.array([2.0**i for i in range(12)])
    for slow in (1.5, 2.0, 5.0):
        line = 1e-6 + 1e-8 * sizes
        fit = fit_model(sizes, np.where(sizes < 100, slow * line, line))
        times = [fit.model.time(size) for size in range(1, 3000)]
        assert times == sorted(times)
        assert fit.model.time(64) == pytest.approx(min(slow * line[6], line[7]))
        np.testing.assert_allclose(fit.predicted[7:], line[7:])


def test_models_of_kumar_have_the_published_errors() -> None:
    sizes = [16 * 4**i for i in range(8)]
    qsnet = np.array([9.8, 11.6, 13.6, 21.4, 44.4, 139, 532, 2109]) / 1e6
    errors = predict_times(load_model("qsnet").model, sizes) / qsnet - 1
    assert np.abs(errors[1:]).max() < 0.05
    myrinet = np.array([9.4, 9.2, 9.7, 11.4, 25.4, 71.8, 269, 1063]) / 1e6
    errors = predict_times(load_model("myrinet").model, sizes) / myrinet - 1
    assert errors[4] == pytest.approx(-0.13, abs=0.005)
    assert np.abs(np.delete(errors, 4)).max() < 0.05


def test_alpha_and_beta_of_a_split_fit_equal_published_values() -> None:
    trips = [17.31, 22.7, 27.23, 52.38, 77.99, 89.67, 140, 240, 460, 860, 1720, 3520]
    trips += [7860, 16410, 32610]
    sizes = [1024 << i for i in range(15)]
    fit = fit_split(sizes, np.array(trips) / 2e6, 64 * 1024)
    ((alpha, beta, _),) = fit.model.lines
    assert round(alpha * 1e6, 2) == 13.52
    assert round(1e-6 / beta, 1) == 1021.3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no measured times"),
        ("size,time\n", "no measured times"),
        ("bytes,time\n1,2\n", ":1: the header must name columns size and time"),
        ("size,time\n1,2us\n\n# later\nx,3us\n", ":5: cannot read an amount of bytes"),
        ("size,time\n1,fast\n", ":2: cannot read a latency 'fast'"),
        ("size,time\n1,-2\n", ":2: cannot read a latency '-2'"),
        ("size,time\n1,0\n", ":2: no message takes '0'"),
        ("size,time\n1EB,1s\n", ":2: cannot read an amount of bytes '1EB'"),
        ("size,time\n9PB,1s\n", ":2: no message has '9PB'"),
        ("size,time\n1\n", ":2: there is no size and time in '1'"),
        ("size,time\n1,nan\n", ":2: cannot read a latency 'nan'"),
    ],
)
def test_invalid_lines_of_measurements_are_named(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "p.csv"
    file.write_text(text)
    with pytest.raises(Error, match=r"p\.csv") as error:
        read_pings(file)
    assert message in str(error.value)


def test_columns_are_found_by_name_and_units_are_read(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text("# a cluster\ntime, rate, size\n2 us, 9, 1KiB\n3e-6, 9, 2048\n")
    sizes, seconds = read_pings(file)
    assert sizes.tolist() == [1024, 2048]
    assert seconds.tolist() == pytest.approx([2e-6, 3e-6])
    file.write_text("pairs,time\n0,1us\n")
    with pytest.raises(Error, match="pairs must be an integer, 1 or more"):
        read_pairs(file)


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(Error, match="requires 3 sizes or more, but there are 2"):
        fit_model([1, 2, 2], [1, 1, 1])
    with pytest.raises(Error, match="two sizes up to 4 bytes and two above"):
        fit_split([1, 2, 8], [1, 1, 1], 4)
    with pytest.raises(Error, match="split elsewhere"):
        fit_split([1, 2, 8, 9], [1, 2, 8, 7], 4)
