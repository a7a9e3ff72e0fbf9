// SPDX-License-Identifier: BSD-3-Clause
// Times of a library's collectives, which replace line rates in the search for orders of axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace topoloom {

/// Times of groups on a machine of domains, whose slots have faster links inside a domain. A traffic takes as
/// many times longer than at line rates as its slowest group does alone. Chains keep line rates.
struct GroupTimes {
    std::uint32_t slots_per_domain = 0;  // 0 if all traffics take line rates
    /// The seconds of a group alone: by number of the traffic, ranks of the group, and domains that have some
    /// of them. Called by several threads at the same time.
    std::function<double(std::size_t traffic, std::size_t ranks, std::size_t domains)> predict = {};
};

}  // namespace topoloom
