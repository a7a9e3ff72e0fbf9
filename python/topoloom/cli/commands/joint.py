# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom joint`: place several jobs together on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson, OutputDirectory
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import AllocationOptions, MachineText
from topoloom.cli.options.network import SwitchName
from topoloom.cli.options.searches import (
    Effort,
    MapperName,
    ObjectiveName,
    SearchOptions,
    set_effort,
)
from topoloom.cli.options.simulators import SimulatorName
from topoloom.cli.parameters import Argument

if TYPE_CHECKING:
    from topoloom.documents.placements import JointDocument
    from topoloom.simulate.switch_toml import SwitchModel
    from topoloom.tasks.jobs.joint import Budget, JointPlacement
    from topoloom.tasks.jobs.simulate_jobs import JobTimes


@flatten_option_groups
def command(
    jobs: Annotated[
        list[str],
        Argument(
            metavar="JOB",
            help="GRAPH@ALLOCATION, with an allocation as in --allocation; or only "
            "GRAPH for each job, if the jobs share --allocation.",
        ),
    ],
    machine: MachineText,
    *,
    allowed: AllocationOptions,
    mapper: MapperName = "auto",
    effort: Effort = None,
    objective: ObjectiveName = "auto",
    simulator: SimulatorName = None,
    switch: SwitchName = None,
    output: OutputDirectory = None,
    searching: SearchOptions,
    as_json: AsJson = False,
) -> None:
    """Place several concurrent jobs to minimize interference.

    Jobs with their own allocations are placed separately. Then each job in turn is
    placed again, given the traffic of the others, until that no longer helps. Jobs
    without allocations share the nodes of --allocation, or all nodes, and are placed as
    one pattern. --time and --work limit all searches together. After Ctrl-C the best
    placements so far are used.

    The default objective is the predicted time if the machine's bandwidths are known,
    else congestion; the choice and its reason are printed.

    \b
    alone            objective of each job on an empty machine
    each for itself  objective of the same placement while all jobs run
    jointly          objective with the joint placement while all jobs run
    all jobs         objective of the worst job, and hop-bytes of all jobs

    --with switches also simulates the packets of one message per pair of ranks; all
    jobs start at once. In the table of simulated times, 'alone' is the joint
    placement on an empty machine.

    \b
    Examples:
      topoloom joint 'a.npz@n[0-31]' 'b.npz@n[32-63]' -m torus:4x4x4
      topoloom joint a.npz b.npz -m torus:8x8x8 --allocation pool.txt \\
          --time 1s -o placed
      topoloom joint a.npz b.npz -m fattree:4:4:4,bandwidth=10GB/s \\
          --effort fast --with switches
    """
    from time import perf_counter

    from topoloom.cli.command_line import command_line
    from topoloom.cli.console import monitor_search, print_json
    from topoloom.cli.exit_status import Interrupted
    from topoloom.machines.machine_file import load_machine_and_description
    from topoloom.simulate.switches import require_links_with_bandwidths
    from topoloom.tasks.jobs.joint import Budget
    from topoloom.tasks.jobs.joint_files import load_jobs, save_jobs
    from topoloom.tasks.objective import AUTO, choose_shared_objective
    from topoloom.tasks.problem import AllocationSpec

    model = _load_switch_model(simulator, switch, machine)
    search = searching.make_search()
    the_machine, described = load_machine_and_description(machine)
    if simulator is not None:
        require_links_with_bandwidths(the_machine)
    reason = ""
    if objective == AUTO:
        objective, reason = choose_shared_objective(the_machine)
    where = AllocationSpec(*allowed, seed=search.seed)
    loaded = load_jobs(jobs, the_machine, described, where)
    start = perf_counter()
    with monitor_search(f"placing {len(jobs)} jobs", search) as watch:
        budget = Budget(
            set_effort(mapper, effort),
            objective=objective,
            **search._asdict(),
            progress=watch,
        )
        found = loaded.place(budget)
    took = perf_counter() - start
    files: list[Path] = []
    if output is not None:
        files = save_jobs(output, loaded, found, budget, command_line.get())
    simulate = simulator is not None and not watch.interrupted
    times = _simulate_jobs(found, model) if simulate else None
    if as_json:
        print_json(_make_document(found, budget, files, times))
    else:
        facts = [("objective", f"{objective}: {reason}")] if reason else []
        facts.append(("search", f"{found.work:,} candidates in {took:.2f} s"))
        facts += [("machine", remark) for remark in the_machine.remarks]
        facts += [("written", str(file)) for file in files]
        _print_result(found, objective, facts)
        if times is not None:
            _print_times(found, times)
    if simulate and times is None:
        raise Interrupted("interrupted; the jobs were placed, but not simulated")
    if watch.interrupted:
        best = f"; {output} holds the best placements so far" if output else ""
        raise Interrupted(f"interrupted{best}")


def _simulate_jobs(found: JointPlacement, model: SwitchModel | None) -> JobTimes | None:
    """Simulate the jobs; return None after Ctrl-C."""
    from topoloom.cli.console import make_progress_bar
    from topoloom.tasks.jobs.simulate_jobs import simulate_jobs

    try:
        with make_progress_bar("simulating jobs", unit="simulations") as progress:
            return simulate_jobs(found, model, progress)
    except KeyboardInterrupt:
        return None


def _load_switch_model(
    simulator: str | None, switch: str | None, machine: str
) -> SwitchModel | None:
    from topoloom._core import Error
    from topoloom.simulate.switch_toml import load_given_or_machine_switch

    if simulator not in (None, "switches"):
        raise Error(f"jobs can be simulated only with switches, not with '{simulator}'")
    if simulator is None and switch is not None:
        raise Error("--switch is for --with switches")
    return None if simulator is None else load_given_or_machine_switch(switch, machine)


def _make_document(
    found: JointPlacement, budget: Budget, files: list[Path], times: JobTimes | None
) -> JointDocument:
    together, apart = found.together, found.apart
    return {
        "machine": together.jobs[0].allocation.machine.text,
        "objective": budget.objective,
        "mapper": budget.mapper,
        "seed": budget.seed,
        "work": found.work,
        "jobs": [
            {
                "job": job.name,
                "ranks": job.graph.rank_count,
                "nodes": job.allocation.nodes.tolist(),
                "alone": found.alone[i],
                "apart": apart.values[i],
                "jointly": together.values[i],
                "output": str(files[i]) if files else None,
                "simulated_seconds": None
                if times is None
                else {
                    "alone": times.alone[i],
                    "apart": times.apart[i],
                    "jointly": times.jointly[i],
                },
            }
            for i, job in enumerate(together.jobs)
        ],
        "apart": {"objective": apart.value, "hop_bytes": apart.hop_bytes},
        "jointly": {"objective": together.value, "hop_bytes": together.hop_bytes},
    }


def _print_result(
    found: JointPlacement, objective: str, facts: list[tuple[str, str]]
) -> None:
    from topoloom.cli.console import print_facts, print_table
    from topoloom.placements.measures import (
        format_gain,
        format_objective,
        measure_title,
    )
    from topoloom.support.units import format_count

    together, apart = found.together, found.apart
    ranks = [job.graph.rank_count for job in together.jobs]
    machine = together.jobs[0].allocation.machine

    def format_value(value: float) -> str:
        return format_objective(value, objective, machine)

    rows = [
        (
            job.name,
            f"{ranks[i]:,}",
            format_value(found.alone[i]),
            format_value(apart.values[i]),
            format_value(together.values[i]),
            format_gain(objective, apart.values[i], together.values[i]),
        )
        for i, job in enumerate(together.jobs)
    ]
    all_jobs = (apart.value, together.value)
    apart_text, together_text = map(format_value, all_jobs)
    total = f"{sum(ranks):,}"
    rows.append(
        (
            "all jobs",
            total,
            "",
            apart_text,
            together_text,
            format_gain(objective, *all_jobs),
        )
    )
    hop_bytes = (apart.hop_bytes, together.hop_bytes)
    apart_text, together_text = map(format_count, hop_bytes)
    rows.append(
        (
            measure_title("hop_bytes"),
            "",
            "",
            apart_text,
            together_text,
            format_gain("hop_bytes", *hop_bytes),
        )
    )
    print_table(
        ["", "ranks", "alone", "each for itself", "jointly", "gain"],
        rows,
        title=f"{len(ranks)} jobs on {machine.name}; objective: {objective}",
        keep=["", "jointly", "gain"],
    )
    print_facts(facts)


def _print_times(placement: JointPlacement, times: JobTimes) -> None:
    from topoloom.cli.console import print_table
    from topoloom.support.gain import format_percent, gain
    from topoloom.support.units import format_seconds

    columns = (times.alone, times.apart, times.jointly)
    rows = [
        [
            job.name,
            *(format_seconds(column[i]) for column in columns),
            format_percent(gain(times.apart[i], times.jointly[i])),
        ]
        for i, job in enumerate(placement.together.jobs)
    ]
    print_table(
        ["", "alone", "each for itself", "jointly", "gain"],
        rows,
        title="a message of each pair, simulated in switches",
        keep=["", "jointly", "gain"],
    )
