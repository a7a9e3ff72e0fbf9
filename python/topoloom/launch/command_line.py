# SPDX-License-Identifier: BSD-3-Clause
"""A launcher's command line, split into the launcher's options and the program.

`mpirun -n 4 --mca btl tcp ./app -n 9` cannot be split without knowing which options
take values. Each launcher therefore describes its options in a `LauncherSyntax`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from topoloom._core import Error
from topoloom.support.name_lookup import describe_unknown_name
from topoloom.support.plain_text import is_number


class MissingProgramError(Error):
    """Raised if a command has options but no program."""


def split_names(text: str) -> list[str]:
    """Split a list of option names."""
    return text.split()


@dataclass(frozen=True)
class LauncherSyntax:
    """The options of one launcher, named without their dashes.

    Attributes
    ----------
    values : mapping of str to int
        The number of values of an option.
    flags : set of str
        Options without a value.
    ranks : set of str
        Options whose value is the number of ranks.
    joins_short_options : bool
        Whether ``-n4`` means ``-n 4``, as for srun.
    subcommand : str
        The word after the launcher's name if it needs one: ``run``.
    """

    values: Mapping[str, int]
    flags: frozenset[str]
    ranks: frozenset[str]
    joins_short_options: bool = False
    subcommand: str = ""


@dataclass(frozen=True)
class Option:
    """An option: name, values, and the original arguments."""

    name: str
    values: tuple[str, ...]
    arguments: tuple[str, ...]

    @property
    def text(self) -> str:
        """The option as the user typed it."""
        return " ".join(self.arguments)


@dataclass(frozen=True)
class ProgramSegment:
    """The options and the program of one part of a command; ``:`` separates parts."""

    options: tuple[Option, ...]
    program: tuple[str, ...]


@dataclass(frozen=True)
class CommandLine:
    """A launcher, and the parts of its command."""

    launcher: str
    segments: tuple[ProgramSegment, ...]
    syntax: LauncherSyntax

    def find_options(self, names: Collection[str]) -> list[Option]:
        """List the options with any of these names, in command-line order."""
        return [o for part in self.segments for o in part.options if o.name in names]

    def is_set(self, names: Collection[str]) -> bool:
        """Return whether an option has one of these names, or sets it: -x NAME=1."""
        return any(
            option.name in names
            or any(value.partition("=")[0] in names for value in option.values)
            for part in self.segments
            for option in part.options
        )

    def rank_count(self) -> int | None:
        """Add up the ranks of all parts; None if a part has no rank count."""
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

    def with_wrapper(self, wrapper: tuple[str, ...]) -> CommandLine:
        """Prefix each program with a wrapper command."""
        parts = (replace(p, program=(*wrapper, *p.program)) for p in self.segments)
        return replace(self, segments=tuple(parts))

    def with_options(self, options: Sequence[Option]) -> CommandLine:
        """Add options before those of each program."""
        parts = (replace(p, options=(*options, *p.options)) for p in self.segments)
        return replace(self, segments=tuple(parts))

    def without_options(self, names: Collection[str]) -> CommandLine:
        """Remove the options with these names."""
        parts = (
            replace(p, options=tuple(o for o in p.options if o.name not in names))
            for p in self.segments
        )
        return replace(self, segments=tuple(parts))

    def build(
        self,
        without: Collection[str],
        extra: Sequence[str],
        ranks: int | None = None,
    ) -> list[str]:
        """Build the command with `extra` options, and without the options `without`.

        If the command has no rank count, add `ranks`.
        """
        command = [self.launcher, *self.syntax.subcommand.split(), *extra]
        if ranks is not None and self.rank_count() is None:
            if len(self.segments) > 1:
                raise Error("a command of several programs needs -n for each")
            command += ["-n", str(ranks)]
        for index, part in enumerate(self.segments):
            if index:
                command.append(":")
            for option in part.options:
                if option.name not in without:
                    command.extend(option.arguments)
            command.extend(part.program)
        return command


def parse_command(command: Sequence[str], syntax: LauncherSyntax) -> CommandLine:
    """Split a command; raise `topoloom.Error` for an option not in `syntax`."""
    segments: list[ProgramSegment] = []
    rest = list(command[1:])
    if syntax.subcommand and rest[:1] != [syntax.subcommand]:
        raise Error(
            f"only '{command[0]} {syntax.subcommand}' supports placements, not "
            f"'{' '.join(command[:2])}'"
        )
    rest = rest[1:] if syntax.subcommand else rest
    has_parts = not syntax.joins_short_options
    while True:
        options: list[Option] = []
        while rest and rest[0].startswith("-") and rest[0] != "-":
            if rest[0] == "--":
                rest.pop(0)
                break
            options.append(_parse_option(rest, syntax, command[0]))
        end = rest.index(":") if has_parts and ":" in rest else len(rest)
        program, rest = rest[:end], rest[end + 1 :]
        if not program:
            raise MissingProgramError(
                f"the command has no program: {' '.join(command)}; add it after "
                "the launcher's options"
            )
        segments.append(ProgramSegment(tuple(options), tuple(program)))
        if not rest:
            return CommandLine(command[0], tuple(segments), syntax)


def _parse_option(rest: list[str], syntax: LauncherSyntax, launcher: str) -> Option:
    word = rest.pop(0)
    body = word.lstrip("-")
    name, equals, value = body.partition("=")
    if syntax.joins_short_options and not word.startswith("--") and len(body) > 1:
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
        hint = describe_unknown_name("option", word, known).partition("; there are")[0]
        raise Error(f"cannot read the {launcher} command: {hint}")
    count = syntax.values[name]
    if count == 2 and rest and "=" in rest[0]:  # special case: -genv NAME=VALUE
        count = 1
    if len(rest) < count:
        raise Error(f"the option {word} of {launcher} needs {count} more words")
    values = tuple(rest[:count])
    del rest[:count]
    return Option(name, values, (word, *values))
