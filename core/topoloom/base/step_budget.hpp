// SPDX-License-Identifier: BSD-3-Clause
// Charges a budget for steps that cannot be interrupted.
#pragma once

#include "topoloom/base/budget.hpp"

namespace topoloom {

/// Spends `work` and returns true if the rest of the budget has room for it; else spends nothing. Depends
/// on the clock only if time is limited.
[[nodiscard]] inline bool spend_step(Meter& meter, double work) {
    if (!meter.poll() || static_cast<double>(meter.remaining().work) < work) return false;
    meter.spend(static_cast<std::uint64_t>(work));
    return true;
}

}  // namespace topoloom
