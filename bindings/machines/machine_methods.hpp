// SPDX-License-Identifier: BSD-3-Clause
// Declares functions that add methods of machines, allocations and placements; each is defined in its own
// file.
#pragma once

#include <nanobind/nanobind.h>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::python {

/// Adds methods that return properties of links and pairs as arrays, and methods that make machines from
/// arrays.
void add_machine_arrays(nanobind::class_<Machine>& machine);
/// Adds ==, hash, repr and pickling.
void add_value_semantics(nanobind::class_<Machine>& machine, nanobind::class_<Allocation>& allocation,
                         nanobind::class_<Placement>& placement);

}  // namespace topoloom::python
