// SPDX-License-Identifier: BSD-3-Clause
// The default schedules of MPI libraries.
#pragma once

#include <string>

#include "topoloom/schedule/collectives/registry.hpp"

namespace topoloom {

/// The default schedule of MPICH, from its sources (Thakur, Rabenseifner, Gropp, Optimization of collective
/// communication operations in MPICH, IJHPCA 2005; thresholds: comments in src/mpi/coll, variables
/// MPIR_CVAR_*). Other libraries choose similarly. Returns a text for make_schedule(). Throws Error if the
/// operation is a many-to-many.
[[nodiscard]] std::string usual_schedule(const Call& call);

}  // namespace topoloom
