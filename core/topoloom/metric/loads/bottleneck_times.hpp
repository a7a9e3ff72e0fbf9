// SPDX-License-Identifier: BSD-3-Clause
// Times of the busiest links and memories.
#pragma once

namespace topoloom {

/// Seconds of the busiest link or NIC, and of the busiest node memory.
struct BottleneckTimes {
    double network = 0;
    double memory = 0;
};

}  // namespace topoloom
