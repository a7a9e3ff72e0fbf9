// SPDX-License-Identifier: BSD-3-Clause
// What the busiest parts of a machine need.
#pragma once

namespace topoloom {

/// Seconds of the busiest link or network card, and of the busiest memory of a node.
struct BottleneckTimes {
    double network = 0;
    double memory = 0;
};

}  // namespace topoloom
