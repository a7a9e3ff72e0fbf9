// SPDX-License-Identifier: BSD-3-Clause
// Parts of the predicted time.
#pragma once

namespace topoloom {

/// Sums over phases, in seconds: predicted time, and the time of the busiest links and nodes.
struct TotalAndBusiestTimes {
    double all = 0;
    double busy = 0;
};

}  // namespace topoloom
