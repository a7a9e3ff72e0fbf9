// SPDX-License-Identifier: BSD-3-Clause
// Caches differences of distances from parts of a machine to two pieces.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "topoloom/place/multilevel/machine_part.hpp"

namespace topoloom::multilevel {

/// How much farther a part is from the second of two pieces than from the first. The same parts are asked for
/// again and again: those whose numbers do not fall together are kept.
class CachedDifference {
   public:
    /// `questions`: expected number of lookups among `parts` parts.
    CachedDifference(DistanceDifference difference, std::size_t parts, std::size_t questions)
        : difference_(std::move(difference)),
          known_(std::bit_ceil(std::clamp<std::size_t>(questions, 16, parts + 16))) {}

    std::int64_t operator()(Part q) {
        Known& known = known_[q.value & (known_.size() - 1)];
        if (known.part != q) known = {q, difference_(q)};
        return known.value;
    }

   private:
    struct Known {
        Part part = Part::none;
        std::int64_t value = 0;
    };
    DistanceDifference difference_;
    std::vector<Known> known_;
};

}  // namespace topoloom::multilevel
