// SPDX-License-Identifier: BSD-3-Clause
// Places tasks on ranks with a mapper.
#pragma once

#include <optional>
#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

/// Tasks as ranks that share the slots, within the load limit, which come from their owners' slots. None without a machine and
/// messages, where ranks share a slot, and where the mapper finds no place for all.
[[nodiscard]] std::optional<std::vector<Part>> place_tasks(const Tasks& tasks);

}  // namespace topoloom
