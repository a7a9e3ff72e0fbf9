// SPDX-License-Identifier: BSD-3-Clause
// What it costs each rank to be elsewhere than it was, for searches that weigh it against hop-bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "topoloom/place/problem.hpp"

namespace topoloom {

/// For every rank the position of its old slot in the allocation; none where there is none, as without migration.
[[nodiscard]] std::vector<Position> home_positions(const Problem& problem);

/// Without migration nothing costs anything. O(1) to ask.
class MovingCost {
   public:
    /// `scale`: 2 for a search whose distances are those of both directions together. Refers to the problem.
    MovingCost(const Problem& problem, std::int64_t scale);

    /// Where a rank was, if that is known.
    [[nodiscard]] std::optional<Slot> origin(Rank u) const {
        return problem_.migration() == nullptr ? std::nullopt : problem_.migration()->from[u.value];
    }
    /// Of rank u, if it goes to a position of the allocation.
    [[nodiscard]] std::int64_t at(Rank u, Position position) const {
        return bytes_ == 0 ? 0 : bytes_ * std::int64_t{distance_(u, position)};
    }

   private:
    const Problem& problem_;
    std::int64_t bytes_;
    std::function<std::uint32_t(Rank, Position)> distance_;  // from the origin; 0 where there is none
};

}  // namespace topoloom
