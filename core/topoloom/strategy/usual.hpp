// SPDX-License-Identifier: BSD-3-Clause
// What an MPI library does without us.
#pragma once

#include <string>

#include "topoloom/schedule/collectives/registry.hpp"

namespace topoloom {

/// The schedule that MPICH takes by default, as its sources say (Thakur, Rabenseifner, Gropp, IJHPCA 2005); others choose
/// similarly. Not for many-to-many operations. A text for make_schedule().
[[nodiscard]] std::string usual_schedule(const Call& call);

}  // namespace topoloom
