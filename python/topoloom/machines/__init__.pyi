# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    Bisection as Bisection,
)
from topoloom._core import (
    Wiring as Wiring,
)
from topoloom._core import (
    bisect_machine as bisect_machine,
)
from topoloom.importers.described import Described as Described
from topoloom.machines.machine_file import (
    describe_machine as describe_machine,
)
from topoloom.machines.machine_file import (
    load_machine_and_allocation as load_machine_and_allocation,
)
from topoloom.machines.machine_file import (
    save_machine as save_machine,
)
