# SPDX-License-Identifier: BSD-3-Clause
"""Five small MPI programs, with their messages as schedules and patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import smpi
from topoloom import CommGraph
from topoloom.schedules import Schedule

APPS = Path(__file__).with_name("apps")
#: Algorithms of collectives, which the replayed schedules must match.
COLLECTIVES = {"smpi/alltoall": "basic_linear", "smpi/allreduce": "rdb"}
#: In the sparse program: destinations per rank, and factors of message sizes.
_DEGREE, _LONGER = 6, (1, 4, 16, 64)

Message = tuple[int, int, int]  # source, target, bytes
Pattern = Callable[[int], CommGraph]


@dataclass(frozen=True)
class Application:
    """A program with its arguments.

    Attributes
    ----------
    bytes, times
        Message size, and number of repetitions.
    steps
        Function (ranks, bytes, times) -> schedules of the program's steps.
    """

    name: str
    bytes: int
    times: int
    steps: Callable[[int, int, int], list[Schedule]]

    def words(self, program: Path, ranks: int, folder: Path) -> list[str]:
        """Return the command line; write the file of messages if required."""
        words = [str(program), str(self.bytes), str(self.times)]
        if self.name == "sparse":
            file = folder / "messages"
            lines = (f"{a} {b} {longer}\n" for a, b, longer in _draw_messages(ranks))
            file.write_text("".join(lines))
            words.append(str(file))
        return words

    def schedules(self, ranks: int) -> list[Schedule]:
        """Return the schedules of all steps."""
        return self.steps(ranks, self.bytes, self.times)


def build(folder: Path) -> dict[str, Path]:
    """Compile the programs for SimGrid's MPI."""
    compiler = smpi.find("smpicc", "libsimgrid-dev")
    programs = {}
    for name in dict.fromkeys(app.name for app in APPLICATIONS):
        programs[name] = folder / name
        include = f"-I{Path(smpi.__file__).parent}"
        source = APPS / f"{name}.c"
        smpi.run(compiler, "-std=gnu11", "-O2", include, source, "-o", programs[name])
    return programs


def _make_graph(ranks: int, messages: Sequence[Message]) -> CommGraph:
    source, target, size = (list(column) for column in zip(*messages, strict=True))
    return CommGraph.from_edges(ranks, source, target, size)


def _make_exchange(ranks: int, messages: Sequence[Message]) -> Schedule:
    return Schedule.many_to_many("direct", _make_graph(ranks, messages))


def _count_columns(ranks: int) -> int:
    return max(c for c in range(1, ranks + 1) if ranks % c == 0 and c * c <= ranks)


def _list_neighbors(
    ranks: int, steps: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    columns = _count_columns(ranks)
    rows, found = ranks // columns, []
    for rank in range(ranks):
        row, column = divmod(rank, columns)
        for right, down in steps:
            if 0 <= column + right < columns and 0 <= row + down < rows:
                found.append((rank, (row + down) * columns + column + right))
    return found


def _make_halo(ranks: int, size: int) -> Schedule:
    sides = [(0, -1), (-1, 0), (1, 0), (0, 1)]
    return _make_exchange(
        ranks, [(a, b, size) for a, b in _list_neighbors(ranks, sides)]
    )


def _make_stencil(ranks: int, size: int, times: int) -> list[Schedule]:
    return [_make_halo(ranks, size)] * times


def _make_transpose(ranks: int, size: int, times: int) -> list[Schedule]:
    return [Schedule("at-once", "alltoall", ranks, size)] * times


def _make_gradients(ranks: int, size: int, times: int) -> list[Schedule]:
    add = Schedule("recursive-doubling", "allreduce", ranks, 8)
    return [_make_halo(ranks, size), add, add] * times


def _make_sweep(ranks: int, size: int, blocks: int) -> list[Schedule]:
    """Make one schedule per wave: the diagonals of ranks that have a block."""
    columns = _count_columns(ranks)
    pairs = _list_neighbors(ranks, [(1, 0), (0, 1)])
    steps = []
    for wave in range(columns + ranks // columns + blocks - 2):
        there = [
            (a, b, size)
            for a, b in pairs
            if 0 <= wave - sum(divmod(a, columns)) < blocks
        ]
        if there:
            steps.append(_make_exchange(ranks, there))
    return steps


def _make_sparse(ranks: int, size: int, times: int) -> list[Schedule]:
    messages = [(a, b, longer * size) for a, b, longer in _draw_messages(ranks)]
    return [_make_exchange(ranks, messages)] * times


def _draw_messages(ranks: int) -> list[Message]:
    """Draw (source, target, size relative to the shortest message)."""
    rng = Random(ranks)
    return [
        (rank, other, rng.choice(_LONGER))
        for rank in range(ranks)
        for other in sorted(rng.sample(_list_others(rank, ranks), _get_degree(ranks)))
    ]


def _list_others(rank: int, ranks: int) -> list[int]:
    return [other for other in range(ranks) if other != rank]


def _get_degree(ranks: int) -> int:
    return min(_DEGREE, ranks - 1)


def _make_pattern_function(
    steps: Callable[[int, int, int], list[Schedule]], size: int
) -> Pattern:
    """Return a function that makes the pattern of one iteration of a program."""

    def make_pattern(ranks: int) -> CommGraph:
        total: dict[tuple[int, int], int] = {}
        for schedule in steps(ranks, size, 1):
            sent = schedule.all_messages()[1:]
            for a, b, sent_bytes in zip(
                *(column.tolist() for column in sent), strict=True
            ):
                total[a, b] = total.get((a, b), 0) + sent_bytes
        return _make_graph(ranks, [(a, b, each) for (a, b), each in total.items()])

    return make_pattern


def _make_pencils(ranks: int, size: int, _times: int) -> list[Schedule]:
    """Make alltoalls within rows and columns of the grid, as in 2-D transforms."""
    columns = _count_columns(ranks)
    rows = [range(first, first + columns) for first in range(0, ranks, columns)]
    pairs = [(a, b, size) for row in rows for a in row for b in row if a != b]
    others = [range(column, ranks, columns) for column in range(columns)]
    pairs += [(a, b, size // 4) for row in others for a in row for b in row if a != b]
    return [_make_exchange(ranks, pairs)]


#: Patterns to place. All placements of an alltoall are equal, so `pencils` replaces
#: it.
PATTERNS: dict[str, Pattern] = {
    "stencil": _make_pattern_function(_make_stencil, 1 << 16),
    "pencils": _make_pattern_function(_make_pencils, 1 << 12),
    "gradients": _make_pattern_function(_make_gradients, 1 << 12),
    "sweep": _make_pattern_function(_make_sweep, 1 << 14),
    "sparse": _make_pattern_function(_make_sparse, 1 << 10),
}

APPLICATIONS = [
    Application("stencil", 1 << 10, 10, _make_stencil),
    Application("stencil", 1 << 18, 5, _make_stencil),
    Application("transpose", 1 << 8, 3, _make_transpose),
    Application("transpose", 1 << 14, 2, _make_transpose),
    Application("gradients", 1 << 12, 5, _make_gradients),
    Application("sweep", 1 << 9, 16, _make_sweep),
    Application("sweep", 1 << 14, 16, _make_sweep),
    Application("sparse", 1 << 6, 5, _make_sparse),
    Application("sparse", 1 << 12, 3, _make_sparse),
]
