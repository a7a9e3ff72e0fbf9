# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom ai layouts`: compare layouts of a training job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, format_option
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import AllocationOptions, MachineText
from topoloom.cli.options.messages import MaybeRanks
from topoloom.cli.options.searches import Seed
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.tasks.training.layouts import ComparedLayouts, TimedLayout

#: Layouts in the table.
_SHOWN = 10

#: Axes of a group -> column of the table.
_COLUMNS = {"cp+dp": "dp", "edp": "dp", "etp": "ep"}


@flatten_option_groups
def command(
    model: Annotated[
        str,
        Argument(
            metavar="MODEL,...",
            help="A model, such as llama-3.1-70b,sequence=8192, or a config.json of "
            "Hugging Face; as in 'ai axes --train', without batches=.",
            autocompletion=completions.training_steps,
        ),
    ],
    named: Annotated[
        list[str] | None,
        Argument(
            metavar="LAYOUT",
            help="A layout, such as tp=8,pp=4,vpp=2,micro=2,recompute=full; dp is the "
            "rest of --ranks, and etp 1. Without any, all that fit are compared.",
            autocompletion=completions.layouts,
        ),
    ] = None,
    *,
    machine: MachineText,
    ranks: MaybeRanks = None,
    batch: Annotated[
        int,
        Option("--batch", metavar="N", help="Sequences per step, over all GPUs."),
    ],
    gpu_memory: Annotated[
        str,
        Option(
            "--gpu-memory",
            metavar="SIZE",
            help="Memory of a GPU that a layout may use, such as 72GB of 80; leave "
            "room for NCCL, CUDA and fragmentation.",
        ),
    ],
    bubble: Annotated[
        float,
        Option(
            "--bubble",
            metavar="SHARE",
            help="Largest idle time of a pipeline stage, as a share of its "
            "computation; not for named layouts.",
        ),
    ] = 0.1,
    recompute: Annotated[
        bool,
        Option(
            "--recompute",
            help="Let layouts that do not fit otherwise recompute activations, which "
            "takes about a third more computation.",
        ),
    ] = False,
    allowed: AllocationOptions,
    seed: Seed = 1,
    to: Annotated[str | None, format_option(completions.launched_frameworks)] = None,
    as_json: AsJson = False,
) -> None:
    """Compare layouts of a training job by memory and communication.

    A layout is the sizes of the axes (tp, cp, pp, ep, dp), the chunks per pipeline
    stage (vpp) and the sequences per micro-batch (micro). Those that exceed the memory
    of a GPU are left out; the others are ranked by the predicted time of all they send
    in a step. Rules, times and memory are those of Megatron-Core with the distributed
    optimizer, sequence parallelism and FlashAttention, in its default rank order.

    'exposed' is the part of the time that the schedule cannot hide behind computation:
    the rest may be hidden if the computation takes long enough, which is not predicted.
    'bubble' is the idle time of a pipeline stage, as a share of its computation.

    \b
    --to prints only the launch arguments of the best layout:
    megatron, torchtitan, maxtext     flags
    deepspeed                         the configuration file; on stderr, Python

    \b
    Examples:
      topoloom ai layouts llama-3.1-70b,sequence=8192 -m dgx-h100-pod \\
          --ranks 256 --batch 512 --gpu-memory 72GB
      topoloom ai layouts llama-3.1-70b,sequence=8192 tp=8,pp=4 tp=4,pp=8 \\
          -m dgx-h100-pod --ranks 256 --batch 512 --gpu-memory 72GB --to megatron
    """
    from topoloom._core import Error
    from topoloom.cli.console import make_progress_bar, note, print_json
    from topoloom.frameworks.training_layout import LayoutStep, parse_layout
    from topoloom.frameworks.training_step import parse_step
    from topoloom.support.units import parse_bytes
    from topoloom.tasks.problem import AllocationSpec, load_nodes
    from topoloom.tasks.training.layouts import compare_layouts

    if to is not None and as_json:
        raise Error("--to and --json are mutually exclusive")
    if any(word.strip().startswith("batches=") for word in model.split(",")):
        raise Error("batches= follows from --batch; leave it out")
    step = LayoutStep(parse_step(model), batch)
    given, _ = load_nodes(machine, AllocationSpec(*allowed, seed))
    gpus = ranks or given.allocation.slot_count
    layouts = [parse_layout(text, gpus) for text in named or []]
    with make_progress_bar("timing layouts", "layouts") as bar:
        compared = compare_layouts(
            given.allocation,
            step,
            parse_bytes(gpu_memory),
            layouts,
            ranks=ranks,
            bubble=bubble,
            recompute=recompute,
            progress=bar,
        )
    if to is not None:
        written = compared.launch_arguments(to)
        print(*written.lines, sep="\n")
        for line in written.code:
            note(f"in Python: {line}")
    elif as_json:
        print_json(compared.document())
    else:
        _print_result(compared)


def _print_result(compared: ComparedLayouts) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.units import counted, format_bytes, format_count

    shown = compared.layouts[:_SHOWN]
    gpus = shown[0].layout.ranks
    machine = compared.allocation.machine.name
    print_facts([], f"{counted(gpus, 'GPU')} on {machine}: seconds per step")
    sums = [_sum_columns(one) for one in shown]
    used = {name for seconds in sums for name in seconds}
    names = [name for name in ("tp", "cp", "ep", "pp", "dp") if name in used]
    rows = []
    for one, seconds in zip(shown, sums, strict=True):
        rows.append(
            (
                one.layout.text,
                format_bytes(one.memory.total),
                *(format_count(seconds.get(name, 0.0)) for name in names),
                format_count(one.seconds),
                format_count(one.exposed),
                f"{one.layout.bubble(compared.step.batch):.1%}".replace("%", " %"),
            )
        )
    columns = ["layout", "memory", *names, "all", "exposed", "bubble"]
    print_table(columns, rows, keep=["layout", "memory", "all", "exposed"])
    facts = []
    if len(compared.layouts) > len(shown):
        rest = len(compared.layouts) - len(shown)
        facts.append(("slower", f"{counted(rest, 'layout')}; --json lists them"))
    for layout, memory in compared.refused:
        facts.append(("too large", f"{layout.text}: {format_bytes(memory.total)}"))
    if compared.has_nccl_times:
        facts.append(("times", "by NCCL's model of bus bandwidths, not line rates"))
    print_facts(facts)


def _sum_columns(one: TimedLayout) -> dict[str, float]:
    """Add the seconds of axes that share a column."""
    found: dict[str, float] = {}
    for time in one.times:
        name = _COLUMNS.get(time.traffic.name, time.traffic.name)
        found[name] = found.get(name, 0.0) + time.seconds
    return found
