# SPDX-License-Identifier: BSD-3-Clause
"""Designs, effects and descriptions of studies."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topoloom import Error
from topoloom.tasks.study.cell_run import choose_time, make_time_reader
from topoloom.tasks.study.design import Cell, list_cells
from topoloom.tasks.study.effects import (
    count_pairs_in_order,
    estimate_effects,
    estimate_interactions,
)
from topoloom.tasks.study.factors import Factor, make_factor, parse_factor
from topoloom.tasks.study.study import Study, run_study
from topoloom.tasks.study.study_file import read_study_file

PLACEMENT = parse_factor("placement=launcher,auto,gge(swap=1,tries=2)")
COLLECTIVES = parse_factor("collectives=library,topoloom")
OVERLAP = parse_factor("overlap=,--overlap on")
ENVIRONMENT = "[factors.x.b]\n[factors.x.a]\nenvironment = "
HEADER = 'format = "topoloom-study"\nversion = 1\n'


def make_two_level_factors(count: int) -> list[Factor]:
    return [parse_factor(f"{name}=,--{name}") for name in "abcdef"[:count]]


def plant_times(
    cells: list[Cell], logs: dict[tuple[int, int], float], both: float, noise: float
) -> list[dict[str, float]]:
    """Make times from the logarithms of effects and an interaction, with noise."""
    draw = np.random.default_rng(5)
    blocks = []
    for _ in range(200):
        common = draw.normal(0, 1)  # of all runs of a repetition, as from other jobs
        block = {}
        for cell in cells:
            log = sum(logs.get(pair, 0) for pair in enumerate(cell.indices))
            log += both * (cell.indices[0] == 1 and cell.indices[1] == 1)
            block[cell.name] = math.exp(common + log + draw.normal(0, noise))
        blocks.append(block)
    return blocks


def test_a_study_with_too_many_runs_is_refused_before_its_first() -> None:
    unused: Any = None
    factors = make_two_level_factors(6)
    study = Study(factors, "full", 10**6, None, *[unused] * 2, False, *[unused] * 2)
    with pytest.raises(
        Error, match="64 cells with 1,000,000 repetitions are more than"
    ):
        run_study(study)


def test_levels_become_settings() -> None:
    assert [level.name for level in PLACEMENT.levels] == [
        *("launcher", "auto", "gge(swap=1,tries=2)")
    ]
    assert [level.settings.mapper for level in PLACEMENT.levels][:2] == [None, "auto"]
    assert [level.settings.collectives for level in COLLECTIVES.levels] == [None, {}]
    nodes = parse_factor("allocation=n[1,3],n[5,7]")
    assert [level.settings.allocation for level in nodes.levels] == ["n[1,3]", "n[5,7]"]
    assert OVERLAP.levels[0].name == "without"
    assert OVERLAP.levels[1].settings.arguments == ("--overlap", "on")


def test_designs_have_their_cells() -> None:
    factors = [PLACEMENT, COLLECTIVES, OVERLAP]
    full = list_cells(factors, "full")
    assert len({cell.name for cell in full}) == len(full) == 12
    assert full[0].indices == (0, 0, 0)
    single = list_cells(factors, "one-at-a-time")
    assert [sum(map(bool, cell.indices)) for cell in single] == [0, 1, 1, 1, 1]
    half = list_cells(make_two_level_factors(5), "half")
    levels = np.array([cell.indices for cell in half])
    assert len(half) == 16
    # Columns of a fraction of resolution IV or higher, and their pairs, are orthogonal.
    signs = 1 - 2 * levels
    products = [signs[:, i] * signs[:, j] for i in range(5) for j in range(i)]
    crossed = signs.T @ np.array([*signs.T, *products]).T
    assert np.array_equal(crossed, np.hstack([16 * np.eye(5), np.zeros((5, 10))]))


@pytest.mark.parametrize(
    ("factors", "design", "why"),
    [
        ([OVERLAP, OVERLAP], "full", "'overlap' is given twice"),
        ([OVERLAP], "quarter", "no design 'quarter'"),
        (make_two_level_factors(3), "half", "a half of 3 factors"),
        ([PLACEMENT, *make_two_level_factors(3)], "half", "has 3 levels"),
        (
            [PLACEMENT, make_factor("m", {"a": {}, "b": {"mapper": "gge"}})],
            "full",
            "two factors set the mapper of the cell 'auto, b'",
        ),
    ],
)
def test_impossible_designs_are_refused(
    factors: list[Factor], design: str, why: str
) -> None:
    with pytest.raises(Error, match=why):
        list_cells(factors, design)


@pytest.mark.parametrize("count", [1, 2, 40])
def test_one_at_a_time_has_a_cell_for_each_other_level(count: int) -> None:
    factors = [parse_factor(f"{n}=,--{n} 1,--{n} 2") for n in range(count)]
    cells = list_cells(factors, "one-at-a-time")
    changed = [{(n, i) for n, i in enumerate(cell.indices) if i} for cell in cells]
    assert changed[0] == set()
    assert sorted(pair for [pair] in changed[1:]) == [
        (n, i) for n in range(count) for i in (1, 2)
    ]


@pytest.mark.parametrize(
    ("design", "count", "levels"),
    [("full", 100, 2), ("half", 100, 2), ("one-at-a-time", 1, 10_001)],
)
def test_designs_of_any_size_are_refused_at_once(
    design: str, count: int, levels: int
) -> None:
    named = {str(level): {} for level in range(levels)}
    factors = [make_factor(str(number), named) for number in range(count)]
    with pytest.raises(Error, match="more than 10,000 cells"):
        list_cells(factors, design)


def test_cells_with_the_same_name_are_refused() -> None:
    one = make_factor("one", {"a": {}, "a, b": {}})
    other = make_factor("other", {"b, c": {}, "c": {}})
    with pytest.raises(Error, match="two cells have the name 'a, b, c'"):
        list_cells([one, other], "full")


@pytest.mark.parametrize("time", ["0", "-1", "nan", "inf", "1e999"])
def test_times_without_a_logarithm_are_failures(time: str) -> None:
    printed = choose_time(make_time_reader("t=(.*)"), f"t=3\nt={time}\n", 1.0)
    simulated = choose_time(None, "", float(time))
    for run in (printed, simulated):
        assert (run.status, run.seconds) == (1, None)
        assert "expected more than 0" in run.why


def test_planted_effects_are_found() -> None:
    factors = [COLLECTIVES, OVERLAP, parse_factor("c=,--c")]
    cells = list_cells(factors, "full")
    logs = {(0, 1): math.log(0.8), (1, 1): math.log(1.1)}
    both = math.log(0.9)
    blocks = plant_times(cells, logs, both, 0.02)
    effects = estimate_effects(factors, cells, blocks, False)
    # The interaction changes half of the cells with each level.
    expected = [0.8 * math.sqrt(0.9), 1.1 * math.sqrt(0.9), 1.0]
    for effect, ratio in zip(effects, expected, strict=True):
        percent = 100 * (ratio - 1)
        assert effect.change.change == pytest.approx(percent, abs=0.5)
        assert effect.change.low is not None
        assert effect.change.high is not None
        assert effect.change.low < percent < effect.change.high
    found = estimate_interactions(factors, cells, blocks, "full", False)
    assert next(iter(found)).levels == ("topoloom", "--overlap on")
    changes = [each.change.change for each in found]
    assert changes == pytest.approx([-10, 0, 0], abs=0.8)


def test_a_half_finds_the_same_effects_as_a_full_design() -> None:
    factors = make_two_level_factors(4)
    logs = {(0, 1): 0.3, (2, 1): -0.2, (3, 1): 0.1}
    found = []
    for design in ("full", "half"):
        cells = list_cells(factors, design)
        block = plant_times(cells, logs, 0.0, 0.0)[0]
        effects = estimate_effects(factors, cells, [block], True)
        found.append([effect.change.change for effect in effects])
    assert found[0] == pytest.approx(found[1])
    assert found[0] == pytest.approx([100 * math.expm1(x) for x in (0.3, 0, -0.2, 0.1)])


def test_effects_without_the_cells_for_them_are_left_out() -> None:
    cells = list_cells([OVERLAP, COLLECTIVES], "full")
    block = {cell.name: 1.0 for cell in cells}
    assert not estimate_effects([OVERLAP, COLLECTIVES], cells[:2], [block], True)
    assert not estimate_interactions([OVERLAP], cells[:1], [block], "full", True)


def test_only_comparable_cells_with_predictions_are_ordered() -> None:
    cells = list_cells([PLACEMENT, OVERLAP], "full")
    names = [cell.name for cell in cells]
    predicted = dict(zip(names, [1.0, 5.0, 2.0, 5.0, 2.01, None], strict=True))
    measured = dict(zip(names, [1.0, 1.0, 3.0, 1.0, 0.5, 1.0], strict=True))
    is_same = lambda one, other: one.indices[1] == other.indices[1]  # noqa: E731
    assert count_pairs_in_order(cells, predicted, measured, is_same) == (1, 2)


def test_a_file_describes_a_study(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        HEADER
        + """
command = "mpirun -n 4 './my app' --steps 3"
machine = "torus:2x2"
repetitions = 7
[factors]
placement = ["launcher", "auto"]
[factors.eager.small]
[factors.eager.large]
environment = { LIMIT = 65536 }
arguments = "--quiet"
"""
    )
    study = read_study_file(path)
    assert study.command == ("mpirun", "-n", "4", "./my app", "--steps", "3")
    assert (study.machine, study.repetitions) == ("torus:2x2", 7)
    assert [factor.name for factor in study.factors] == ["placement", "eager"]
    large = study.factors[1].levels[1].settings
    assert (large.environment, large.arguments) == ({"LIMIT": "65536"}, ("--quiet",))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("metrik = 'x'", "metrik"),
        ("repetitions = 0", "repetitions is 0, expected 1 or more"),
        ("command = 7", "command must be a string"),
        ('command = "\'a"', "no closing quotation"),
        ("factors = 3", "factors must be a table"),
        ("[factors]\noverlap = ['a', 'b']", "'overlap' is not a table of levels"),
        ("[factors]\nplacement = ['auto']", "'placement' has fewer than two levels"),
        ("[factors]\nplacement = ['auto', 'auto']", "the level 'auto' twice"),
        ("[factors.x.a]\nmaper = 'auto'\n[factors.x.b]", "has no 'maper'"),
        ("[factors]\nplacement = 'auto'", "'placement' is not a list of strings"),
        ('command = "a\\u0000"', "command contains a null character"),
        (ENVIRONMENT + "{ A = true }", "the variable A is not a string or a number"),
        (ENVIRONMENT + '{ "A=B" = 1 }', "'A=B' is not the name of a variable"),
        (ENVIRONMENT + '{ A = "\\u0000" }', "contains a null character"),
        ("[factors.x.a]\nmapper = 3\n[factors.x.b]", "mapper is not a string"),
    ],
)
def test_errors_in_a_file_are_one_line(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(HEADER + text)
    with pytest.raises(Error) as error:
        read_study_file(path)
    assert why in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)
