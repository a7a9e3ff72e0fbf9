// SPDX-License-Identifier: BSD-3-Clause
// The part of a small problem that a search may change, as dense matrices: without fixed ranks and their slots.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/place/problem.hpp"

namespace topoloom {

/// Distances between all slots of an allocation, row-major by position.
[[nodiscard]] std::vector<std::int64_t> dense_distances(const Allocation& allocation);

/// The ranks that are not fixed and the slots that they may use, both renumbered in their order: without fixed
/// ranks, all. A message between a movable and a fixed rank is a linear cost of the movable rank, so that values
/// of the part and of the problem differ by a constant. Memory: slots^2.
class MovablePart {
   public:
    explicit MovablePart(const Problem& problem);

    [[nodiscard]] std::span<const Rank> ranks() const { return ranks_; }
    [[nodiscard]] std::span<const Position> positions() const { return positions_; }
    /// [u * order + v]: bytes from u to v; 0 for items that are not ranks.
    [[nodiscard]] std::vector<std::int64_t> bytes(std::size_t order) const;
    [[nodiscard]] const std::vector<std::int64_t>& distances() const { return distances_; }
    /// [u * slots + x]: messages between u and fixed ranks, and migration, if u is on x; empty if all are 0.
    [[nodiscard]] const std::vector<std::int64_t>& linear() const { return linear_; }
    /// The cost of fixed ranks: messages between them, and their migration.
    [[nodiscard]] std::int64_t fixed_cost() const { return fixed_cost_; }

    /// By movable rank: the index of its slot in positions().
    [[nodiscard]] std::vector<Position> extract(const Placement& placement) const;
    /// The inverse of extract(). Indices beyond those of the movable ranks are ignored.
    [[nodiscard]] Placement complete(std::span<const Position> slot_of_rank) const;

   private:
    void add_migration();
    void add_messages_of_fixed_ranks(std::span<const std::int64_t> all_distances);

    const Problem& problem_;
    std::vector<Rank> ranks_;
    std::vector<Position> positions_;
    std::vector<std::uint32_t> index_;  // by rank: its index in ranks_, or no_index
    std::vector<std::int64_t> distances_;
    std::vector<std::int64_t> linear_;
    std::int64_t fixed_cost_ = 0;
};

}  // namespace topoloom
