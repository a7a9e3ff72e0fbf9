// SPDX-License-Identifier: BSD-3-Clause
// Quadratic assignment: ranks to places, by what pairs of them cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace topoloom {

/// Minimize sum over i, k of bytes(i, k) * distance(place of i, place of k) + sum over i of alone(i, place of i), every
/// rank at a place of its own. Matrices are row-major, have no negative entries and need not be symmetric; diagonals
/// do not count.
struct QuadraticAssignment {
    std::uint32_t ranks = 0;
    std::uint32_t places = 0;
    std::vector<std::int64_t> bytes;
    std::vector<std::int64_t> distances;
    std::vector<std::int64_t> alone;  // ranks by places; empty: nothing

    QuadraticAssignment(std::uint32_t rank_count, std::uint32_t place_count,
                        std::vector<std::int64_t> bytes_sent, std::vector<std::int64_t> distances_between,
                        std::vector<std::int64_t> costs_alone = {});

    /// Of ranks i and k where one is at place j, the other at l.
    [[nodiscard]] std::int64_t pair_cost(std::size_t i, std::size_t k, std::size_t j, std::size_t l) const {
        return bytes[i * ranks + k] * distances[j * places + l] +
               bytes[k * ranks + i] * distances[l * places + j];
    }
    [[nodiscard]] std::int64_t value(std::span<const std::uint32_t> place_of_rank) const;
};

}  // namespace topoloom
