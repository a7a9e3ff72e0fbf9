# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom model` fits measured times and predicts times of messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

HEAD = "size,time\n"


def write_pings(unit: str = "us") -> None:
    lines = [f"{2**i},{2 + 2**i / 1000} {unit}\n" for i in range(20)]
    Path("pings.csv").write_text(HEAD + "".join(lines))


def test_a_fit_predicts_the_measured_times(topoloom: Command) -> None:
    write_pings()
    fitted = topoloom("model", "fit", "pings.csv", "-o", "here.toml", "--json").json
    (line,) = fitted["regimes"]
    assert line["alpha_seconds"] == pytest.approx(2e-6)
    assert line["beta_seconds_per_byte"] == pytest.approx(1e-9)
    assert fitted["worst_error"] < 1e-6
    shown = topoloom("model", "show", "here.toml").out
    assert "pings.csv, by topoloom model fit" in shown
    words = ("here.toml", "--sizes", "0,1KiB", "--json")
    times = topoloom("model", "predict", *words).json["times"]
    assert [t["seconds"] for t in times] == pytest.approx([2e-6, 3.024e-6])


def test_a_model_can_be_written_for_a_machine_file(topoloom: Command) -> None:
    topoloom("model", "show", "hdr", "-o", "costs.txt")
    lines = Path("costs.txt").read_text().splitlines()
    assert lines[0] == "message 64 5.626e-07 2.085e-10"
    assert lines[3] == "message - 4.772e-07 4.696e-11"
    assert "cost latency 6.37e-07" in lines


def test_round_trip_times_are_halved(topoloom: Command) -> None:
    write_pings()
    (line,) = topoloom("model", "fit", "pings.csv", "--round-trip", "--json").json[
        "regimes"
    ]
    assert line["alpha_seconds"] == pytest.approx(1e-6)


def test_one_split_limit_gives_one_fitted_line(topoloom: Command) -> None:
    write_pings()
    words = ("model", "fit", "pings.csv", "--split", "4KiB")
    assert topoloom(*words, "--json").json["regimes"][0]["alpha_seconds"] == (
        pytest.approx(2e-6)
    )
    assert "1 GB/s" in topoloom(*words).out


def test_every_model_is_listed_and_shown(topoloom: Command) -> None:
    listed = topoloom("list", "models", "--json").json["models"]
    assert {"qsnet", "myrinet", "slingshot", "tofu-d"} <= {m["name"] for m in listed}
    for entry in listed:
        shown = topoloom("model", "show", entry["name"])
        assert entry["summary"] in shown.out
        assert entry["name"] in topoloom("list", "models").out


def test_processes_of_a_node_share_its_bandwidth(topoloom: Command) -> None:
    def predict_seconds(*more: object) -> float:
        words = ("model", "predict", "qsnet", "--sizes", "64KiB", "--json")
        return float(topoloom(*words, *more).json["times"][0]["seconds"])

    assert predict_seconds("--processes-per-node", 4) > 3 * predict_seconds()
    assert predict_seconds("--processes-per-node", 1) == predict_seconds()


def test_a_single_message_arrives_one_latency_after_its_gap(
    topoloom: Command,
) -> None:
    words = ("model", "predict", "hdr", "--sizes", "8")
    (found,) = topoloom(*words, "--json").json["times"]
    assert found["arrival_seconds"] == pytest.approx(1.2e-6, rel=0.01)
    assert found["seconds"] < 0.6e-6
    assert "its arrival" in topoloom(*words).out


def test_channels_are_found_from_pairs(topoloom: Command) -> None:
    lines = [f"{pairs},{max(2, pairs)} ms\n" for pairs in range(1, 9)]
    Path("pairs.csv").write_text("pairs,time\n" + "".join(lines))
    words = ("model", "channels", "pairs.csv", "--bytes", "1MB", "--round-trip")
    found = topoloom(*words, "--json").json
    assert found["channels"] == 2
    assert found["node_bandwidth"] == pytest.approx(2e9)
    assert "channels        2" in topoloom(*words).out


def test_channels_between_measured_numbers_are_given_as_a_range(
    topoloom: Command,
) -> None:
    times = {1: (100, 100.26), 8: (105, 105), 16: (210, 210), 32: (420, 420)}
    words = ("model", "channels", "pairs.csv", "--bytes", "1MB")

    def print_channels(max_pairs: int) -> str:
        lines = [
            f"{pairs},{each} us\n"
            for pairs in times
            for each in times[pairs]
            if pairs <= max_pairs
        ]
        Path("pairs.csv").write_text("pairs,time\n" + "".join(lines))
        return topoloom(*words).out

    assert (
        "channels        8 to 15; pairs in between were not measured"
        in print_channels(32)
    )
    assert topoloom(*words, "--json").json["channels_at_most"] == 15
    assert "channels        8 or more; more pairs were not measured" in print_channels(
        8
    )
    assert "190 ns" in print_channels(32)  # standard deviation


def test_one_outlier_adds_no_channel(topoloom: Command) -> None:
    lines = [f"{pairs},{max(2, pairs)} ms\n" for pairs in range(1, 9)]
    lines[4:4] = ["5,5.1 ms\n", "5,0.1 ms\n"]
    Path("pairs.csv").write_text("pairs,time\n" + "".join(lines))
    words = ("model", "channels", "pairs.csv", "--bytes", "1MB", "--round-trip")
    assert topoloom(*words, "--json").json["channels"] == 2


def test_channels_are_found_per_sharing_pattern(topoloom: Command) -> None:
    lines = [
        f"{name},{pairs},{max(channels, pairs)} ms\n"
        for name, channels in (("inside a group", 4), ("across", 1))
        for pairs in range(1, 5)
    ]
    Path("pairs.csv").write_text("pattern,pairs,time\n" + "".join(lines))
    words = ("model", "channels", "pairs.csv", "--bytes", "1MB")
    found = topoloom(*words, "--json").json["patterns"]
    assert {name: one["channels"] for name, one in found.items()} == {
        "inside a group": 4,
        "across": 1,
    }
    assert "inside a group" in topoloom(*words).out


def test_figures_of_a_fit_and_of_a_model_are_drawn(topoloom: Command) -> None:
    write_pings()
    topoloom("model", "fit", "pings.csv", "--figure", "fit.svg")
    topoloom("model", "show", "myrinet", "--figure", "model.svg")
    assert Path("fit.svg").read_text().count("<svg") == 1
    assert Path("model.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fti", "x"], "'topoloom model' has no command 'fti' (did you mean 'fit'?)"),
        (["qsnet"], "(did you mean 'topoloom model show qsnet'?)"),
        (["show"], "MODEL is missing"),
        (["fit"], "FILE is missing"),
        (["show", "qsnet", "--sizes", "1"], "has no option '--sizes'"),
        (["predict", "qsnet"], "--sizes is missing"),
        (["predict", "qsnet", "--sizes", "1,x"], "cannot read an amount of bytes 'x'"),
        (
            ["predict", "qsnet", "--sizes", "1", "--processes-per-node", "0"],
            "--processes-per-node must be 1 or more, not 0",
        ),
        (["predict", "qsnett", "--sizes", "1"], "did you mean 'qsnet'"),
        (["show", "x.toml"], "x.toml: No such file"),
        (["fit", "x.csv"], "x.csv: No such file"),
        (["fit", "two.csv"], "two.csv: a fit requires 3 sizes or more"),
        (["fit", "bad.csv"], "bad.csv:2: cannot read a latency 'soon'"),
        (["fit", "bad.csv", "-o", "nowhere/x.toml"], "there is no directory"),
        (["channels", "bad.csv"], "--bytes is missing"),
        (["channels", "bad.csv", "--bytes", "1"], "bad.csv:1: the header must name"),
    ],
)
def test_invalid_model_input_is_refused_in_one_line(
    topoloom: Command, words: list[str], message: str
) -> None:
    Path("two.csv").write_text(HEAD + "1,1us\n2,2us\n")
    Path("bad.csv").write_text(HEAD + "1,soon\n")
    outcome = topoloom("model", *words)
    assert outcome.status == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1
