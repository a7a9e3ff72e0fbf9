# SPDX-License-Identifier: BSD-3-Clause
"""Draws wrong calls of all commands: one mistake in an otherwise valid call."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import click

from topoloom.cli.app import command_names, find_command

MACHINE = "torus:4x4,bandwidth=10GB/s,latency=1us+node:1,startup=1us"
#: Values of required parameters, by metavar; the test writes these files.
VALUES = {
    "-- COMMAND": "none/mpirun -n 16 ./none",
    "-- LAUNCHER": "none/mpirun -n 16",
    "AxBxC": "4x4",
    "COSTS": "costs.txt",
    "FILE": "costs.txt",
    "FILE|-- COMMAND": "none/mpirun -n 16 ./none",
    "GRAPH": "p.npz",
    "GRAPH|PATTERN": "p.npz",
    "JOB": "small.npz small.npz",
    "KIND": "mappers",
    "LOADS": "loads.txt",
    "MACHINE": MACHINE,
    "[show] MACHINE": "torus:4x4",
    "N": "16",
    "PLACEMENT": "x.json",
    "PLACEMENT|MACHINE": "x.json",
    "SIZE": "8",
    "SIZE,...": "8",
    "STEPS": "p.npz",
}
#: Values of other required parameters, by name.
NAMED_VALUES = {
    "--mesh": "dp=16",
    "--traffic": "dp=1GiB",
    "name": "ring",
    "reference": "m.toml",
    "words": "list",
}
OUTPUTS = {
    "machine draw": "new.svg",
    "machine probe": "new.toml",
    "report": "new.html",
}
#: Parameters that commands require in some cases only.
NEEDED = {
    "pattern": ["--ranks"],
    "pattern generate": ["--ranks"],
    "machine check": ["launcher_command"],
    "machine probe": ["--output", "launcher_command"],
    "ai axes": ["--mesh", "--traffic"],
    "ai experts": ["--ep"],
    "allocate": ["--nodes"],
}
#: Arguments and options that name an existing file.
INPUTS = {"GRAPH", "PLACEMENT", "LOADS", "COSTS", "STEPS", "FILE"}
#: Pairs of options that cannot be combined, with values.
CONFLICTS = [
    ("--allocation 0-3", "--nodes 4"),
    ("--imbalance 0.1", "--capacities loads.txt"),
    ("--placement x.json", "--allocation 0-3"),
    ("--torch", "--nccl"),
    ("--quick", "--thorough"),
    ("--mesh tp=16", "--framework megatron"),
]
#: Integer options for which 0 is a valid value.
MAY_BE_ZERO = {
    *("--seed", "--threads", "--work", "--root", "--hottest"),
    "--redundant",
}
#: A wrong value for each metavar of a quantity.
WRONG_QUANTITIES = {
    "SIZE": ("12QB", "-4KiB", "lots", "1e400"),
    "SIZE,...": ("12QB", "1KiB,,2KiB"),
    "TIME": ("10 parsecs", "-1s", "soon"),
    "RATE": ("10 GB", "0", "fast/s"),
    "AxBxC": ("4xx4", "axb", "0x4"),
}


class WrongCall(NamedTuple):
    """A wrong call, and the texts of which the error must contain one."""

    mistake: str
    command: str
    words: list[str]
    named: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.mistake}: {' '.join(self.words)}"


def draw_wrong_calls(count: int, seed: int) -> list[WrongCall]:
    """Draw calls of all kinds of mistakes in turn, of the commands drawn least."""
    rng = random.Random(seed)
    by_mistake: dict[str, list[WrongCall]] = defaultdict(list)
    for call in list_wrong_calls():
        by_mistake[call.mistake].append(call)
    for calls in by_mistake.values():
        rng.shuffle(calls)
    drawn: list[WrongCall] = []
    times: Counter[str] = Counter()
    while len(drawn) < count and any(by_mistake.values()):
        for calls in filter(None, by_mistake.values()):
            call = min(calls, key=lambda call: times[call.command])
            calls.remove(call)
            drawn.append(call)
            times[call.command] += 1
    return drawn[:count]


def list_wrong_calls() -> Iterator[WrongCall]:
    """List all wrong calls: every kind of mistake in every parameter."""
    for name in command_names():
        command = CalledCommand(name)
        for list_mistakes in MISTAKES:
            yield from list_mistakes(command)


class CalledCommand:
    """A command, and how to call it with one mistake."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parameters = find_command(name).params
        self.options = [p for p in self.parameters if isinstance(p, click.Option)]
        self.flags = {word: p for p in self.options for word in p.opts}

    def call(
        self, mistake: str, wrong: Any, words: list[str], *named: str
    ) -> WrongCall:
        """Make a call that is valid except for the words of the parameter `wrong`."""
        options: list[str] = []
        arguments: list[str] = []
        program: list[str] = []
        for parameter in self.parameters:
            if parameter is wrong:
                given = words
            elif self.needs(parameter, wrong):
                given = self.fill(parameter)
            else:
                continue
            if isinstance(parameter, click.Option):
                options += given
            elif is_program(parameter):
                program = ["--", *given] if given else []
            else:
                arguments += given
        extra = words if wrong is None else []
        called = [*self.name.split(), *options, *extra, *arguments, *program]
        # A wrong argument can make the program the argument.
        words = [*named, *getattr(wrong, "opts", ()), *program[1:2]]
        return WrongCall(mistake, self.name, called, tuple(words))

    def needs(self, parameter: click.Parameter, wrong: Any) -> bool:
        """Return whether a valid call gives the parameter; an optional machine, too."""
        if parameter.opts[0] == "--machine":
            named = getattr(wrong, "metavar", None)
            takes_any = named != "PLACEMENT" and self.name not in {"report", "ring-bus"}
            return parameter.required or takes_any
        named = parameter.opts[0] in NEEDED.get(self.name, ())
        return parameter.required or named

    def fill(self, parameter: click.Parameter) -> list[str]:
        """Return the words of a valid value."""
        name = parameter.opts[0]
        if name == "--output":
            return [name, OUTPUTS.get(self.name, "new.npz")]
        value = NAMED_VALUES.get(name) or VALUES.get(parameter.metavar or "")
        if value is None:
            value = next(iter(self.list_known_names(parameter)), "x")
        if isinstance(parameter, click.Option):
            return [name, value]
        return value.split()

    def spell(self, parameter: click.Parameter, value: str) -> list[str]:
        """Return the words that give a parameter this value."""
        if isinstance(parameter, click.Option):
            return [parameter.opts[-1], value]
        return [value]

    def list_known_names(self, parameter: click.Parameter) -> list[str]:
        """List the names that the shell completes for a parameter."""
        context = click.Context(find_command(self.name))
        return [item.value for item in parameter.shell_complete(context, "")]


def list_unknown_options(command: CalledCommand) -> Iterator[WrongCall]:
    """Misspell each option."""
    for option in command.options:
        if len(option.opts[0]) > 5:
            typo = option.opts[0][:-2] + option.opts[0][-1]
            if not any(word == typo for word in command.flags):
                yield command.call("unknown option", None, [typo], typo)


def list_missing_parameters(command: CalledCommand) -> Iterator[WrongCall]:
    """Leave out each required parameter, and the value of each option."""
    for parameter in command.parameters:
        if parameter.required:
            names = (
                *parameter.opts,
                parameter.metavar or "",
                "command to run",
                "launcher",
            )
            yield command.call("missing", parameter, [], *names)
    for option in command.options:
        if not option.is_flag and not any(map(is_program, command.parameters)):
            word = option.opts[-1]
            call = command.call("missing value", option, [], word)
            yield call._replace(words=[*call.words, word])


def list_wrong_integers(command: CalledCommand) -> Iterator[WrongCall]:
    """Give text, negative and huge numbers to options that are integers."""
    for option in command.options:
        if option.type.name != "integer":
            continue
        values = ["four", "1.5", "-1", f"{10**30}"]
        if option.opts[0] not in MAY_BE_ZERO:
            values.append("0")
        for value in values:
            words = command.spell(option, value)
            yield command.call("integer", option, words, words[0])


def list_wrong_numbers(command: CalledCommand) -> Iterator[WrongCall]:
    """Give text and infinity to options that are numbers."""
    for option in command.options:
        if option.type.name == "number":
            for value in ("half", "nan", "1e999", "-1"):
                words = command.spell(option, value)
                yield command.call("number", option, words, words[0])


def list_wrong_quantities(command: CalledCommand) -> Iterator[WrongCall]:
    """Give wrong units to sizes, times and bandwidths."""
    for parameter in command.parameters:
        for value in WRONG_QUANTITIES.get(parameter.metavar or "", ()):
            words = command.spell(parameter, value)
            yield command.call("quantity", parameter, words, words[0], value)


def list_wrong_inputs(command: CalledCommand) -> Iterator[WrongCall]:
    """Name files that are missing, empty, binary, of another kind, or directories."""
    for parameter in command.parameters:
        kinds = set((parameter.metavar or "").split("|"))
        if not kinds & INPUTS or is_output(parameter):
            continue
        swapped = ["p.npz" if "PLACEMENT" in kinds else "x.json"]
        if "FILE" in kinds:  # the metavar does not say of which kind
            swapped = []
        for file in ("none.npz", "empty", "binary.npz", "folder", *swapped):
            words = command.spell(parameter, file)
            yield command.call("input", parameter, words, file, words[0])


def is_output(parameter: click.Parameter) -> bool:
    """Return whether the value of a parameter is a file to write."""
    metavar = parameter.metavar in ("FILE", "DIR")
    return metavar and (
        parameter.callback is not None or "rite" in str(getattr(parameter, "help", ""))
    )


def list_wrong_outputs(command: CalledCommand) -> Iterator[WrongCall]:
    """Name outputs in missing directories, and directories."""
    for option in command.options:
        if is_output(option) and not option.multiple and option.metavar == "FILE":
            for file in ("none/new.npz", "folder"):
                words = command.spell(option, file)
                yield command.call("output", option, words, file)


def list_wrong_names(command: CalledCommand) -> Iterator[WrongCall]:
    """Misspell a name of each list of names."""
    if command.name == "machine check":
        return  # a valid call needs the file of a probe
    for parameter in command.parameters:
        names = [name for name in command.list_known_names(parameter) if len(name) > 3]
        for name in names[:2]:
            typo = name[:-2] + name[-1] + "q"
            words = command.spell(parameter, typo)
            yield command.call("name", parameter, words, typo, words[0])


def list_conflicts(command: CalledCommand) -> Iterator[WrongCall]:
    """Combine options that exclude each other."""
    for pair in CONFLICTS:
        words = [word for option in pair for word in option.split()]
        if {option.split()[0] for option in pair} <= command.flags.keys():
            yield command.call("conflict", None, words, *words)


def list_full_machines(command: CalledCommand) -> Iterator[WrongCall]:
    """Name a machine with too few slots."""
    arguments = {p.metavar for p in command.parameters if p.opts[0][0] != "-"}
    if "--machine" in command.flags and "GRAPH" in arguments:
        machine = command.flags["--machine"]
        words = ["--machine", "torus:2x2"]
        yield command.call("ranks", machine, words, "4 slots", "--machine")


def list_extra_arguments(command: CalledCommand) -> Iterator[WrongCall]:
    """Add an argument."""
    if all(parameter.nargs == 1 for parameter in command.parameters):
        call = command.call("extra argument", None, [], "surplus")
        arguments = [p for p in command.parameters if isinstance(p, click.Argument)]
        fill = [word for p in arguments if not p.required for word in command.fill(p)]
        yield call._replace(words=[*call.words, *fill, "surplus"])


def list_odd_texts(command: CalledCommand) -> Iterator[WrongCall]:
    """Give empty texts and texts that are not ASCII."""
    for parameter in command.parameters:
        if getattr(parameter, "is_flag", False) or parameter.metavar == "SETTING":
            continue
        if not is_program(parameter):
            words = command.spell(parameter, "")
            named = words[0] or parameter.metavar or ""
            yield command.call("empty", parameter, words, named)
        if parameter.type.name in ("integer", "number"):
            words = command.spell(parameter, "४")
            yield command.call("not ASCII", parameter, words, words[0], "४")


def is_program(parameter: click.Parameter) -> bool:
    """Return whether the values of a parameter are a command to run."""
    return "-- " in (parameter.metavar or "")


MISTAKES: list[Callable[[CalledCommand], Iterator[WrongCall]]] = [
    list_unknown_options,
    list_missing_parameters,
    list_wrong_integers,
    list_wrong_numbers,
    list_wrong_quantities,
    list_wrong_inputs,
    list_wrong_outputs,
    list_wrong_names,
    list_conflicts,
    list_full_machines,
    list_extra_arguments,
    list_odd_texts,
]
