// SPDX-License-Identifier: BSD-3-Clause
// What a predicted time consists of.
#pragma once

namespace topoloom {

/// Seconds of a placement under `time`, and how much of them the busiest links and nodes take, added up over phases.
struct TimeParts {
    double all = 0;
    double busy = 0;
};

}  // namespace topoloom
