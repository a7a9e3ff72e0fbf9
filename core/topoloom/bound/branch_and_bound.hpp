// SPDX-License-Identifier: BSD-3-Clause
// The best of all placements, and the proof that none is better.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/bound/bound_problem.hpp"

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
    /// Hop-bytes: places are the slots of the allocation, each as often as it has room for ranks.
    explicit QuadraticAssignment(const BoundProblem& problem);

    /// Of ranks i and k where one is at place j, the other at l.
    [[nodiscard]] std::int64_t pair_cost(std::size_t i, std::size_t k, std::size_t j, std::size_t l) const {
        return bytes[i * ranks + k] * distances[j * places + l] +
               bytes[k * ranks + i] * distances[l * places + j];
    }
    [[nodiscard]] std::int64_t value(std::span<const std::uint32_t> place_of_rank) const;
};

struct ExactResult {
    std::vector<std::uint32_t> place_of_rank;
    std::int64_t value = 0;
    std::int64_t lower_bound = 0;  // equal to the value unless the search was interrupted
    std::uint64_t nodes = 0;       // partial placements looked at
};

/// Depth-first branch and bound from a given placement on, with bounds by dual ascent that a partial placement inherits
/// from the one it extends, branching over the rank or place that leaves the least to do; places that an automorphism of
/// the distances maps on each other are tried once. Same result for any number of threads. Work is counted in pairs of
/// ranks and places, per sweep. Throws Error unless `start` is a placement.
[[nodiscard]] ExactResult branch_and_bound(const QuadraticAssignment& problem,
                                           std::span<const std::uint32_t> start, Meter& meter,
                                           int threads = 0);

/// About what that needs: costs of all pairs of ranks at all pairs of places, for every rank that a search has placed.
[[nodiscard]] double branch_and_bound_bytes(std::size_t ranks, std::size_t places);

}  // namespace topoloom
