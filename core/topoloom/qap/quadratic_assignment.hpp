// SPDX-License-Identifier: BSD-3-Clause
// Quadratic assignment of ranks to slots, with at least as many slots as ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom::qap {

/// The problem: minimize the sum over i, k of bytes(i, k) * distance(slot of i, slot of k) plus the sum over
/// i of linear(i, slot of i), with at most one rank per slot. Matrices are row-major, nonnegative and can be
/// asymmetric; diagonals are ignored.
struct QuadraticAssignment {
    std::uint32_t ranks = 0;
    std::uint32_t slots = 0;
    std::vector<std::int64_t> bytes;
    std::vector<std::int64_t> distances;
    std::vector<std::int64_t> linear;  // linear costs, ranks by slots; may be empty

    QuadraticAssignment(std::uint32_t rank_count, std::uint32_t slot_count,
                        std::vector<std::int64_t> bytes_sent, std::vector<std::int64_t> distances_between,
                        std::vector<std::int64_t> costs_alone = {});

    /// Returns the cost of rank i on slot j and rank k on slot l.
    [[nodiscard]] std::int64_t pair_cost(std::size_t i, std::size_t k, std::size_t j, std::size_t l) const {
        return bytes[i * ranks + k] * distances[j * slots + l] +
               bytes[k * ranks + i] * distances[l * slots + j];
    }
    [[nodiscard]] std::int64_t value(std::span<const Position> position_of_rank) const;
};

}  // namespace topoloom::qap
