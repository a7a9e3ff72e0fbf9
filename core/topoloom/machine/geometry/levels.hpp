// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy of equal groups with a distance per level, such as sizes `4:8:2` with distances `1:10:100`.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/divisor.hpp"
#include "topoloom/machine/geometry/split_key.hpp"

namespace topoloom {

/// Levels are listed bottom-up: arity[0] members form a group of level 1, arity[1] such groups a group of
/// level 2, and so on. Distances are absolute: two members whose smallest common group is at level j
/// (1-based) are distance[j-1] apart.
class Levels {
   public:
    /// The digits of a member's number in the mixed radix of the arities, packed into bits. The highest bit in which two
    /// keys differ gives the level of their smallest common group.
    using Key = std::uint64_t;

    Levels() = default;
    /// Throws Error for empty lists, zero arities, more than 2^31 members or distances that decrease from a
    /// level to the next.
    Levels(std::vector<std::uint32_t> arity, std::vector<std::uint32_t> distance);

    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(arity_.size()); }
    [[nodiscard]] const std::vector<std::uint32_t>& arity() const { return arity_; }
    [[nodiscard]] const std::vector<std::uint32_t>& distances() const { return distance_; }

    [[nodiscard]] Key key(std::uint32_t member) const;
    /// The level of the smallest common group: 0 for the same member, else 1 .. count().
    [[nodiscard]] std::uint32_t common_level(Key a, Key b) const {
        return level_of_width_[count_differing_bits(a, b)];
    }
    [[nodiscard]] std::uint32_t distance(Key a, Key b) const {
        return distance_of_width_[count_differing_bits(a, b)];
    }

    /// Returns keys that split the smallest group containing all members into its subgroups.
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Key> keys) const;

   private:
    static std::size_t count_differing_bits(Key a, Key b) {
        return static_cast<std::size_t>(std::bit_width(a ^ b));
    }

    std::uint32_t size_ = 1;
    std::vector<std::uint32_t> arity_;
    std::vector<std::uint32_t> distance_;
    std::vector<Divisor> divisor_;  // the arities
    std::vector<std::uint32_t> shift_;
    std::array<std::uint32_t, 65> level_of_width_{};
    std::array<std::uint32_t, 65> distance_of_width_{};
};

}  // namespace topoloom
