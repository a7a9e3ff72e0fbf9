// SPDX-License-Identifier: BSD-3-Clause
// What it costs each rank to be elsewhere than it was, for searches that weigh it against hop-bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "topoloom/place/problem.hpp"

namespace topoloom {

/// For every rank the position of its old slot in the allocation; nowhere where there is none, as without migration.
[[nodiscard]] std::vector<std::uint32_t> home_positions(const Problem& problem);
inline constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

/// Without migration nothing costs anything. O(1) to ask.
template <class Space>
class MovingCost {
   public:
    using Point = typename Space::Point;

    /// `scale`: 2 for a search whose distances are those of both ways together. Refers to the space.
    MovingCost(const Space& space, const Problem& problem, std::int64_t scale)
        : space_(space),
          bytes_(problem.migration() == nullptr ? 0 : scale * problem.migration()->bytes_per_rank.value),
          origin_(problem.rank_count()) {
        for (std::size_t u = 0; problem.migration() != nullptr && u < origin_.size(); ++u) {
            if (const auto from = problem.migration()->from[u]) origin_[u] = space.point(*from);
        }
    }

    [[nodiscard]] const std::optional<Point>& origin(Rank u) const { return origin_[u.value]; }
    [[nodiscard]] std::int64_t at(Rank u, const Point& point) const {
        if (bytes_ == 0 || !origin_[u.value]) return 0;
        return bytes_ * std::int64_t{space_.distance(*origin_[u.value], point)};
    }

   private:
    const Space& space_;
    std::int64_t bytes_;
    std::vector<std::optional<Point>> origin_;
};

}  // namespace topoloom
