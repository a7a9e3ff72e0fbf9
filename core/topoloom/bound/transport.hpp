// SPDX-License-Identifier: BSD-3-Clause
// The transportation problem: a linear assignment in which many rows and columns are alike.
#pragma once

#include <cstdint>
#include <span>

namespace topoloom::bound {

/// The least cost of sending all supplies (by row) into capacities (by column); costs are row-major, each >= 0. By
/// shortest augmenting paths: about O((rows + columns) * rows * columns). Throws Error if capacities are too small.
[[nodiscard]] std::int64_t min_transport_cost(std::span<const std::int64_t> costs,
                                              std::span<const std::uint64_t> supplies,
                                              std::span<const std::uint64_t> capacities);

}  // namespace topoloom::bound
