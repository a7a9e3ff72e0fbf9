# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    alltoall as alltoall,
    binomial_tree as binomial_tree,
    bruck as bruck,
    hybrid_rows as hybrid_rows,
    molecular_cells as molecular_cells,
    molecular_dynamics as molecular_dynamics,
    random_geometric as random_geometric,
    recursive_doubling as recursive_doubling,
    ring as ring,
    stencil as stencil,
    through_proxies as through_proxies,
    triangular_grid as triangular_grid,
    triangular_levels as triangular_levels,
    triangular_messages as triangular_messages,
)
from topoloom.graphs.axes import (
    MeshOrders as MeshOrders,
    Traffic as Traffic,
    mesh_graph as mesh_graph,
    order_axes as order_axes,
    parse_mesh as parse_mesh,
    parse_traffic as parse_traffic,
)
from topoloom.graphs.layouts import (
    Layout as Layout,
    LayoutOrders as LayoutOrders,
    layout_graph as layout_graph,
    order_layouts as order_layouts,
)
from topoloom.graphs.patterns import Request as Request
from topoloom.graphs.phases import (
    load_phase_names as load_phase_names,
    load_phases as load_phases,
)
from topoloom.graphs.profile import (
    Profile as Profile,
    load_profile as load_profile,
)
from topoloom.graphs.qaplib import (
    QapProblem as QapProblem,
    QapSolution as QapSolution,
    load_qap as load_qap,
    load_qap_solution as load_qap_solution,
    save_qap as save_qap,
    save_qap_solution as save_qap_solution,
)
