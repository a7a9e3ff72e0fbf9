// SPDX-License-Identifier: BSD-3-Clause
// Parts of the predicted time.
#pragma once

namespace topoloom {

/// Predicted seconds, and the part due to the busiest links and nodes, summed over phases.
struct TimeParts {
    double all = 0;
    double busy = 0;
};

}  // namespace topoloom
