// SPDX-License-Identifier: BSD-3-Clause
// Moves vertices away from overloaded ranks.
#pragma once

#include "topoloom/balance/tasks/parts.hpp"

namespace topoloom {

/// Straight to a neighbor, or to one of the nearest ranks that have room: what costs least for its load first.
void relieve_directly(TaskParts& parts);

/// Along a shortest path of neighbors to a rank that has room: each rank on it gives the next one as much as it gets, so that no
/// rank is given what it has no neighbors of. Moves more, and cuts less.
void relieve_along_paths(TaskParts& parts);

}  // namespace topoloom
