// SPDX-License-Identifier: BSD-3-Clause
// Candidate schedules for a call, with candidate option values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topoloom/schedule/collectives/registry.hpp"

namespace topoloom {

/// Texts for make_schedule(), in the order of the registry: every schedule that does the operation and takes this number
/// of ranks, as it is by default, as those of fitted_schedules() have it, and both with the values of its options that may be
/// better. Depends on the operation, the ranks, the bytes and what is fitted alone. Throws Error if Collective does.
[[nodiscard]] std::vector<std::string> candidates(const Call& call, std::span<const std::string> fitted = {});

}  // namespace topoloom
