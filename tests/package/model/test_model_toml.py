# SPDX-License-Identifier: BSD-3-Clause
"""Files of network models, included models, and the Python class."""

from __future__ import annotations

from pathlib import Path

import pytest

from topoloom import Error
from topoloom.model import NetworkModel, load_model
from topoloom.model.model_names import model_names
from topoloom.model.model_toml import (
    COSTS,
    format_time,
    read_model_toml,
    write_model_toml,
)
from topoloom.support.toml_document import read_toml
from topoloom.support.units import parse_latency

ROOT = Path(__file__).resolve().parents[3]
HEAD = 'format = "topoloom-model"\nversion = 1\n'
LINE = '{ alpha = "1 us", beta = "1 ns" }'
SIZES = (0, 1, 64, 288, 289, 2048, 2049, 2500, 65536, 2**30)


@pytest.mark.parametrize("name", model_names())
def test_every_model_has_a_source_and_survives_a_copy(
    name: str, tmp_path: Path
) -> None:
    file = load_model(name)
    assert file.name
    assert file.summary
    assert file.source
    assert file.date.isdigit()
    write_model_toml(tmp_path / "copy.toml", file)
    copy = read_model_toml(tmp_path / "copy.toml")
    assert copy._replace(model=file.model) == file
    assert copy.model.costs.packet == file.model.costs.packet
    assert copy.model.link_factors == file.model.link_factors
    for size in SIZES:
        for query in ("time", "arrival", "cpu", "copy", "stage"):
            expected = getattr(file.model, query)(size)
            found = getattr(copy.model, query)(size)
            assert found == pytest.approx(expected, rel=1e-5)
        expected = file.model.time(size, 64)
        assert copy.model.time(size, 64) == pytest.approx(expected, rel=1e-3)


def test_costs_of_single_and_intra_node_messages_survive_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        f"{HEAD}regimes = [{LINE}]\n"
        'alone = [{ most = "1 KiB", alpha = "3 us", beta = "1 ns" }, '
        '{ alpha = "9 us", beta = "1 ns" }]\n'
        f"[inside]\nregimes = [{LINE}]\n"
        'alone = [{ alpha = "2 us", beta = "1 ns" }]\n'
        '[inside.costs]\nsend_cpu = "0.5 us"\n'
    )
    file = read_model_toml(path)
    write_model_toml(tmp_path / "copy.toml", file)
    for model in (file.model, read_model_toml(tmp_path / "copy.toml").model):
        assert model.arrival(1024) == pytest.approx(3e-6 + 1.024e-6)
        assert model.arrival(1025) == pytest.approx(9e-6 + 1.025e-6)
        assert model.latency(1025) == pytest.approx(8e-6)
        assert model.inside is not None
        assert model.inside.arrival(0) == pytest.approx(2e-6)
        assert model.inside.send_cpu(0) == pytest.approx(5e-7)


@pytest.mark.parametrize("name", model_names())
def test_every_included_model_has_gap_and_latency(name: str) -> None:
    document = read_toml(ROOT / "models" / f"{name}.toml")
    latency = parse_latency(document["costs"]["latency"])
    model = load_model(name).model
    assert model.time(8) > 0
    assert model.arrival(8) == pytest.approx(model.time(8) + latency)


@pytest.mark.parametrize("name", model_names())
def test_a_message_never_takes_longer_than_a_larger_one(name: str) -> None:
    model = load_model(name).model
    ends = [most for _, _, most in model.lines if most is not None]
    around = [2**power for power in range(31)] + ends
    sizes = sorted({size + by for size in around for by in (-1, 0, 1)})
    queries = [model.time, model.nic_time] if model.sends_from_nic else [model.time]
    for query in queries:
        for processes in (1, 2, 4, 64):
            times = [query(size, processes) for size in sizes]
            assert times == sorted(times)


def test_the_documentation_lists_all_models_with_their_values() -> None:
    page = (ROOT / "docs" / "how-to" / "machines" / "network-models.md").read_text()
    for name in model_names():
        file = load_model(name)
        row = f"| `{name}` | {file.summary} | {file.source} | {file.date} |"
        assert row in page


def test_loggp_is_read_with_defaults_for_missing_costs(tmp_path: Path) -> None:
    file = tmp_path / "m.toml"
    loggp = 'loggp = { L = "5 us", o = "2 us", g = "3 us", G = "1 ns" }\n'
    file.write_text(f'{HEAD}{loggp}[costs]\nnode_bandwidth = "0.5 GB/s"\n')
    model = load_model(file).model
    assert model.time(1001) == pytest.approx(4e-6)
    assert model.arrival(1001) == pytest.approx(5e-6 + 4e-6 + 1e-6)
    assert model.cpu(1) == pytest.approx(4e-6)
    assert model.time(1001, 4) == pytest.approx(3e-6 - 1e-9 + 1001 * 8e-9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("x\ny = 1", ":1: not TOML"),
        ("version = 1", "format is None, expected"),
        (HEAD.replace("1", "2"), "version 2, but this Topoloom reads version 1"),
        (HEAD, "one of regimes, largest, loggp, but there is nothing"),
        (f"{HEAD}regimes = [{LINE}]\nlargest = [{LINE}]", "regimes and largest"),
        (f"{HEAD}regime = [{LINE}]", "no key 'regime' (did you mean 'regimes'?)"),
        (f"{HEAD}regimes = []", "needs a line"),
        (f"{HEAD}regimes = [1]", "regimes[0] must be a table"),
        (f'{HEAD}regimes = [{{ alpha = "1 us" }}]', "regimes[0].beta is missing"),
        (
            f"{HEAD}regimes = [{{ alpha = 1, beta = 2 }}]",
            "regimes[0].alpha must be a string with a unit",
        ),
        (
            f'{HEAD}regimes = [{{ alpha = "1 m", beta = "2 ns" }}]',
            "regimes[0].alpha: cannot read a latency '1 m'",
        ),
        (
            f'{HEAD}regimes = [{{ most = "1 KiB", alpha = "1 us", beta = "2 ns" }}]',
            "the last regime must have no limit, but goes up to 1024 bytes",
        ),
        (
            f'{HEAD}largest = [{{ most = "1 KiB", alpha = "1 us", beta = "2 ns" }}]',
            "must have no limit",
        ),
        (f'{HEAD}loggp = {{ L = "1 us" }}', "loggp.o is missing"),
        (
            f'{HEAD}loggp = {{ L = "1 us", o = "1 us", g = "9 us", G = "1 ns" }}',
            "exceeds the time of a single message",
        ),
        (
            f'{HEAD}loggp = {{ L = "1 us", o = "1 us", g = "1 us", G = "1 ns" }}\n'
            '[costs]\nsend_cpu = "1 us"',
            "costs.send_cpu follows from loggp; remove it",
        ),
        (
            f'{HEAD}regimes = [{LINE}]\nalone = [{LINE}]\n[costs]\nlatency = "1 us"',
            "a model has a latency, or lines of messages alone, not both",
        ),
        (
            f"{HEAD}regimes = [{LINE}]\n[inside]\nlinks = []",
            "inside.links",
        ),
        (
            f'{HEAD}regimes = [{LINE}]\nlinks = [{{ latency_factor = "2" }}]',
            "links[0].latency_factor must be a number",
        ),
        (
            f"{HEAD}regimes = [{LINE}]\nlinks = [{{ bandwidth_factor = 0 }}]",
            "a link's bandwidth factor must be above 0",
        ),
        (f"{HEAD}regimes = [{LINE}]\n[costs]\ngama = 1", "did you mean 'costs.gamma'"),
        (
            f'{HEAD}regimes = [{LINE}]\n[costs]\nnode_bandwidth = "1 us"',
            "costs.node_bandwidth: cannot read a bandwidth",
        ),
    ],
)
def test_errors_in_model_files_name_file_and_key(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "m.toml"
    file.write_text(text)
    with pytest.raises(Error) as error:
        load_model(file)
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(Error, match=r"no model 'slingshott'.*did you mean 'slingshot'"):
        load_model("slingshott")
    with pytest.raises(OSError, match="no-such"):
        load_model("no-such.toml")


def test_written_times_are_read_back_exactly() -> None:
    for seconds in (0.0, 1.5e-12, 4.2e-10, 1e-6, 0.99999e-3, 12.0):
        assert parse_latency(format_time(seconds)) == pytest.approx(seconds, rel=1e-5)


def test_every_cost_of_the_core_has_a_key() -> None:
    costs = NetworkModel.regimes([(1, 0, None)]).costs
    known = {name for name in dir(costs) if not name.startswith("_")}
    assert known == {*COSTS, "node_beta", "packet"}


def test_invalid_queries_of_models_are_refused() -> None:
    model = NetworkModel.regimes([(1, 0, None)])
    with pytest.raises(Error, match="0 bytes or more, not -1"):
        model.time(-1)
    with pytest.raises(Error, match="1 process or more"):
        model.time(1, 0)
