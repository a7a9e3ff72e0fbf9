// SPDX-License-Identifier: BSD-3-Clause
// Moves vertices away from overloaded ranks.
#pragma once

#include "topoloom/balance/tasks/task_partition.hpp"

namespace topoloom {

/// Moves vertices directly to the rank of a neighboring vertex or to one of the nearest ranks with room,
/// lowest cost per load first.
void relieve_directly(TaskPartition& parts);

/// Moves load along a shortest path of neighboring ranks to a rank with room. Each rank on the path sends as
/// much load as it receives, so that vertices move only to ranks of their neighbors. Moves more load than
/// relieve_directly(), but cuts fewer edges.
void relieve_along_paths(TaskPartition& parts);

}  // namespace topoloom
