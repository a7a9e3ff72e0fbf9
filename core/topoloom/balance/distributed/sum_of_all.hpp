// SPDX-License-Identifier: BSD-3-Clause
// Computes the sum over all ranks on every rank.
#pragma once

#include <cstdint>

#include "topoloom/balance/distributed/channel.hpp"

namespace topoloom {

/// The result of sum_of_all() if the sum is 2^62 or more.
inline constexpr std::int64_t too_large = std::int64_t{1} << 62;

/// Sums loads. The result is `too_large` if the sum is 2^62 or more, and negative if any load is negative.
/// Each rank sends ceil(log2 ranks) consecutive messages, for any number of ranks. A rank keeps two sums: of
/// n ranks beginning with itself, and of the n - 1 ranks after it. Each step turns n into 2n or 2n - 1.
Coroutine<std::int64_t> sum_of_all(PeerChannel& channel, std::uint32_t rank, std::uint32_t ranks,
                                   std::int64_t load);

}  // namespace topoloom
