# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    all_to_all as all_to_all,
)
from topoloom._core import (
    binomial_tree as binomial_tree,
)
from topoloom._core import (
    bruck as bruck,
)
from topoloom._core import (
    hybrid_rows as hybrid_rows,
)
from topoloom._core import (
    molecular_cells as molecular_cells,
)
from topoloom._core import (
    molecular_dynamics as molecular_dynamics,
)
from topoloom._core import (
    random_geometric as random_geometric,
)
from topoloom._core import (
    recursive_doubling as recursive_doubling,
)
from topoloom._core import (
    ring as ring,
)
from topoloom._core import (
    stencil as stencil,
)
from topoloom._core import (
    triangular_grid as triangular_grid,
)
from topoloom._core import (
    triangular_messages as triangular_messages,
)
from topoloom.graphs.axes import (
    MeshOrders as MeshOrders,
)
from topoloom.graphs.axes import (
    Traffic as Traffic,
)
from topoloom.graphs.axes import (
    mesh_graph as mesh_graph,
)
from topoloom.graphs.axes import (
    order_axes as order_axes,
)
from topoloom.graphs.axes import (
    parse_mesh as parse_mesh,
)
from topoloom.graphs.axes import (
    parse_traffic as parse_traffic,
)
from topoloom.graphs.phases import load_phases as load_phases
from topoloom.graphs.profile import (
    Profile as Profile,
)
from topoloom.graphs.profile import (
    load_profile as load_profile,
)
from topoloom.graphs.qaplib import (
    QapProblem as QapProblem,
)
from topoloom.graphs.qaplib import (
    QapSolution as QapSolution,
)
from topoloom.graphs.qaplib import (
    load_qap as load_qap,
)
from topoloom.graphs.qaplib import (
    load_qap_solution as load_qap_solution,
)
from topoloom.graphs.qaplib import (
    save_qap as save_qap,
)
from topoloom.graphs.qaplib import (
    save_qap_solution as save_qap_solution,
)
