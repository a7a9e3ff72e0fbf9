// SPDX-License-Identifier: BSD-3-Clause
// Places tasks on ranks with a mapper.
#pragma once

#include <optional>
#include <vector>

#include "topoloom/balance/tasks/tasks.hpp"

namespace topoloom {

/// Maps tasks to slots within the load limit, starting from their owners' slots. Returns none if there is no
/// machine or there are no messages, if ranks share a slot, or if the mapper cannot place all tasks.
[[nodiscard]] std::optional<std::vector<Part>> place_tasks(const Tasks& tasks);

}  // namespace topoloom
