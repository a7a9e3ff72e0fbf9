# SPDX-License-Identifier: BSD-3-Clause
from topoloom import (
    allocations as allocations,
)
from topoloom import (
    figure as figure,
)
from topoloom import (
    graphs as graphs,
)
from topoloom import (
    machines as machines,
)
from topoloom import (
    model as model,
)
from topoloom import (
    placements as placements,
)
from topoloom import (
    schedules as schedules,
)
from topoloom._core import (
    Allocation as Allocation,
)
from topoloom._core import (
    Bounds as Bounds,
)
from topoloom._core import (
    CommGraph as CommGraph,
)
from topoloom._core import (
    Error as Error,
)
from topoloom._core import (
    Judgement as Judgement,
)
from topoloom._core import (
    Machine as Machine,
)
from topoloom._core import (
    Objective as Objective,
)
from topoloom._core import (
    Placement as Placement,
)
from topoloom._core import (
    PlaceResult as PlaceResult,
)
from topoloom._core import (
    Sharing as Sharing,
)
from topoloom._core import (
    find_bounds as find_bounds,
)
from topoloom._core import (
    judge as judge,
)
from topoloom._core import (
    mappers as mappers,
)
from topoloom._core import (
    place as place,
)
from topoloom.allocations.allocation_file import load_allocation as load_allocation
from topoloom.graphs.graph_file import (
    load_graph as load_graph,
)
from topoloom.graphs.graph_file import (
    save_graph as save_graph,
)
from topoloom.machines.machine_file import load_machine as load_machine
from topoloom.placements.placement_file import (
    PlacementFile as PlacementFile,
)
from topoloom.placements.placement_file import (
    load_placement as load_placement,
)
from topoloom.placements.placement_file import (
    save_placement as save_placement,
)
from topoloom.support.version import __version__ as __version__
