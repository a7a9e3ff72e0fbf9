# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    AllocationShape as AllocationShape,
    ChosenNodes as ChosenNodes,
    allocation_shape as allocation_shape,
    choose_nodes as choose_nodes,
    compact_nodes as compact_nodes,
    fragmented_allocation as fragmented_allocation,
)
from topoloom.allocations.allocation_file import (
    AllocatedHosts as AllocatedHosts,
    save_allocation as save_allocation,
)
