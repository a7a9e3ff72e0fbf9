// SPDX-License-Identifier: BSD-3-Clause
// The sum over all ranks, on all ranks.
#pragma once

#include <cstdint>

#include "topoloom/balance/distributed/channel.hpp"

namespace topoloom {

/// Stands for any sum that is too large.
inline constexpr std::int64_t too_large = std::int64_t{1} << 62;

/// Of loads below 2^62: too_large where the sum is 2^62 or more, and negative where one of them is. ceil(log2 ranks) messages from
/// each rank, one after another, whatever the number of ranks: each knows the sum of n ranks from itself on, and of the
/// n - 1 after it, and n becomes 2n or 2n - 1.
Coroutine<std::int64_t> sum_of_all(PeerChannel& channel, std::uint32_t rank, std::uint32_t ranks,
                                   std::int64_t load);

}  // namespace topoloom
