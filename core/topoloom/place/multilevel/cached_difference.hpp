// SPDX-License-Identifier: BSD-3-Clause
// Caches, for parts of a machine, the difference of their distances to two pieces.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "topoloom/place/multilevel/machine_part.hpp"

namespace topoloom::multilevel {

/// Caches a DistanceDifference in a direct-mapped table, because the same parts are looked up repeatedly.
class CachedDistanceDifference {
   public:
    /// `questions`: expected number of lookups, among `parts` parts.
    CachedDistanceDifference(DistanceDifference difference, std::size_t parts, std::size_t questions)
        : difference_(std::move(difference)),
          known_(std::bit_ceil(std::clamp<std::size_t>(questions, 16, parts + 16))) {}

    std::int64_t operator()(Part q) {
        CacheEntry& known = known_[q.value & (known_.size() - 1)];
        if (known.part != q) known = {q, difference_(q)};
        return known.value;
    }

   private:
    struct CacheEntry {
        Part part = Part::none;
        std::int64_t value = 0;
    };
    DistanceDifference difference_;
    std::vector<CacheEntry> known_;
};

}  // namespace topoloom::multilevel
