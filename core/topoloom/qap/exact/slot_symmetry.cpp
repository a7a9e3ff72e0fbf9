// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/exact/slot_symmetry.hpp"

#include <algorithm>
#include <numeric>

#include "topoloom/base/id.hpp"

namespace topoloom::qap {

/// Extends a mapping slot by slot as long as distances to all slots mapped before are kept.
class SlotSymmetry::Search {
   public:
    Search(const SlotSymmetry& symmetry, std::uint32_t tries)
        : tries_(tries),
          slots_(symmetry.slots_),
          distances_(symmetry.distances_),
          image_(slots_, no_index),
          taken_(slots_, 0) {}

    [[nodiscard]] bool map(std::uint32_t from, std::uint32_t to) {
        if (taken_[to] || distance(from, from) != distance(to, to)) return false;
        for (const std::uint32_t other : mapped_) {
            if (distance(from, other) != distance(to, image_[other]) ||
                distance(other, from) != distance(image_[other], to))
                return false;
        }
        image_[from] = to;
        taken_[to] = 1;
        mapped_.push_back(from);
        return true;
    }
    /// Maps all other slots, if that is possible and is found soon.
    [[nodiscard]] bool complete() {
        if (mapped_.size() == slots_) return true;
        std::uint32_t from = 0;
        while (image_[from] != no_index) ++from;
        for (std::uint32_t to = 0; to < slots_ && tries_ > 0; ++to) {
            --tries_;
            if (!map(from, to)) continue;
            if (complete()) return true;
            mapped_.pop_back();
            taken_[to] = 0;
            image_[from] = no_index;
        }
        return false;
    }
    [[nodiscard]] const std::vector<std::uint32_t>& image() const { return image_; }
    [[nodiscard]] std::uint32_t tries_left() const { return tries_; }

   private:
    [[nodiscard]] std::int64_t distance(std::uint32_t a, std::uint32_t b) const {
        return distances_[std::size_t{a} * slots_ + b];
    }

    std::uint32_t tries_;
    std::uint32_t slots_;
    std::span<const std::int64_t> distances_;
    std::vector<std::uint32_t> image_;
    std::vector<char> taken_;
    std::vector<std::uint32_t> mapped_;
};

std::vector<std::uint32_t> SlotSymmetry::orbits(std::span<const std::uint32_t> fixed) const {
    std::vector<std::uint32_t> least(slots_);
    std::iota(least.begin(), least.end(), 0U);
    const auto find = [&](std::uint32_t slot) {
        while (least[slot] != slot) slot = least[slot];
        return slot;
    };
    constexpr std::uint32_t tries_of_search = 20'000;
    std::uint32_t tries = 100 * tries_of_search;
    // One slot speaks for all that are known to be like it.
    for (std::uint32_t to = 0; to < slots_; ++to) {
        for (std::uint32_t from = to + 1; from < slots_ && find(to) == to; ++from) {
            if (find(from) != from || tries == 0) continue;
            const std::uint32_t lent = std::min(tries, tries_of_search);
            Search search(*this, lent);
            bool possible = true;
            for (const std::uint32_t slot : fixed) possible = possible && search.map(slot, slot);
            const bool found = possible && search.map(from, to) && search.complete();
            tries -= lent - search.tries_left();
            if (!found) continue;
            for (std::uint32_t slot = 0; slot < slots_; ++slot) {
                const std::uint32_t a = find(slot);
                const std::uint32_t b = find(search.image()[slot]);
                least[std::max(a, b)] = std::min(a, b);
            }
        }
    }
    for (std::uint32_t slot = 0; slot < slots_; ++slot) least[slot] = find(slot);
    return least;
}

}  // namespace topoloom::qap
