// SPDX-License-Identifier: BSD-3-Clause
// The migration cost of each rank on each slot, for local search.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "topoloom/machine/slot_space.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom {

/// By rank: the position of its old slot in the allocation; none if that slot is not allocated or there is no
/// earlier placement.
[[nodiscard]] std::vector<Position> previous_positions(const Problem& problem);

/// Migration costs by rank and position; 0 without an earlier placement. O(1) per lookup.
class MigrationCost {
   public:
    /// `scale` is 2 if the search's distances are the sum of both directions, else 1. Refers to the problem.
    MigrationCost(const Problem& problem, std::int64_t scale);

    /// The old slot of a rank, if known.
    [[nodiscard]] std::optional<Slot> origin(Rank u) const {
        return problem_.migration() == nullptr ? std::nullopt : problem_.migration()->from[u.value];
    }
    /// Cost of moving rank u to a position of the allocation.
    [[nodiscard]] std::int64_t at(Rank u, Position position) const {
        if (bytes_ == 0 || origin_[u.value] == no_index) return 0;
        return bytes_ * std::int64_t{space_->distance(origin_[u.value], position.value)};
    }

   private:
    const Problem& problem_;
    std::int64_t bytes_;
    std::vector<std::uint32_t> origin_;  // by rank: index of the old slot in space_
    std::unique_ptr<SlotSpace> space_;
};

}  // namespace topoloom
