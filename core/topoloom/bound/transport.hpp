// SPDX-License-Identifier: BSD-3-Clause
// The transportation problem: linear assignment of rows and columns that count several times.
#pragma once

#include <cstdint>
#include <span>

namespace topoloom::bound {

/// Minimum cost of shipping all supplies (rows) into capacities (columns). Costs are row-major and >= 0. Shortest
/// augmenting paths: about O((rows + columns) * rows * columns). Throws Error if capacities are too small.
[[nodiscard]] std::int64_t min_transport_cost(std::span<const std::int64_t> costs,
                                              std::span<const std::uint64_t> supplies,
                                              std::span<const std::uint64_t> capacities);

}  // namespace topoloom::bound
