# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    Balance as Balance,
    balance as balance,
    balancers as balancers,
)
from topoloom.tasks.axes import map_axes as map_axes
from topoloom.tasks.balancing.balance import (
    Ranks as Ranks,
    balance_loads as balance_loads,
    block_ranks as block_ranks,
)
from topoloom.tasks.balancing.load_list import read_loads as read_loads
from topoloom.tasks.balancing.rank_slots import find_rank_slots as find_rank_slots
from topoloom.tasks.balancing.task_edges import with_edges as with_edges
from topoloom.tasks.balancing.task_graph import read_task_graph as read_task_graph
from topoloom.tasks.balancing.task_list import (
    TaskList as TaskList,
    read_tasks as read_tasks,
)
from topoloom.tasks.balancing.transfer_times import (
    plan_rounds as plan_rounds,
    time_moves as time_moves,
)
from topoloom.tasks.balancing.weighted_tasks import (
    balance_tasks as balance_tasks,
    rank_count as rank_count,
)
from topoloom.tasks.bound import prove_bounds as prove_bounds
from topoloom.tasks.bus.affinity import (
    BusTiming as BusTiming,
    rank_affinities as rank_affinities,
    rates_by_size as rates_by_size,
)
from topoloom.tasks.bus.blade import split_blade as split_blade
from topoloom.tasks.collectives.collective import (
    rank_collective as rank_collective,
    read_call as read_call,
    read_platform as read_platform,
)
from topoloom.tasks.collectives.grid import measure_grid as measure_grid
from topoloom.tasks.collectives.line_speeds import LineSpeeds as LineSpeeds
from topoloom.tasks.collectives.multicast_trees import build_trees as build_trees
from topoloom.tasks.collectives.order import order_processes as order_processes
from topoloom.tasks.collectives.simulate_schedules import (
    simulate_schedules as simulate_schedules,
)
from topoloom.tasks.collectives.steps import find_contention as find_contention
from topoloom.tasks.collectives.tiles import (
    rank_tiles as rank_tiles,
    time_tiles as time_tiles,
)
from topoloom.tasks.compare import compare_mappers as compare_mappers
from topoloom.tasks.experts.engines import find_engine as find_engine
from topoloom.tasks.experts.place import place_on_gpus as place_on_gpus
from topoloom.tasks.experts.routing import (
    ExpertRouting as ExpertRouting,
    read_routing as read_routing,
)
from topoloom.tasks.graphs.pattern import (
    generate_pattern as generate_pattern,
    import_pattern as import_pattern,
)
from topoloom.tasks.graphs.shown_graph import show_graph as show_graph
from topoloom.tasks.jobs.joint import place_jointly as place_jointly
from topoloom.tasks.jobs.joint_files import (
    load_jobs as load_jobs,
    save_jobs as save_jobs,
)
from topoloom.tasks.judge import judge_placement as judge_placement
from topoloom.tasks.machines.allocate import allocate_nodes as allocate_nodes
from topoloom.tasks.map import map_ranks as map_ranks
from topoloom.tasks.network.sweep import (
    SwitchSettings as SwitchSettings,
    sweep_loads as sweep_loads,
)
from topoloom.tasks.objective import read_objective as read_objective
from topoloom.tasks.placement_problem import (
    load_placement_problem as load_placement_problem,
)
from topoloom.tasks.problem import (
    AllocationSpec as AllocationSpec,
    load_nodes as load_nodes,
    load_problem as load_problem,
)
from topoloom.tasks.record import (
    record_nccl as record_nccl,
    record_program as record_program,
    record_torch as record_torch,
    recover_program as recover_program,
)
from topoloom.tasks.report_page import write_report as write_report
from topoloom.tasks.search import Search as Search
from topoloom.tasks.simulate import simulate_placements as simulate_placements
from topoloom.tasks.training.layouts import compare_layouts as compare_layouts
from topoloom.tasks.training.spares import find_spares as find_spares
from topoloom.tasks.user_mapper import (
    MapperProblem as MapperProblem,
    UserMapper as UserMapper,
    load_mapper as load_mapper,
    mapper_header as mapper_header,
)
