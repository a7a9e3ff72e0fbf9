# SPDX-License-Identifier: BSD-3-Clause
"""Phases of traced messages are those that the program was written with.

Ranks run programs of known steps, in random order, as far as messages permit.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pytest

from topoloom.graphs.traces.message_phases import (
    MAX_PHASES,
    MessageOrder,
    SentMessage,
    number_phases,
)

Pair = tuple[int, int]
#: A message: the number of its step, and its sender and receiver.
Message = tuple[int, Pair]


class Step(NamedTuple):
    """Messages that ranks send, before each rank waits for those that it receives.

    In a tree, a rank sends only after it received.
    """

    pairs: Sequence[Pair]
    is_collective: bool = True
    is_tree: bool = False


class Event(NamedTuple):
    """What a rank does: begin or end a call, send or receive a message."""

    what: str
    message: Message
    is_collective: bool


def list_events(rank: int, steps: Sequence[Step]) -> list[Event]:
    """List what a rank does in all steps."""
    events = []
    for number, (pairs, is_collective, is_tree) in enumerate(steps):
        sends = [("send", (number, p)) for p in pairs if p[0] == rank]
        receives = [("receive", (number, p)) for p in pairs if p[1] == rank]
        both = [*receives, *sends] if is_tree else [*sends, *receives]
        if both:
            events.append(Event("call", both[0][1], is_collective))
            events += [Event(what, message, is_collective) for what, message in both]
            events.append(Event("call", both[0][1], False))
    return events


def trace(ranks: int, steps: Sequence[Step], seed: int) -> dict[int, set[int]]:
    """Run the program; return the levels of the messages of each step."""
    order, chance = MessageOrder(), random.Random(seed)
    todo = {rank: list_events(rank, steps)[::-1] for rank in range(ranks)}
    sent: set[Message] = set()
    while any(todo.values()):
        able = [
            rank
            for rank, events in todo.items()
            if events and (events[-1].what != "receive" or events[-1].message in sent)
        ]
        rank = chance.choice(able)
        event = todo[rank].pop()
        if event.what == "call":
            order.begin_call(rank, event.is_collective)
        elif event.what == "send":
            order.send(rank, event.message)
            sent.add(event.message)
        else:
            order.receive(rank, event.message)
    found = order.find_levels()
    return {
        number: {found[message] for message in sent if message[0] == number}
        for number in range(len(steps))
    }


def exchange(members: Iterable[int]) -> list[Pair]:
    """Make the pairs of an alltoall."""
    group = list(members)
    return [(a, b) for a in group for b in group if a != b]


def broadcast(members: range) -> Step:
    """Make a binomial tree from the first member."""
    pairs = [
        (members[i - (1 << (i.bit_length() - 1))], members[i])
        for i in range(1, len(members))
    ]
    return Step(pairs, is_tree=True)


ROWS = [exchange(range(4 * i, 4 * i + 4)) for i in range(3)]
COLUMNS = [exchange(range(i, 12, 4)) for i in range(4)]
TRANSPOSITIONS = [*map(Step, ROWS), *map(Step, COLUMNS)]


@pytest.mark.parametrize("seed", range(5))
def test_transpositions_of_rows_and_of_columns_alternate(seed: int) -> None:
    levels = trace(12, TRANSPOSITIONS * 3, seed)
    expected = [2 * i + which for i in range(3) for which in (0, 0, 0, 1, 1, 1, 1)]
    assert levels == {number: {level} for number, level in enumerate(expected)}


@pytest.mark.parametrize("seed", range(5))
def test_ranks_that_leave_a_tree_early_stay_in_the_same_phase(seed: int) -> None:
    tree = broadcast(range(12))
    levels = trace(12, [tree, *map(Step, ROWS), tree, *map(Step, COLUMNS)], seed)
    expected = [0, 1, 1, 1, 2, 3, 3, 3, 3]
    assert levels == {number: {level} for number, level in enumerate(expected)}


@pytest.mark.parametrize("seed", range(5))
def test_messages_are_a_round_until_ranks_wait(seed: int) -> None:
    line = [(i, i + 1) for i in range(7)]
    halo = Step([*line, *((b, a) for a, b in line)], is_collective=False)
    levels = trace(8, [halo, halo, halo], seed)
    assert levels == {0: {0}, 1: {1}, 2: {2}}


def test_messages_that_are_never_received_delay_nobody() -> None:
    order = MessageOrder()
    for number in range(3):
        order.send("a", number)
    order.receive("b", "unknown")
    order.send("b", 3)
    assert order.find_levels() == {0: 0, 1: 0, 2: 0, 3: 1}


def test_collectives_that_wait_for_each_other_have_levels() -> None:
    """Ranks 0 and 1 call two collectives in opposite order, as nonblocking ones may."""
    order = MessageOrder()
    for rank, calls in ((0, "xy"), (1, "yx")):
        for call in calls:
            order.begin_call(rank, True)
            order.send(rank, (call, rank))
            order.receive(rank, (call, 1 - rank))
    levels = order.find_levels()
    assert {levels["x", 0], levels["x", 1]} == {0}
    assert {levels["y", 0], levels["y", 1]} == {1}


def test_levels_with_the_same_pairs_are_one_phase() -> None:
    levels = [SentMessage(level, level % 2, 1 - level % 2, 5) for level in range(9)]
    assert number_phases(levels) == [level % 2 for level in range(9)]


def test_further_phases_are_joined_those_with_few_bytes() -> None:
    count = MAX_PHASES + 5
    sizes = [1000 if number % 7 else number + 1 for number in range(count)]
    messages = [SentMessage(n, 0, n + 1, size) for n, size in enumerate(sizes)]
    phases = number_phases(messages)
    assert sorted(set(phases)) == list(range(MAX_PHASES))
    kept = sorted(range(count), key=lambda n: (-sizes[n], n))[: MAX_PHASES - 1]
    joined = {phases[n] for n in range(count) if n not in kept}
    assert len(joined) == 1
    assert len({phases[n] for n in kept} - joined) == len(kept)
