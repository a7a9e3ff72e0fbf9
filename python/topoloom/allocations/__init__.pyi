# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    AllocationShape as AllocationShape,
)
from topoloom._core import (
    ChosenNodes as ChosenNodes,
)
from topoloom._core import (
    allocation_shape as allocation_shape,
)
from topoloom._core import (
    choose_nodes as choose_nodes,
)
from topoloom._core import (
    compact_nodes as compact_nodes,
)
from topoloom._core import (
    fragmented_allocation as fragmented_allocation,
)
from topoloom.allocations.allocation_file import (
    AllocatedHosts as AllocatedHosts,
)
from topoloom.allocations.allocation_file import (
    save_allocation as save_allocation,
)
