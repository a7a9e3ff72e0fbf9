// SPDX-License-Identifier: BSD-3-Clause
// Times of the busiest links and memories.
#pragma once

namespace topoloom {

/// Times in seconds: `network` is the time of the busiest link or NIC, `memory` the time of the busiest node
/// memory.
struct BottleneckTimes {
    double network = 0;
    double memory = 0;
};

}  // namespace topoloom
