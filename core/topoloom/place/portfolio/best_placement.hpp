// SPDX-License-Identifier: BSD-3-Clause
// The best of several placements, and mappers that compete for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topoloom/place/portfolio/fixed_rank_repair.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom::portfolio {

/// Stores the best of the placements offered so far, with fixed ranks on their slots.
class BestPlacement {
   public:
    explicit BestPlacement(const Problem& problem) : problem_(problem) {}

    void offer(std::optional<Placement> placement) {
        if (placement) placement = restore_fixed_ranks(problem_, *std::move(placement));
        if (!placement) return;
        if (placement_) {
            const CongestionKey key = problem_.key(placement->slots());
            if (key >= this->key()) return;
            key_ = key;
        }
        placement_ = std::move(placement);
    }
    [[nodiscard]] bool is_empty() const { return !placement_; }
    [[nodiscard]] const Placement& placement() const { return *placement_; }
    /// Hop-bytes, including migration cost.
    [[nodiscard]] std::int64_t value() const { return key().hop_bytes; }

   private:
    /// Evaluates the first placement only if it is compared, because routing many messages takes seconds.
    [[nodiscard]] const CongestionKey& key() const {
        if (!key_) key_ = problem_.key(placement_->slots());
        return *key_;
    }

    const Problem& problem_;
    std::optional<Placement> placement_;
    mutable std::optional<CongestionKey> key_;
};

/// Up to this number of ranks, the time of searches is negligible.
constexpr std::size_t small_rank_count = 300;

/// Runs mappers in parallel or, for many ranks, one after another, with the problem's seed plus `first_seed`,
/// `first_seed` + 1, and so on. The work of all is charged to `meter`.
void try_all(const Problem& problem, const std::vector<std::string>& chains, BestPlacement& best,
             Meter& meter, std::uint64_t first_seed = 0);

}  // namespace topoloom::portfolio
