# SPDX-License-Identifier: BSD-3-Clause
"""The `topoloom` command: lists and runs commands, and prints errors in one line.

A command is the function ``command`` in ``topoloom/cli/commands/<command>.py``, or in
``topoloom/cli/commands/<group>/<command>.py``, with an entry in `SECTIONS`.
`make_command` reads the signature and docstring of the function.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from topoloom.cli.command_line import command_line
from topoloom.cli.exit_status import Failure, Interrupted, describe_error
from topoloom.cli.help_context import HelpContext
from topoloom.cli.streams import find_help_width, is_decoded, spell_bytes
from topoloom.cli.usage_errors import CheckedCommand
from topoloom.cli.values import Choice

if TYPE_CHECKING:
    from collections.abc import Sequence


class Command(NamedTuple):
    """An entry in the table of commands."""

    summary: str
    #: Whether the arguments after the options are a command to run.
    runs_a_program: bool = False


class Group(NamedTuple):
    """An entry in the table for several commands with one subject."""

    summary: str
    commands: Mapping[str, Command]
    #: The command that is suggested if the first word is not a command.
    suggested: str = ""
    #: A sentence for the help of the group, after the summary.
    remark: str = ""


SECTIONS: dict[str, dict[str, Command | Group]] = {
    "Run jobs": {
        "run": Command("record, map, and launch a program with its placement", True),
        "runs": Command("list the runs that 'run' stored, and what placement gained"),
        "trial": Command("measure what a placement gains, in pairs of runs", True),
        "record": Command("record who sends how much to whom in an MPI program", True),
        "map": Command("place the ranks of a job on its slots"),
        "compare": Command("try several mappers and print one table"),
        "judge": Command("measure a placement: hop-bytes, dilation, congestion"),
        "report": Command("show placements on one page: links, matrix, loads, nodes"),
        "export": Command("write a placement as a file for mpirun, srun and others"),
        "verify": Command("run a program and check where its ranks are"),
        "joint": Command("place several jobs together to minimize interference"),
    },
    "Describe jobs and machines": {
        "pattern": Group(
            "generate, import or show a communication graph",
            {
                "generate": Command("generate the communication graph of a pattern"),
                "import": Command("convert a graph file or the trace of a job"),
                "show": Command("show the ranks, bytes and heaviest pairs of a graph"),
            },
            suggested="generate",
        ),
        "machine": Group(
            "show, describe, measure and check machines",
            {
                "show": Command("show a machine: nodes, links, bisection"),
                "detect": Command("detect this node, or the nodes of your batch job"),
                "import": Command("convert a file of another program to a description"),
                "export": Command("write a machine as TOML, or for other programs"),
                "draw": Command("draw the nodes, switches and links of a machine"),
                "probe": Command("measure a machine, and write its description", True),
                "check": Command("find slow or bad hosts, NICs, cables and switches"),
                "sweep": Command("simulate the switches of a machine, load by load"),
            },
            suggested="show",
        ),
        "model": Group(
            "model message costs by size; fit them to measured times",
            {
                "show": Command("show the size ranges and costs of a network model"),
                "predict": Command("predict times of messages by a network model"),
                "fit": Command("fit a network model to measured times"),
                "channels": Command(
                    "find how many messages of a node run at full speed"
                ),
            },
            suggested="show",
            remark="'topoloom list models' lists the included models.",
        ),
        "allocate": Command(
            "choose nodes for a job, or show or generate an allocation"
        ),
    },
    "AI jobs, collectives, balance": {
        "ai": Group(
            "compare layouts, and place the axes and experts of AI models",
            {
                "axes": Command("map tensor, data and pipeline axes onto a machine"),
                "experts": Command("place the experts of a model on GPUs"),
                "layouts": Command("compare layouts of a training job"),
                "spares": Command("find the spare host that best replaces a lost one"),
            },
        ),
        "collective": Group(
            "rank, measure, export and place collectives",
            {
                "rank": Command("rank the schedules of a collective by predicted time"),
                "measure": Command(
                    "measure the schedules of a collective, and MPI's own"
                ),
                "export": Command(
                    "write schedules for MPI libraries and other programs"
                ),
                "simulate": Command("simulate schedules of a collective in switches"),
                "place": Command("order the ranks of a job for its collective"),
                "contention": Command("report which steps cause link contention"),
                "trees": Command(
                    "build multicast trees in switches, report their loads"
                ),
                "order": Command("order the processes of a node for binomial trees"),
                "grid": Command("measure off-node traffic of a process grid's axes"),
            },
        ),
        "balance": Command("compute a redistribution of tasks"),
    },
    "Study placements": {
        "study": Command("measure the effect of placement, collectives and options"),
        "bound": Command("prove lower bounds on the objective"),
        "simulate": Command(
            "simulate placements on the network, next to the prediction"
        ),
        "ring-bus": Command(
            "rank assignments of threads to the elements of a ring bus"
        ),
    },
    "Learn": {
        "help": Command("explain a topic: machines, mappers, objectives, ..."),
        "demo": Command("run all steps on a small example, into ./out/demo"),
        "list": Command("list mappers, schedules, patterns, topologies, machines, ..."),
    },
}

COMMANDS = {name: entry for each in SECTIONS.values() for name, entry in each.items()}


def command_names() -> list[str]:
    """List the full names of all commands, such as 'machine show'."""
    names = []
    for name, entry in COMMANDS.items():
        inside = entry.commands if isinstance(entry, Group) else ()
        names += [f"{name} {each}" for each in inside] or [name]
    return names


def find_command(name: str) -> click.Command:
    """Return the click command with this full name."""
    found: Any = app
    for word in name.split():
        found = found.get_command(click.Context(found), word)
    assert isinstance(found, click.Command)
    return found


OVERVIEW = """\b
Topoloom decides which rank of your MPI program runs on which core,
and says how much that saves.

\b
The usual steps:
  topoloom record -o app.npz -- mpirun -n 64 ./app   who talks to whom
  topoloom compare app.npz --machine torus:4x4x4     which mapper is best here
  topoloom map app.npz --machine torus:4x4x4 -o x.json
  topoloom export x.json --to openmpi-rankfile       use it
No program at hand? Start with:
  topoloom pattern generate stencil2d --grid 8x8 --bytes 64KiB -o app.npz

\b
Every command takes --json and has examples in `topoloom COMMAND --help`.
"""


class CommandGroup(CheckedCommand, click.Group):
    """Click group that lists commands from a table, and imports one when used."""

    context_class = HelpContext

    def __init__(
        self,
        name: str,
        entries: Mapping[str, Command | Group],
        suggested: str = "",
        **settings: Any,
    ) -> None:
        super().__init__(name, **settings)
        self.entries = entries
        self.suggested = suggested

    def list_commands(self, ctx: Any) -> list[str]:
        """List the commands in the order of the table."""
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the module of a command; return None for an unknown name."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = self._make(cmd_name, entry)
        return self.commands[cmd_name]

    def _make(self, name: str, entry: Command | Group) -> click.Command:
        if isinstance(entry, Group):
            return CommandGroup(
                name,
                entry.commands,
                entry.suggested,
                help=f"{_make_sentence(entry.summary)} {entry.remark}".rstrip(),
                short_help=entry.summary,
            )
        from topoloom.cli.parameters import make_command

        # A module cannot be called import.
        module = "import_" if name == "import" else name.replace("-", "_")
        group = [] if self is app else [str(self.name)]
        path = ".".join(["topoloom.cli.commands", *group, module])
        return make_command(
            name,
            importlib.import_module(path).command,
            short_help=entry.summary,
            context_settings={"allow_interspersed_args": not entry.runs_a_program},
        )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of this group; without words, print the help."""
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Raise an error for an unknown command, and suggest the most similar one."""
        if args and args[0] not in self.entries and not ctx.resilient_parsing:
            raise Failure(self._describe_unknown_command(ctx.command_path, args[0]), 2)
        return super().resolve_command(ctx, args)

    def _describe_unknown_command(self, path: str, word: str) -> str:
        from topoloom.support.name_lookup import describe_unknown_name, suggest

        grouped = [
            f"{path} {name} {word}"
            for name, entry in self.entries.items()
            if isinstance(entry, Group) and word in entry.commands
        ]
        if self.suggested and not suggest(word, self.entries):
            grouped = [f"{path} {self.suggested} {word}"]
        if not grouped:
            text = describe_unknown_name("command", word, self.entries)
            return f"'{path}' has {text}"
        names = ", ".join(self.entries)
        guess = f"did you mean {' or '.join(map(repr, grouped))}?"
        return f"'{path}' has no command '{word}' ({guess}); there are: {names}"

    def make_context(self, *words: Any, **more: Any) -> Any:
        """Parse the command line; convert Ctrl-C to `Interrupted`."""
        try:
            return super().make_context(*words, **more)
        except KeyboardInterrupt:
            raise Interrupted from None

    def invoke(self, ctx: Any) -> Any:
        """Run a command; convert Ctrl-C to `Interrupted`."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Format the commands by section without importing their modules."""
        sections = SECTIONS if self is app else {"Commands": self.entries}
        width = max(map(len, self.entries))
        for title, entries in sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (f"{name:{width}}", each.summary)
                        for name, each in entries.items()
                    ]
                )

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete commands from the table; click completes options."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        for name in self.entries:
            if name.startswith(incomplete):
                self.get_command(ctx, name)
        return super().shell_complete(ctx, incomplete)


def _make_sentence(summary: str) -> str:
    return summary[:1].upper() + summary[1:] + "."


def _print_version(context: click.Context, _: click.Parameter, requested: bool) -> None:
    if requested:
        from topoloom.support.version import __version__

        print(f"topoloom {__version__}")
        context.exit()


#: Environment variable with which completion scripts call the command.
COMPLETE_VARIABLE = "_TOPOLOOM_COMPLETE"


def _print_completion(
    context: click.Context, _: click.Parameter, shell: str | None
) -> None:
    if shell is not None:
        from click.shell_completion import get_completion_class

        from topoloom.cli.completion_scripts import register_completions

        register_completions()
        completion_class = get_completion_class(shell)
        assert completion_class is not None
        completion = completion_class(
            context.command, {}, "topoloom", COMPLETE_VARIABLE
        )
        print(completion.source())
        context.exit()


app = CommandGroup(
    "topoloom",
    COMMANDS,
    help=OVERVIEW,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version and exit.",
        ),
        click.Option(
            ["--show-completion"],
            type=Choice("shell", ["bash", "zsh", "fish"]),
            is_eager=True,
            expose_value=False,
            callback=_print_completion,
            help="Print the completion script for this shell; source it in the shell's "
            "startup file.",
        ),
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)


BAD_INPUT = {
    errno.ENOENT,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.EACCES,
    errno.EROFS,
    errno.ENAMETOOLONG,
}


def fail(message: str, status: int = 2) -> int:
    """Print an error in one line on stderr, and return the exit status."""
    print("topoloom: " + spell_bytes(" ".join(message.split())), file=sys.stderr)
    return status


def run(arguments: Sequence[str]) -> int:
    """Run one command line; return its exit status.

    The status is 0 for success, 1 for a failure, 2 for bad input, 130 after Ctrl-C.
    """
    command_line.set(("topoloom", *arguments))
    try:
        if os.environ.get(COMPLETE_VARIABLE):
            from topoloom.cli.completion_scripts import (
                check_completion,
                register_completions,
            )

            check_completion(COMPLETE_VARIABLE)
            register_completions()
        status = app.main(
            list(arguments),
            prog_name="topoloom",
            standalone_mode=False,
            obj=run,  # lets commands such as demo run other commands
            terminal_width=find_help_width(),
        )
        if sys.stdout is not None:  # None if the parent process closed the stream
            sys.stdout.flush()
    except BrokenPipeError:
        # The process that read stdout has exited, as in `topoloom ... | head`: stop
        # printing.
        _discard_output()
        return 1
    except Exception as error:
        status = _format_exception(error)
        try:
            sys.stdout.flush()
        except OSError:  # A full disk: Python would try again, and exit with 120.
            _discard_output()
    return status if isinstance(status, int) else 0


def _discard_output() -> None:
    """Discard what stdout still holds and will get."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _format_exception(error: Exception) -> int:
    if isinstance(error, Failure):
        return fail(str(error), error.status)
    core = sys.modules.get("topoloom._core")
    if core is not None and isinstance(error, core.Error):
        return fail(str(error), 2)
    if isinstance(error, OSError):
        return fail(describe_error(error), 2 if error.errno in BAD_INPUT else 1)
    if isinstance(error, ImportError) and error.name is None and core is None:
        return fail(str(error), 1)  # the compiled core is from another version
    if isinstance(error, MemoryError):
        return fail("not enough memory for this problem", 1)
    if isinstance(error, ModuleNotFoundError) and error.name == "matplotlib":
        return fail("figures need matplotlib: pip install 'topoloom[report]'", 1)
    if isinstance(error, ModuleNotFoundError) and error.name == "jinja2":
        return fail("reports need jinja2: pip install 'topoloom[report]'", 1)
    bad = next((word for word in command_line.get() if not is_decoded(word)), None)
    if bad is not None and isinstance(error, TypeError | UnicodeError):
        return fail(f"'{bad}' cannot be decoded; use ASCII")  # the core takes UTF-8
    if os.environ.get("TOPOLOOM_TRACEBACK"):
        raise error
    return fail(
        f"internal error, please report it: {type(error).__name__}: {error} "
        "(TOPOLOOM_TRACEBACK=1 shows where)",
        1,
    )
