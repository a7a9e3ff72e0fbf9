// SPDX-License-Identifier: BSD-3-Clause
// What is added to machines, allocations and placements in files of their own.
#pragma once

#include <nanobind/nanobind.h>

#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::python {

/// Links and pairs as arrays, and machines made of those.
void add_machine_arrays(nanobind::class_<Machine>& machine);
/// ==, hash, repr and pickles.
void make_values(nanobind::class_<Machine>& machine, nanobind::class_<Allocation>& allocation,
                 nanobind::class_<Placement>& placement);

}  // namespace topoloom::python
