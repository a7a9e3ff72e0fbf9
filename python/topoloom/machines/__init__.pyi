# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    Bisection as Bisection,
    Wiring as Wiring,
    bisect_machine as bisect_machine,
)
from topoloom.importers.machine_description import (
    MachineDescription as MachineDescription,
)
from topoloom.machines.machine_file import (
    describe_machine as describe_machine,
    load_machine_and_allocation as load_machine_and_allocation,
)
from topoloom.machines.machine_writers import save_machine as save_machine
