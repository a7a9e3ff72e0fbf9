// SPDX-License-Identifier: BSD-3-Clause
// Shares a strategy between users of the same setting in one process.
#pragma once

#include <memory>

#include "topoloom/strategy/strategy.hpp"

namespace topoloom {

/// Returns the strategy of a setting: the one in use in this process, if any, else a new one. Simulated ranks
/// are threads of one process and would otherwise evaluate the same strategy repeatedly. Thread-safe. Throws
/// Error when Strategy does.
[[nodiscard]] std::shared_ptr<Strategy> share_strategy(Setting setting);

}  // namespace topoloom
