# SPDX-License-Identifier: BSD-3-Clause
"""The `topoloom` command: lists and runs verbs, and prints errors in one line.

A verb is the function ``command`` in ``topoloom/cli/verbs/<verb>.py``, or in a
subfolder, with an entry in `GROUPS`. `make_command` reads the signature and docstring
of the function.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from topoloom.cli.command_line import command_line
from topoloom.cli.exit_status import Failure, Interrupted

if TYPE_CHECKING:
    from collections.abc import Sequence


class Verb(NamedTuple):
    """An entry in the table of verbs."""

    summary: str
    #: Whether the arguments after the options are a command to run.
    runs_a_program: bool = False
    folder: str = ""  # below verbs/


GROUPS = {
    "Record and describe": {
        "record": Verb("record who sends how much to whom in an MPI program", True),
        "pattern": Verb("generate a communication graph, or import one from a file"),
        "machine": Verb("show or describe a machine: nodes, links, shape"),
        "probe": Verb("measure a machine, and write its description", True),
        "list": Verb("list mappers, schedules, patterns, topologies, machines, ..."),
        "demo": Verb("run all steps on a small example, into ./out/demo"),
    },
    "Place": {
        "allocate": Verb("choose nodes for a job, or show or generate an allocation"),
        "map": Verb("place the ranks of a job on its slots"),
        "compare": Verb("try several mappers and print one table"),
        "joint": Verb("place several jobs together to minimize interference"),
        "axes": Verb("map tensor, data and pipeline axes onto a machine"),
        "affinity": Verb("rank assignments of threads to the elements of a ring bus"),
    },
    "Serve AI models": {
        "experts": Verb("place the experts of a model on GPUs", folder="ai"),
    },
    "Judge and prove": {
        "judge": Verb("measure a placement: hop-bytes, dilation, congestion"),
        "bound": Verb("prove lower bounds on the objective"),
        "simulate": Verb("simulate placements on the network, next to the prediction"),
        "network": Verb("simulate the switches of a machine, cycle by cycle"),
        "report": Verb("show placements on one page: links, matrix, loads, nodes"),
    },
    "Balance": {
        "balance": Verb("compute a redistribution of tasks"),
    },
    "Run": {
        "export": Verb("write a placement as a file for mpirun, srun and others"),
        "run": Verb("record, map, and launch a program with its placement", True),
        "reorder": Verb("run a program whose MPI topologies are reordered", True),
        "verify": Verb("run a program and check where its ranks are"),
    },
    "Collectives and models": {
        "collective": Verb("rank the schedules of a collective by their cost"),
        "order": Verb("order the processes of a node for binomial trees"),
        "steps": Verb("report which steps of a schedule cause link contention"),
        "trees": Verb("build multicast trees in switches and report their loads"),
        "grid": Verb("measure off-node traffic along the axes of a process grid"),
        "model": Verb("model message costs by size; fit them to measured times"),
    },
}

VERBS = {name: verb for group in GROUPS.values() for name, verb in group.items()}

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
  topoloom pattern stencil3d --grid 8x8x8 --bytes 1024 -o p.npz

\b
Every verb takes --json and has examples in `topoloom VERB --help`.
"""


class VerbGroup(click.Group):
    """Click group that lists verbs from the table, and imports a verb when used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the verbs in the order of their groups."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the module of a verb; return None for an unknown verb."""
        if cmd_name not in VERBS:
            return None
        if cmd_name not in self.commands:
            from topoloom.cli.parameters import make_command

            folder = VERBS[cmd_name].folder
            path = ".".join(filter(None, ("topoloom.cli.verbs", folder, cmd_name)))
            module = importlib.import_module(path)
            settings = {"allow_interspersed_args": not VERBS[cmd_name].runs_a_program}
            self.commands[cmd_name] = make_command(
                cmd_name,
                module.command,
                short_help=VERBS[cmd_name].summary,
                context_settings=settings,
            )
        return self.commands[cmd_name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Raise an error for an unknown verb, and suggest the most similar one."""
        if args and args[0] not in VERBS and not ctx.resilient_parsing:
            from topoloom.support.name_lookup import describe_unknown_name

            raise Failure(describe_unknown_name("verb", args[0], VERBS), 2)
        return super().resolve_command(ctx, args)

    def make_context(self, *words: Any, **more: Any) -> Any:
        """Parse the command line; convert Ctrl-C to `Interrupted`."""
        try:
            return super().make_context(*words, **more)
        except KeyboardInterrupt:
            raise Interrupted from None

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; convert Ctrl-C to `Interrupted`."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Format the verbs by group without importing their modules."""
        width = max(map(len, VERBS))
        for title, verbs in GROUPS.items():
            with formatter.section(title):
                rows = [
                    (f"{name:{width}}", verb.summary) for name, verb in verbs.items()
                ]
                formatter.write_dl(rows)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete verbs from the table; click completes options."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        for name in VERBS:
            if name.startswith(incomplete):
                self.get_command(ctx, name)
        return super().shell_complete(ctx, incomplete)


def _print_version(context: click.Context, _: click.Parameter, requested: bool) -> None:
    if requested:
        from topoloom.support.version import __version__

        print(f"topoloom {__version__}")
        context.exit()


def _print_completion(
    context: click.Context, _: click.Parameter, shell: str | None
) -> None:
    if shell is not None:
        from click.shell_completion import get_completion_class

        completion_class = get_completion_class(shell)
        assert completion_class is not None
        completion = completion_class(
            context.command, {}, "topoloom", "_TOPOLOOM_COMPLETE"
        )
        print(completion.source())
        context.exit()


app = VerbGroup(
    "topoloom",
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
            type=click.Choice(["bash", "zsh", "fish"]),
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
    errno.ENAMETOOLONG,
}


def fail(message: str, status: int = 2) -> int:
    """Print an error in one line on stderr, and return the exit status."""
    print("topoloom: " + " ".join(message.split()), file=sys.stderr)
    return status


def run(arguments: Sequence[str]) -> int:
    """Run one command line; return its exit status.

    The status is 0 for success, 1 for a failure, 2 for bad input, 130 after Ctrl-C.
    """
    command_line.set(("topoloom", *arguments))
    try:
        if not arguments:
            arguments = ["--help"]
        status = app.main(
            list(arguments),
            prog_name="topoloom",
            standalone_mode=False,
            obj=run,  # lets verbs such as demo run other verbs
        )
        if sys.stdout is not None:  # None if the parent process closed the stream
            sys.stdout.flush()
    except BrokenPipeError:
        # The process that read stdout has exited, as in `topoloom ... | head`: stop
        # printing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        return _format_exception(error)
    return status if isinstance(status, int) else 0


def _format_exception(error: Exception) -> int:
    if isinstance(error, Failure):
        return fail(str(error), error.status)
    if hasattr(error, "format_message"):  # a click usage error
        return fail(_format_usage_error(error), 2)
    core = sys.modules.get("topoloom._core")
    if core is not None and isinstance(error, core.Error):
        return fail(str(error), 2)
    if isinstance(error, OSError):
        what = error.strerror or str(error)
        where = f"{error.filename}: " if error.filename else ""
        return fail(f"{where}{what}", 2 if error.errno in BAD_INPUT else 1)
    if isinstance(error, ImportError) and error.name is None and core is None:
        return fail(str(error), 1)  # the compiled core is from another version
    if isinstance(error, MemoryError):
        return fail("not enough memory for this problem", 1)
    if isinstance(error, ModuleNotFoundError) and error.name == "matplotlib":
        return fail("figures need matplotlib: pip install 'topoloom[report]'", 1)
    if isinstance(error, ModuleNotFoundError) and error.name == "jinja2":
        return fail("reports need jinja2: pip install 'topoloom[report]'", 1)
    if os.environ.get("TOPOLOOM_TRACEBACK"):
        raise error
    return fail(
        f"internal error, please report it: {type(error).__name__}: {error} "
        "(TOPOLOOM_TRACEBACK=1 shows where)",
        1,
    )


def _format_usage_error(error: Any) -> str:
    """Format a click usage error in one line; suggest the most similar option name."""
    similar = getattr(error, "possibilities", None)
    text: str = error.message if similar else error.format_message()
    text = text[:1].lower() + text[1:].rstrip(".")
    if not similar:
        return text
    from topoloom.support.name_lookup import suggest

    return text + suggest(error.option_name, similar)
