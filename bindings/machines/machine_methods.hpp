// SPDX-License-Identifier: BSD-3-Clause
// Methods of machines, allocations and placements that are defined in separate files.
#pragma once

#include <nanobind/nanobind.h>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::python {

/// Adds arrays of links and pairs, and machines from such arrays.
void add_machine_arrays(nanobind::class_<Machine>& machine);
/// Adds ==, hash, repr and pickling.
void add_value_semantics(nanobind::class_<Machine>& machine, nanobind::class_<Allocation>& allocation,
                         nanobind::class_<Placement>& placement);

}  // namespace topoloom::python
