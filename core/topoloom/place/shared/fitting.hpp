// SPDX-License-Identifier: BSD-3-Clause
// Placements that keep the capacities of shared slots.
#pragma once

#include <optional>

#include "topoloom/place/problem.hpp"

namespace topoloom {

/// Whether no shared slot holds more than its capacity.
[[nodiscard]] bool fits(const Problem& problem, const Placement& placement);

/// The placement itself if it fits; else ranks are moved at the least cost until it does. None where moves of single
/// ranks do not get there.
[[nodiscard]] std::optional<Placement> try_to_fit(const Problem& problem, Placement placement);

/// The same, but throws Error.
[[nodiscard]] Placement fitted(const Problem& problem, Placement placement);

[[noreturn]] void fail_to_fit();

}  // namespace topoloom
