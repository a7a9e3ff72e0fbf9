# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    choose_objective as choose_objective,
)
from topoloom._core import (
    nearest_extents as nearest_extents,
)
from topoloom._core import (
    node_tiles as node_tiles,
)
from topoloom._core import (
    objective_value as objective_value,
)
from topoloom._core import (
    predicted_time as predicted_time,
)
from topoloom._core import (
    solve_qap as solve_qap,
)
from topoloom._core import (
    tile_surface as tile_surface,
)
