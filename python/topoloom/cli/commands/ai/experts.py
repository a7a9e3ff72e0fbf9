# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom ai experts`: place the experts of a model on GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli import completions
from topoloom.cli.options.files import AsJson, output_option
from topoloom.cli.options.frameworks import ExpertRanks
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import AllocationOptions, MachineText
from topoloom.cli.options.searches import Seed, Threads, read_search
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.tasks.experts.engines import Engine
    from topoloom.tasks.experts.place import PlacedExperts


@flatten_option_groups
def command(
    loads: Annotated[
        Path,
        Argument(
            metavar="LOADS",
            help="Loads of experts: a table with a line per layer and a column per "
            "expert, separated by commas or blanks; SGLang's JSON with logical_count; "
            "or .npz with topk_ids, the experts of tokens.",
        ),
    ],
    machine: MachineText,
    *,
    ep: ExpertRanks = None,
    redundant: Annotated[
        int,
        Option(
            "--redundant",
            metavar="N",
            help="Number of redundant experts, over all GPUs.",
        ),
    ] = 0,
    slack: Annotated[
        float | None,
        Option(
            "--slack",
            metavar="SHARE",
            help="Share by which the busiest GPU may exceed that of the most even "
            "placement, such as 0.01.",
            show_default="the value with the shortest step among several that are "
            "tried on a few layers",
        ),
    ] = None,
    allowed: AllocationOptions,
    seed: Seed = 1,
    threads: Threads = 0,
    engine_name: Annotated[
        str | None,
        Option(
            "--engine",
            metavar="ENGINE",
            help="Inference engine: sglang, vllm, vllm-ascend or trtllm. Determines "
            "how tokens choose replicas, and the format of -o; without -o, prints the "
            "file.",
            autocompletion=completions.engines,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("Write the placement as the engine reads it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Place the experts of a model on GPUs.

    Experts that are chosen by the same tokens are placed on the same node, so that each
    token visits few nodes. Several experts on one node are one visit. Frequent experts
    have several slots, on several nodes if the engine, such as SGLang, sends tokens to
    the nearest replica. The load limit of the busiest GPU is chosen so that each
    additional percent of load saves at least one percent of the visits.

    Visits and loads are measured with every second token, which the search does not
    use. They are compared with experts in order, and with experts placed by load only.
    A node is an NVLink domain if the machine has NVLink domains.

    \b
    Examples:
      topoloom ai experts routing.npz -m dgx-h100-pod --ep 64 --redundant 64
      topoloom ai experts counts.json -m dgx-h100-pod --ep 32 --redundant 32 \\
          --engine sglang -o experts.json
    """
    from topoloom._core import Error
    from topoloom.cli.console import print_json
    from topoloom.support.files import write_text
    from topoloom.tasks.experts.engines import find_engine
    from topoloom.tasks.experts.place import place_on_gpus
    from topoloom.tasks.experts.routing import read_routing
    from topoloom.tasks.problem import AllocationSpec, load_nodes

    if ep is None:
        raise Error(
            "--ep, the number of GPUs for the experts, is missing; add it, such as "
            "--ep 64"
        )
    engine = find_engine(engine_name) if engine_name is not None else None
    if output is not None and engine is None:
        raise Error(
            "-o writes a file for an engine; add --engine, such as --engine sglang"
        )
    if output is not None and engine is not None and engine.rejects_name(output):
        raise Error(
            f"{output}: {engine_name} reads only files with the suffix "
            f"{engine.suffix}; write {output.with_suffix(engine.suffix)}"
        )
    if as_json and engine is not None and output is None:
        raise Error(
            "--engine and --json both print to stdout; write the engine's file with "
            "-o, such as -o experts.json"
        )
    routing = read_routing(loads)
    given, _ = load_nodes(machine, AllocationSpec(*allowed, seed))
    placed = place_on_gpus(
        routing,
        given.allocation,
        ep,
        redundant,
        nearest=engine is not None and engine.nearest,
        slack=slack,
        search=read_search(seed, threads=threads),
    )
    if engine is not None and output is None:
        print(placed.text(engine), end="")
        return
    if engine is not None and output is not None:
        write_text(output, placed.text(engine))
    if as_json:
        print_json(placed.document())
    else:
        _print_result(placed, engine, output)


def _print_result(
    placed: PlacedExperts, engine: Engine | None, output: Path | None
) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.support.gain import format_percent, gain
    from topoloom.support.units import counted

    routing, tokens = placed.routing, placed.routing.topk_ids
    layers, nodes = len(routing.layers), int(placed.nodes.max()) + 1
    print_facts(
        [],
        f"{counted(layers, 'layer')} of {counted(routing.loads.shape[1], 'expert')}, "
        f"{placed.best.shape[1]} slots on {counted(len(placed.nodes), 'GPU')} of "
        f"{counted(nodes, 'node')}",
    )
    by_load = placed.cost(placed.by_load)
    rows = []
    for title, held in (
        ("in order", placed.in_order),
        ("by load", placed.by_load),
        ("best", placed.best),
    ):
        cost = placed.cost(held)
        saved = format_percent(gain(by_load.visits, cost.visits))
        loads = [f"{100 * (one - 1):+.1f} %" for one in (cost.load, cost.load_worst)]
        rows.append((title, f"{cost.visits:.3f}", saved, *loads))
    visits = "leave the node" if tokens is None else "other nodes per token"
    print_table(["", visits, "gain", "busiest GPU", "worst layer"], rows)
    if placed.tried:
        _print_slacks(placed, visits)
    where = "on the own node, else any" if placed.nearest else "any, equally often"
    facts = [("replica", where)]
    if tokens is not None:
        measured = f"{tokens.shape[1]:,} per layer; half of them measured, loads too"
        facts.append(("tokens", measured))
        if twice := routing.repeated_choices:
            facts.append(
                (
                    "twice",
                    f"{twice:,} tokens choose an expert again; each choice is load",
                )
            )
    if placed.visits_lower_bound is not None:
        facts.append(("at least", f"{placed.visits_lower_bound:.3f} leave the node"))
    facts += _explain_no_gain(placed, nodes, by_load.visits)
    if engine is not None and engine.is_numbered and layers == len(routing.loads):
        rows_are = "all have experts; of a model with others, give these rows of zeros"
        facts.append(("layers", rows_are))
    if engine is not None and output is not None:
        for line in engine.settings:
            line = line.replace("COUNT", str(placed.redundant_count))
            facts.append(("set", line.replace("FILE", str(output))))
    print_facts(facts, written=[output])


def _print_slacks(placed: PlacedExperts, visits: str) -> None:
    """Print the costs by slack, with the chosen slack marked."""
    from topoloom.cli.console import print_table

    rows = []
    for one in placed.tried:
        load = f"{100 * (one.load - 1):+.1f} %"
        step = f"{100 * (one.step - 1):+.1f} %"
        rows.append((f"{one.slack:g}", f"{one.visits:.3f}", load, step))
    print_table(
        ["--slack", visits, "busiest GPU", "step"],
        rows,
        best=[one.slack for one in placed.tried].index(placed.slack),
    )


def _explain_no_gain(
    placed: PlacedExperts, nodes: int, by_load: float
) -> list[tuple[str, str]]:
    """Return a table row with the reason if the placement has no gain."""
    best = placed.cost(placed.best).visits
    if best < 0.995 * by_load:
        return []
    if nodes == 1:
        why = "all GPUs are on one node"
    elif placed.routing.topk_ids is None and not placed.nearest:
        why = "without tokens, all placements send as much; loads are evened out"
    elif placed.routing.topk_ids is None:
        why = "no loads stand out that more replicas could keep on their nodes"
    elif (loose := placed.visits_at_double_load) < 0.98 * by_load:
        why = (
            "the busiest GPU has no room; with twice its load, --slack 1, tokens "
            f"would visit {loose:.3f} nodes"
        )
    else:
        why = "tokens choose experts with too little in common"
    return [("no gain", why)]
