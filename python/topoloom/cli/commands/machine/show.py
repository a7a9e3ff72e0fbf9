# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom machine show`: show the facts and the outline of a machine."""

from __future__ import annotations

from topoloom.cli.options.files import AsJson
from topoloom.cli.options.machines import MachineArgument


def command(machine: MachineArgument, as_json: AsJson = False) -> None:
    """Show a machine: nodes, links, distances, bisection.

    \b
    A machine is a short text:
      torus:8x8x8                         512 nodes, rings in three dimensions
      torus:8x8x8,wrap=110                the last axis is open
      torus:17x8x24,nodes=2               two nodes per router
      torus:8x8,bandwidth=9.4GB/s,bandwidth.y=half,latency=1.3us
      mesh:4x4x4                          no wrap-around links
      tree:4:8:2,distance=1:10:100        bottom-up: 4 in a group, 8 groups, 2
      graph:4+1:0-4,1-4,2-4,3-4           four nodes on one switch
      torus:8x8x8+node:16:2,distance=1:2  nodes of 2 sockets with 16 slots each
    For more kinds, see 'topoloom list topologies'. A TOML file describes the same
    with names and units; 'topoloom machine export' writes one to edit.
    'detect' is the node that runs this command, or the machine of your batch job.
    Files of other programs are machines, too: see 'topoloom machine import'. A
    placement stands for its machine.

    \b
    Examples:
      topoloom machine show torus:8x8x8
      topoloom machine show frontier
      topoloom machine show frontier+node:8:8 --json
    """
    from topoloom.cli.output.shown_machine import print_machine
    from topoloom.tasks.machines.shown_machine import load_shown_machine

    print_machine(load_shown_machine(machine), as_json)
