# SPDX-License-Identifier: BSD-3-Clause
"""Message costs written to a machine file give the times of the original model."""

from __future__ import annotations

import pytest

from topoloom.model import MessageCosts, NetworkModel, load_model
from topoloom.model.message_lines import format_model
from topoloom.model.model_names import model_names

SIZES = [0, 1, *(2**k + d for k in range(1, 31) for d in (-1, 0, 1))]


def read_model(text: str) -> NetworkModel:
    """Read the keys as docs/reference/file-formats.md defines them."""
    costs = MessageCosts()
    parts: dict[str, list[tuple[float, float, int | None]]]
    parts = {"message": [], "alone": [], "links": []}
    inside = ""
    for line in text.splitlines():
        word, *values = line.split()
        if word == "inside":
            inside += line.partition(" ")[2] + "\n"
        elif word in parts:
            most, first, second = values
            size = None if most == "-" else int(most)
            parts[word].append((float(first), float(second), size))
        else:
            assert word == "cost"
            setattr(costs, values[0], float(values[1]))
    model = NetworkModel.regimes(parts["message"], costs).with_single_message_lines(
        parts["alone"]
    )
    model = model.with_link_factors(parts["links"])
    return model.with_intra_node_model(read_model(inside)) if inside else model


def check_round_trip(model: NetworkModel) -> None:
    copy = read_model(format_model(model))
    assert copy.link_factors == model.link_factors
    assert (copy.inside is None) == (model.inside is None)
    if model.inside is not None:
        check_round_trip(model.inside)
    for size in SIZES:
        assert copy.time(size) == pytest.approx(model.time(size), rel=1e-11)
        assert copy.arrival(size) == pytest.approx(model.arrival(size), rel=1e-11)
        assert copy.cpu(size) == pytest.approx(model.cpu(size), rel=1e-11)
        if not model.takes_largest:
            assert copy.time(size, 4) == pytest.approx(model.time(size, 4), rel=1e-11)


@pytest.mark.parametrize("name", model_names())
def test_every_included_model_can_be_written(name: str) -> None:
    check_round_trip(load_model(name).model)


def test_a_maximum_of_lines_is_written_line_by_line() -> None:
    three = [(1e-6, 1e-9, None), (5e-6, 1e-10, None), (4e-6, 2e-10, None)]
    model = NetworkModel.largest(three)
    assert format_model(model) == "message 4444 5e-06 1e-10\nmessage - 1e-06 1e-09\n"
    check_round_trip(model)


def test_costs_of_single_and_intra_node_messages_are_written() -> None:
    inside = NetworkModel.largest([(1e-7, 1e-10, None), (2e-7, 5e-11, None)])
    alone = [(3e-6, 1e-9, 1000), (9e-6, 1e-9, None)]
    model = NetworkModel.regimes([(1e-6, 1e-9, None)]).with_single_message_lines(alone)
    check_round_trip(
        model.with_intra_node_model(
            inside.with_single_message_lines([(5e-7, 1e-10, None)])
        )
    )


def test_the_steepest_of_lines_with_equal_latency_is_written() -> None:
    check_round_trip(NetworkModel.largest([(1e-6, 0.0, None), (1e-6, 1e-9, None)]))
