# SPDX-License-Identifier: BSD-3-Clause
from topoloom.tasks.bound import prove_bounds as prove_bounds
from topoloom.tasks.compare import compare_mappers as compare_mappers
from topoloom.tasks.joint import place_jointly as place_jointly
from topoloom.tasks.joint_files import (
    load_jobs as load_jobs,
    save_jobs as save_jobs,
)
from topoloom.tasks.judge import judge_placement as judge_placement
from topoloom.tasks.map import map_ranks as map_ranks
from topoloom.tasks.objective import read_objective as read_objective
from topoloom.tasks.placement_problem import (
    load_placement_problem as load_placement_problem,
)
from topoloom.tasks.problem import (
    Where as Where,
    load_problem as load_problem,
)
from topoloom.tasks.search import Search as Search
from topoloom.tasks.simulate import simulate_placements as simulate_placements
