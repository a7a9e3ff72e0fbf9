# SPDX-License-Identifier: BSD-3-Clause
from topoloom import (
    allocations as allocations,
    figure as figure,
    graphs as graphs,
    machines as machines,
    model as model,
    placements as placements,
    schedules as schedules,
    tasks as tasks,
)
from topoloom._core import (
    Allocation as Allocation,
    Bounds as Bounds,
    CommGraph as CommGraph,
    Error as Error,
    Judgement as Judgement,
    Machine as Machine,
    Objective as Objective,
    Placement as Placement,
    PlaceResult as PlaceResult,
    Sharing as Sharing,
    find_bounds as find_bounds,
    judge as judge,
    mappers as mappers,
    place as place,
)
from topoloom.allocations.allocation_file import load_allocation as load_allocation
from topoloom.graphs.graph_file import (
    load_graph as load_graph,
    save_graph as save_graph,
)
from topoloom.machines.machine_file import load_machine as load_machine
from topoloom.placements.placement_file import (
    PlacementFile as PlacementFile,
    load_placement as load_placement,
    save_placement as save_placement,
)
from topoloom.support.version import __version__ as __version__
