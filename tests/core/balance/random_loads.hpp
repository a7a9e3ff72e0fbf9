// SPDX-License-Identifier: BSD-3-Clause
// Random task counts per rank, and the worst cases of the alias method.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "topoloom/base/rng.hpp"

namespace topoloom {

using TaskCounts = std::vector<std::int64_t>;

inline TaskCounts random_loads(std::size_t ranks, std::uint32_t most, Rng& rng) {
    TaskCounts loads(ranks);
    for (std::int64_t& load : loads) load = rng.below(most + 1);
    return loads;
}

/// Random task counts per rank. Their sum is a multiple of the number of ranks.
inline TaskCounts random_even_loads(std::size_t ranks, std::uint32_t most, Rng& rng) {
    TaskCounts loads = random_loads(ranks, most, rng);
    const auto sum = std::reduce(loads.begin(), loads.end());
    const auto count = static_cast<std::int64_t>(ranks);
    loads[rng.below(static_cast<std::uint32_t>(ranks))] += (count - sum % count) % count;
    return loads;
}

/// Task counts of Sudheer 2012, ch. 5, example 1, with 2n ranks: n - 1 (n - 1 times), 2, 2n - 2, n + 1 (n - 1
/// times).
inline TaskCounts make_sudheer_example_1(std::int64_t n) {
    TaskCounts loads(static_cast<std::size_t>(n - 1), n - 1);
    loads.push_back(2);
    loads.push_back(2 * n - 2);
    loads.insert(loads.end(), static_cast<std::size_t>(n - 1), n + 1);
    return loads;
}

/// Task counts of Sudheer 2012, ch. 5, example 2, with P ranks: 1, then P + 1 (P - 1 times).
inline TaskCounts make_sudheer_example_2(std::int64_t ranks) {
    TaskCounts loads(static_cast<std::size_t>(ranks), ranks + 1);
    loads.front() = 1;
    return loads;
}

}  // namespace topoloom
