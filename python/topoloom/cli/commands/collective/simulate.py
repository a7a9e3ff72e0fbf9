# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom collective simulate`: simulate schedules in switches."""

from __future__ import annotations

from topoloom.cli.options.collectives import (
    CallOptions,
    Operation,
    ScheduleNames,
    SlotOptions,
    parse_schedules,
)
from topoloom.cli.options.files import AsJson, PlacementOption
from topoloom.cli.options.groups import flatten_option_groups
from topoloom.cli.options.machines import MaybeMachineText
from topoloom.cli.options.messages import Ranks
from topoloom.cli.options.network import SwitchName
from topoloom.cli.options.searches import Seed


@flatten_option_groups
def command(
    operation: Operation,
    *,
    ranks: Ranks,
    message: CallOptions,
    schedule: ScheduleNames = None,
    machine: MaybeMachineText = None,
    slots: SlotOptions,
    placement: PlacementOption = None,
    switch: SwitchName = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Simulate schedules of a collective in switches.

    The built-in simulator sends all packets of the five fastest schedules, or of those
    in --schedule, through the switches of the machine. Other schedules only have the
    predicted time of 'topoloom collective rank'. The machine defines message costs.
    Messages have 1 KiB by default. A many-to-many needs --degree, or a --graph with
    the bytes from rank to rank.

    \b
    time        predicted seconds until the last rank has finished
    congestion  predicted seconds for which the busiest link is busy, summed over
                rounds
    simulated   seconds until the last rank has finished, including the queueing
                of packets in switches

    \b
    Examples:
      topoloom collective simulate allreduce -n 64 --bytes 1MiB \\
          -m torus:4x4x4,bandwidth=10GB/s,latency=100ns+node:1,startup=1us
      topoloom collective simulate alltoall -n 64 --placement x.json \\
          --schedule bruck,pairwise
    """
    from functools import partial

    from topoloom._core import Error
    from topoloom.cli.console import make_progress_bar, print_json
    from topoloom.cli.exit_status import Interrupted
    from topoloom.cli.output.ranked import print_schedules
    from topoloom.simulate.switch_toml import load_given_or_machine_switch
    from topoloom.support.units import counted
    from topoloom.tasks.collectives.collective import rank_collective, read_platform
    from topoloom.tasks.collectives.collective_result import (
        CollectiveResult,
        ResultFiles,
    )
    from topoloom.tasks.collectives.simulate_schedules import (
        FASTEST,
        simulate_schedules,
    )

    if machine is None and placement is None:
        raise Error("nothing to simulate on; add --machine or --placement")
    call, names = message.make_call(operation, ranks), parse_schedules(schedule)
    platform = read_platform(call, None, machine, slots.make_spec(seed), placement)
    model = load_given_or_machine_switch(switch, machine)
    found = rank_collective(call, platform, names)
    simulation = simulate_schedules(
        found,
        model,
        fastest=None if names else FASTEST,
        monitor=partial(make_progress_bar, unit="messages"),
    )
    if as_json:
        result = CollectiveResult(found, simulation=simulation)
        print_json(result.document(ResultFiles()))
    else:
        print_schedules(found, simulated=simulation.simulated)
    if simulation.interrupted:
        done = counted(len(simulation.simulated), "schedule")
        raise Interrupted(f"interrupted after {done} in switches")
