// SPDX-License-Identifier: BSD-3-Clause
// Shares one strategy among users of the same setting in a process.
#pragma once

#include <memory>

#include "topoloom/strategy/strategy.hpp"

namespace topoloom {

/// The strategy of a setting if it is still in use in this process, or a new one: where simulated ranks are threads of
/// one process, they would each evaluate the same. From any thread. Throws Error as Strategy does.
[[nodiscard]] std::shared_ptr<Strategy> share_strategy(Setting setting);

}  // namespace topoloom
