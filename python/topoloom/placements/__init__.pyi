# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    Evaluator as Evaluator,
    choose_objective as choose_objective,
    latency_share as latency_share,
    nearest_extents as nearest_extents,
    node_tiles as node_tiles,
    objective_value as objective_value,
    predicted_time as predicted_time,
    slot_capacities as slot_capacities,
    solve_qap as solve_qap,
    tile_surface as tile_surface,
)
