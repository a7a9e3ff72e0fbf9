// SPDX-License-Identifier: BSD-3-Clause
// A pool of good, diverse assignments, and their recombination.
#pragma once

#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/qap/qap.hpp"

namespace topoloom::qap {

class QapPool {
   public:
    struct Member {
        Permutation assignment;
        std::int64_t value;
    };

    /// Refers to the twin classes of items and locations. Any two members differ in the locations of at least
    /// `min_distance` items.
    QapPool(std::span<const std::uint32_t> item_class, std::span<const std::uint32_t> location_class,
            std::size_t size, std::size_t min_distance)
        : item_class_(item_class),
          location_class_(location_class),
          size_(size),
          min_distance_(min_distance) {}

    [[nodiscard]] bool is_full() const { return members_.size() == size_; }
    [[nodiscard]] std::span<const Member> members() const { return members_; }  // best first
    void clear() { members_.clear(); }

    /// Offers a new member. If there are similar members, it replaces them only if it is better than all of
    /// them. Otherwise it is added; in a full pool, it must be better than the worst member, which it
    /// replaces. O(size * order).
    bool offer(Member member);

    /// Draws two members, with a preference for good ones, and makes a child of them.
    [[nodiscard]] Permutation make_child(Rng& rng) const;

    /// Renames twins in `q` to agree with `p` in as many items as possible.
    [[nodiscard]] Permutation align_twins(const Permutation& p, Permutation q) const;

   private:
    [[nodiscard]] std::size_t distance(const Permutation& p, const Permutation& q) const;
    [[nodiscard]] std::size_t draw_member(Rng& rng) const;

    std::span<const std::uint32_t> item_class_;
    std::span<const std::uint32_t> location_class_;
    std::size_t size_;
    std::size_t min_distance_;
    std::vector<Member> members_;
};

/// Uniform crossover (Tate, Smith, Computers & Operations Research 22, 1995): keeps common locations,
/// otherwise assigns the location of either parent if it is free, and draws the rest.
[[nodiscard]] Permutation uniform_crossover(const Permutation& p, const Permutation& q, Rng& rng);

[[nodiscard]] Permutation random_assignment(std::size_t order, Rng& rng);

/// Exchanges the locations of `items` random items in a cycle.
[[nodiscard]] Permutation perturb(Permutation p, std::size_t items, Rng& rng);

}  // namespace topoloom::qap
