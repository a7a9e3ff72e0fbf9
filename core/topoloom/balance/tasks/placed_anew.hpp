// SPDX-License-Identifier: BSD-3-Clause
// Tasks on the ranks of a machine as a mapper places them.
#pragma once

#include <optional>
#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

/// Tasks as ranks that share the slots, within the load limit, which come from their owners' slots. None without a machine and
/// messages, where ranks share a slot, and where the mapper finds no place for all.
[[nodiscard]] std::optional<std::vector<Part>> placed_anew(const Tasks& tasks);

}  // namespace topoloom
