// SPDX-License-Identifier: BSD-3-Clause
// Candidate schedules for a call, with candidate option values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topoloom/schedule/collectives/registry.hpp"

namespace topoloom {

/// Candidate schedules as texts for make_schedule(), in registry order. Contains all schedules that support
/// the operation and this number of ranks, with default options and as in `fitted` (see fitted_schedules()).
/// Each also appears with option values that may be faster. Depends only on operation, ranks, bytes and
/// `fitted`.
/// Throws Error when Collective does.
[[nodiscard]] std::vector<std::string> candidates(const Call& call, std::span<const std::string> fitted = {});

}  // namespace topoloom
