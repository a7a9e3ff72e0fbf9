# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    CombiningCosts as CombiningCosts,
)
from topoloom._core import (
    CostGroups as CostGroups,
)
from topoloom._core import (
    GridLinks as GridLinks,
)
from topoloom._core import (
    Meetings as Meetings,
)
from topoloom._core import (
    NodeMap as NodeMap,
)
from topoloom._core import (
    Schedule as Schedule,
)
from topoloom._core import (
    ScheduleCost as ScheduleCost,
)
from topoloom._core import (
    SpanningTree as SpanningTree,
)
from topoloom._core import (
    Step as Step,
)
from topoloom._core import (
    all_gather_time as all_gather_time,
)
from topoloom._core import (
    all_to_all_time as all_to_all_time,
)
from topoloom._core import (
    binomial_order as binomial_order,
)
from topoloom._core import (
    binomial_scatter_steps as binomial_scatter_steps,
)
from topoloom._core import (
    find_cost_groups as find_cost_groups,
)
from topoloom._core import (
    find_free_order as find_free_order,
)
from topoloom._core import (
    grid_line_messages as grid_line_messages,
)
from topoloom._core import (
    many_to_many_time as many_to_many_time,
)
from topoloom._core import (
    meetings_any_ascent as meetings_any_ascent,
)
from topoloom._core import (
    meetings_on_routes as meetings_on_routes,
)
from topoloom._core import (
    nic_all_gather_time as nic_all_gather_time,
)
from topoloom._core import (
    schedules as schedules,
)
from topoloom._core import (
    spanning_trees as spanning_trees,
)
from topoloom._core import (
    tree_kinds as tree_kinds,
)
from topoloom._core import (
    tree_loads as tree_loads,
)
from topoloom._core import (
    virtual_mesh_receivers as virtual_mesh_receivers,
)
from topoloom._core import (
    with_gaps as with_gaps,
)
from topoloom.schedules.choose import (
    Call as Call,
)
from topoloom.schedules.choose import (
    Ranked as Ranked,
)
from topoloom.schedules.choose import (
    RankSlots as RankSlots,
)
from topoloom.schedules.choose import (
    rank_schedules as rank_schedules,
)
from topoloom.schedules.decisions import (
    Decision as Decision,
)
from topoloom.schedules.decisions import (
    decide as decide,
)
