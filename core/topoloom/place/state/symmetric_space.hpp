// SPDX-License-Identifier: BSD-3-Clause
// Distances there and back together, where the two differ.
#pragma once

#include <cstdint>
#include <type_traits>

#include "topoloom/machine/geometry/hop_table.hpp"

namespace topoloom {

/// A search that adds up gains rank by rank needs the same distance in either direction: then every move that it
/// accepts lowers the sum over all pairs of ranks, and it comes to an end. Only given links and routes may lack that;
/// there the sum of the two directions stands for both. Refers to the space.
template <class Space>
class SymmetricSpace {
   public:
    using Point = typename Space::Point;
    static constexpr bool may_differ = std::is_same_v<typename Space::Network, HopTable>;

    explicit SymmetricSpace(const Space& space) : space_(space) {
        if constexpr (may_differ) differ_ = !space.network().symmetric();
    }
    [[nodiscard]] bool differ() const { return differ_; }
    [[nodiscard]] std::uint32_t distance(const Point& a, const Point& b) const {
        if constexpr (may_differ) {
            if (differ_) return space_.distance(a, b) + space_.distance(b, a);
        }
        return space_.distance(a, b);
    }

   private:
    const Space& space_;
    bool differ_ = false;
};

/// Whether the distances of a space are sums of both directions.
template <class Space>
[[nodiscard]] bool counts_both_ways(const Space& space) {
    if constexpr (requires { space.differ(); }) return space.differ();
    return false;
}

}  // namespace topoloom
