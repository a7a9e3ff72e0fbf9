// SPDX-License-Identifier: BSD-3-Clause
// The definition of topoloom_process_map.
#pragma once

#include "topoloom/capi/learned_machine.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/text/machine_text.hpp"

struct topoloom_process_map {
    explicit topoloom_process_map(const topoloom::MappedProcesses& mapped)
        : machine(topoloom::make_machine(mapped.machine)),
          allocation(topoloom::Allocation::of_slots(machine, mapped.slots)) {}

    topoloom::Machine machine;
    topoloom::Allocation allocation;  // the i-th slot is that of process i
};
