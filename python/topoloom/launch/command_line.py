# SPDX-License-Identifier: BSD-3-Clause
"""A launcher's command line, split into the launcher's options and the program.

`mpirun -n 4 --mca btl tcp ./app -n 9` cannot be split without knowing which options
take values, so each launcher describes its own in a `Syntax`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from topoloom._core import Error
from topoloom.support.nearest import unknown_name
from topoloom.support.plain_text import is_number


class NoProgram(Error):
    """The command has options and nothing to start."""


def words(text: str) -> list[str]:
    """Split a list of option names."""
    return text.split()


@dataclass(frozen=True)
class Syntax:
    """The options of one launcher, named without their dashes.

    Attributes
    ----------
    values : mapping of str to int
        How many values follow an option.
    flags : set of str
        Options without a value.
    ranks : set of str
        The options whose value is the number of ranks.
    clusters : bool
        Whether ``-n4`` means ``-n 4``, as for srun.
    verb : str
        The word after the launcher's name, where it does more than launch: ``run``.
    """

    values: Mapping[str, int]
    flags: frozenset[str]
    ranks: frozenset[str]
    clusters: bool = False
    verb: str = ""


@dataclass(frozen=True)
class Option:
    """One option as it was written, and what it says."""

    name: str
    values: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """The option as one types it."""
        return " ".join(self.words)


@dataclass(frozen=True)
class Segment:
    """Options and program of one part of a command; parts are joined by ``:``."""

    options: tuple[Option, ...]
    program: tuple[str, ...]


@dataclass(frozen=True)
class CommandLine:
    """A launcher, and the parts of its command."""

    launcher: str
    segments: tuple[Segment, ...]
    syntax: Syntax

    def find(self, names: Collection[str]) -> list[Option]:
        """Collect the options with one of these names, in the order given."""
        return [o for part in self.segments for o in part.options if o.name in names]

    def rank_count(self) -> int | None:
        """Add up the ranks of all parts; None where a part does not say."""
        total = 0
        for part in self.segments:
            counts = [o for o in part.options if o.name in self.syntax.ranks]
            if not counts:
                return None
            value = counts[-1].values[0]
            if not is_number(value) or int(value) == 0:
                raise Error(f"'{counts[-1].text}': expected a number of ranks")
            total += int(value)
        return total

    def behind(self, words: tuple[str, ...]) -> CommandLine:
        """Put these words, a program that starts another, before each program."""
        parts = (replace(p, program=(*words, *p.program)) for p in self.segments)
        return replace(self, segments=tuple(parts))

    def rebuilt(
        self,
        without: Collection[str],
        extra: Sequence[str],
        ranks: int | None = None,
    ) -> list[str]:
        """Write the command again, `extra` first, `without` some options.

        Names the number of ranks, if given, where the command left it open.
        """
        command = [self.launcher, *words(self.syntax.verb), *extra]
        if ranks is not None and self.rank_count() is None:
            if len(self.segments) > 1:
                raise Error("a command of several programs needs -n for each")
            command += ["-n", str(ranks)]
        for index, part in enumerate(self.segments):
            if index:
                command.append(":")
            for option in part.options:
                if option.name not in without:
                    command.extend(option.words)
            command.extend(part.program)
        return command


def parse(command: Sequence[str], syntax: Syntax) -> CommandLine:
    """Split a command; an option that `syntax` does not know is an error."""
    segments: list[Segment] = []
    rest = list(command[1:])
    if syntax.verb and rest[:1] != [syntax.verb]:
        raise Error(
            f"only '{command[0]} {syntax.verb}' takes a placement, not "
            f"'{' '.join(command[:2])}'"
        )
    rest = rest[1:] if syntax.verb else rest
    while True:
        options: list[Option] = []
        while rest and rest[0].startswith("-") and rest[0] != "-":
            if rest[0] == "--":
                rest.pop(0)
                break
            options.append(_take_option(rest, syntax, command[0]))
        end = rest.index(":") if ":" in rest and not syntax.clusters else len(rest)
        program, rest = rest[:end], rest[end + 1 :]
        if not program:
            raise NoProgram(
                f"the command names no program: {' '.join(command)}; write it after "
                "the launcher's options"
            )
        segments.append(Segment(tuple(options), tuple(program)))
        if not rest:
            return CommandLine(command[0], tuple(segments), syntax)


def _take_option(rest: list[str], syntax: Syntax, launcher: str) -> Option:
    word = rest.pop(0)
    body = word.lstrip("-")
    name, equals, value = body.partition("=")
    if syntax.clusters and not word.startswith("--") and len(body) > 1:
        if body[0] in syntax.values:
            return Option(body[0], (body[1:].removeprefix("="),), (word,))
        if all(letter in syntax.flags for letter in body):
            return Option(body, (), (word,))
    if equals and name in syntax.values:
        return Option(name, (value,), (word,))
    if body in syntax.flags or (equals and name in syntax.flags):
        return Option(name, (), (word,))
    if name not in syntax.values:
        known = sorted({*syntax.values, *syntax.flags})
        hint = unknown_name("option", word, known).partition("; there are")[0]
        raise Error(f"cannot read the {launcher} command: {hint}")
    count = syntax.values[name]
    if count == 2 and rest and "=" in rest[0]:  # -genv NAME=VALUE
        count = 1
    if len(rest) < count:
        raise Error(f"the option {word} of {launcher} needs {count} more words")
    values = tuple(rest[:count])
    del rest[:count]
    return Option(name, values, (word, *values))
