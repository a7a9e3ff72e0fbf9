# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    CombiningCosts as CombiningCosts,
    CostGroup as CostGroup,
    CostGroups as CostGroups,
    CostSample as CostSample,
    GridLinks as GridLinks,
    Meetings as Meetings,
    NodeMap as NodeMap,
    Schedule as Schedule,
    ScheduleCost as ScheduleCost,
    SpanningTree as SpanningTree,
    Step as Step,
    Strategy as Strategy,
    allgather_time as allgather_time,
    alltoall_time as alltoall_time,
    binomial_order as binomial_order,
    binomial_scatter_steps as binomial_scatter_steps,
    candidates as candidates,
    find_cost_groups as find_cost_groups,
    find_free_order as find_free_order,
    fitted_schedules as fitted_schedules,
    grid_line_messages as grid_line_messages,
    group_costs as group_costs,
    many_to_many_time as many_to_many_time,
    meetings_any_ascent as meetings_any_ascent,
    meetings_on_routes as meetings_on_routes,
    nic_allgather_time as nic_allgather_time,
    program_time as program_time,
    relay_allgather_time as relay_allgather_time,
    schedules as schedules,
    spanning_trees as spanning_trees,
    tree_kinds as tree_kinds,
    tree_loads as tree_loads,
    virtual_mesh_receivers as virtual_mesh_receivers,
    with_gaps as with_gaps,
)
from topoloom.schedules.call_trace import (
    CallTrace as CallTrace,
    load_traces as load_traces,
)
from topoloom.schedules.choose import (
    Call as Call,
    RankedSchedule as RankedSchedule,
    RankSlots as RankSlots,
    rank_schedules as rank_schedules,
)
from topoloom.schedules.cost_matrix import load_costs as load_costs
from topoloom.schedules.decisions import (
    Decision as Decision,
    find_decisions as find_decisions,
)
from topoloom.schedules.schedule_file import save_schedule as save_schedule
