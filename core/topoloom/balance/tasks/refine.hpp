// SPDX-License-Identifier: BSD-3-Clause
// FM refinement: moves single vertices while that lowers the cost.
#pragma once

#include "topoloom/balance/tasks/task_partition.hpp"

namespace topoloom {

/// In each pass, moves the vertex with the largest gain (or least loss), each vertex at most once, then
/// returns to the best state of the pass. Stops when a pass gains nothing (Fiduccia, Mattheyses, DAC 1982;
/// for many parts as in Sanders, Schulz, ESA 2011). No rank exceeds its limits.
void refine_parts(TaskPartition& parts);

}  // namespace topoloom
