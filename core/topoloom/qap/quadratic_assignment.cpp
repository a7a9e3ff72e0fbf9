// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/quadratic_assignment.hpp"

#include <algorithm>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom::qap {

QuadraticAssignment::QuadraticAssignment(std::uint32_t rank_count, std::uint32_t slot_count,
                                         std::vector<std::int64_t> bytes_sent,
                                         std::vector<std::int64_t> distances_between,
                                         std::vector<std::int64_t> linear_costs)
    : ranks(rank_count),
      slots(slot_count),
      bytes(std::move(bytes_sent)),
      distances(std::move(distances_between)),
      linear(std::move(linear_costs)) {
    if (ranks == 0 || ranks > slots) fail("an exact search needs 1 to ", slots, " ranks, not ", ranks);
    if (bytes.size() != std::size_t{ranks} * ranks || distances.size() != std::size_t{slots} * slots)
        fail("matrices of ", ranks, " ranks and ", slots, " slots have other sizes than ", bytes.size(),
             " and ", distances.size());
    if (!linear.empty() && linear.size() != std::size_t{ranks} * slots)
        fail("linear costs of ", ranks, " ranks on ", slots, " slots cannot have ", linear.size(),
             " entries");
    const auto negative = [](std::int64_t v) { return v < 0; };
    if (std::ranges::any_of(bytes, negative) || std::ranges::any_of(distances, negative) ||
        std::ranges::any_of(linear, negative))
        fail("an exact search needs bytes and distances that are not negative");
}

std::int64_t QuadraticAssignment::value(std::span<const Position> position_of_rank) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < ranks; ++i) {
        if (!linear.empty()) sum += linear[i * slots + position_of_rank[i].value];
        for (std::size_t k = 0; k < i; ++k)
            sum += pair_cost(i, k, position_of_rank[i].value, position_of_rank[k].value);
    }
    return sum;
}

}  // namespace topoloom::qap
