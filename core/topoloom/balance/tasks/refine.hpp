// SPDX-License-Identifier: BSD-3-Clause
// FM refinement: moves single vertices while that lowers the cost.
#pragma once

#include "topoloom/balance/tasks/parts.hpp"

namespace topoloom {

/// The vertex first that gains most, or loses least, each once per pass; then back to the best state that was met. Passes end when
/// one gains nothing (Fiduccia, Mattheyses, DAC 1982; among many parts as Sanders, Schulz, ESA 2011). No rank gets above its limits.
void refine_parts(TaskParts& parts);

}  // namespace topoloom
